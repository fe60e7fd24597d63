import { operandsOf, readsOf, writesOf } from "../../../ir/flow/accesses.ts";
import { callOrder } from "../../../ir/flow/call-order.ts";
import type { Instruction, IrFunction } from "../../../ir/index.ts";
import type { Dim3 } from "../../../machine/reports/report.ts";
import type { Quads } from "../../abi/launch-shape.ts";
import { readsClock } from "./values/special-registers.ts";

/** With more instructions than this code is for few lanes: it grows with them. */
const large = 2000;

/** And with more than this for as few as there can be: there is a limit to it. */
const huge = 50_000;

/** What decides how wide the chunks of a kernel are. */
export interface WidthNeeds {
  /** The lanes of a warp must run together. */
  readonly inWarps: boolean;
  /** A function may be entered again before it has returned: what it keeps meanwhile should be little. */
  readonly recursive: boolean;
  /**
   * Loops load from where something points to that has been loaded: each lane from elsewhere, and often not as many
   * times.
   */
  readonly followsPointers: boolean;
  /** Of the kernel and the functions that it calls. */
  readonly instructions: number;
}

/** The widest chunk whose lanes lie in one row of the block, so that their addresses are regular. */
export function chunkWidthFor(
  [x, y, z]: Dim3,
  { inWarps, recursive, followsPointers, instructions }: WidthNeeds,
): Quads {
  if (inWarps) return 8;
  if (instructions > huge) return 1;
  const isOneRow = y === 1 && z === 1;
  const widest = instructions > large ? 2 : recursive || followsPointers ? 4 : 8;
  for (const quads of [8, 4] as const) {
    if (quads <= widest && (isOneRow ? x >= 4 * quads : x % (4 * quads) === 0)) return quads;
  }
  return 2;
}

/** `named`: the function that a direct call goes to. */
export function widthNeedsOf(kernel: IrFunction, named: (name: string) => IrFunction | null): WidthNeeds {
  let [inWarps, followsPointers, instructions] = [false, false, 0];
  const { functions, recursive } = callOrder(kernel, (f) => {
    const callees = new Set<IrFunction>();
    for (const { op } of f.instructions) {
      if (op.kind !== "call" || op.target.kind !== "direct") continue;
      const callee = named(op.target.function);
      // What the launcher does, it does for a warp: prints in the order of its lanes.
      if (callee === null || callee.external) inWarps = true;
      else callees.add(callee);
    }
    return callees;
  });
  for (const f of functions) {
    instructions += f.instructions.length;
    followsPointers ||= loopsFollowPointers(f);
    inWarps ||= f.instructions.some(needsWarp);
  }
  return { inWarps, recursive, followsPointers, instructions };
}

/**
 * Whether an instruction tells if the lanes of a warp run together, or is better off when they do. Stacks grow
 * together.
 */
function needsWarp({ op }: Instruction): boolean {
  switch (op.kind) {
    case "warp":
    case "activemask":
    case "alloca":
      return true;
    case "call":
      return op.target.kind === "indirect";
    case "barrier":
      // Arrivals count by warp.
      return op.count !== null || op.id.kind !== "const" || op.id.value !== 0 || op.mode !== "sync";
    default:
      // Lanes of a warp read the same time.
      return operandsOf(op).some(readsClock);
  }
}

/** Whether the address of a load in a loop hangs on what has been loaded. */
function loopsFollowPointers({ instructions }: IrFunction): boolean {
  const loaded = new Set<number>();
  const hangs = (instruction: Instruction): boolean => {
    let found = false;
    readsOf(instruction, { register: (r) => (found ||= loaded.has(r)) });
    return found;
  };
  for (let size = -1; size < loaded.size; ) {
    size = loaded.size;
    for (const instruction of instructions) {
      const { op } = instruction;
      const isLoad = op.kind === "load" && op.access.space !== "kernel-param" && op.access.space !== "const";
      if (isLoad || (op.kind === "pure" && hangs(instruction))) writesOf(instruction, (r) => loaded.add(r));
    }
  }
  /** The first instruction of any loop that has not ended yet, from behind. */
  let start = instructions.length;
  for (let i = instructions.length - 1; i >= 0; i--) {
    const instruction = instructions[i]!;
    const { op } = instruction;
    if (op.kind === "branch" && op.target <= i) start = Math.min(start, op.target);
    if (op.kind === "load" && i >= start && hangs(instruction)) return true;
  }
  return false;
}
