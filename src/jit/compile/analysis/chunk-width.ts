import { operandsOf, readsOf, writesOf } from "../../../ir/flow/accesses.ts";
import { callOrder } from "../../../ir/flow/call-order.ts";
import { type Instruction, type IrFunction, traitOf } from "../../../ir/index.ts";
import type { Dim3 } from "../../../machine/reports/report.ts";
import type { Quads } from "../../abi/launch-shape.ts";
import { readsClock } from "./values/special-registers.ts";

/** Kernels with more instructions get narrow chunks: code grows with their width. */
const large = 2000;

/** Kernels with more instructions than this get the narrowest: hosts limit the size of a function. */
const huge = 50_000;

/** The properties of a kernel on which the width of its chunks depends. */
export interface WidthNeeds {
  /** Whether the lanes of a warp must run together. */
  readonly inWarps: boolean;
  /** Whether a function may be entered again before it returns: its frame should be small. */
  readonly recursive: boolean;
  /**
   * Whether loops follow loaded pointers: each lane accesses memory elsewhere, and often makes another number of
   * rounds.
   */
  readonly followsPointers: boolean;
  /** The number of instructions of the kernel and the functions that it calls. */
  readonly instructions: number;
}

/** The max chunk whose lanes lie in one row of the block, so that their addresses are regular. */
export function chunkWidthFor(
  [x, y, z]: Dim3,
  { inWarps, recursive, followsPointers, instructions }: WidthNeeds,
): Quads {
  if (inWarps) return 8;
  if (instructions > huge) return 1;
  const isOneRow = y === 1 && z === 1;
  const max = instructions > large ? 2 : recursive || followsPointers ? 4 : 8;
  for (const quads of [8, 4] as const) {
    if (quads <= max && (isOneRow ? x >= 4 * quads : x % (4 * quads) === 0)) return quads;
  }
  return 2;
}

/** Finds the needs of a kernel and its callees. `named`: the function of a name; null where there is none. */
export function widthNeedsOf(kernel: IrFunction, named: (name: string) => IrFunction | null): WidthNeeds {
  let [inWarps, followsPointers, instructions] = [false, false, 0];
  const { functions, recursive } = callOrder(kernel, (f) => {
    const callees = new Set<IrFunction>();
    for (const { op } of f.instructions) {
      if (op.kind !== "call" || op.target.kind !== "direct") continue;
      const callee = named(op.target.function);
      // The launcher acts for a whole warp: it prints in the order of its lanes.
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

/** Whether the result or the cost of an instruction depends on all lanes of a warp running together, as stacks do. */
function needsWarp({ op }: Instruction): boolean {
  // Lanes of a warp share the order of indirect targets, and read the same time.
  const isShared = (op.kind === "call" && op.target.kind === "indirect") || operandsOf(op).some(readsClock);
  return isShared || traitOf(op, "warp") || traitOf(op, "stack");
}

/** Whether the address of a load in a loop depends on a loaded value. */
function loopsFollowPointers({ instructions }: IrFunction): boolean {
  const loaded = new Set<number>();
  const dependsOnLoad = (instruction: Instruction): boolean => {
    let found = false;
    readsOf(instruction, { register: (r) => (found ||= loaded.has(r)) });
    return found;
  };
  for (let size = -1; size < loaded.size; ) {
    size = loaded.size;
    for (const instruction of instructions) {
      const { op } = instruction;
      const isLoad = op.kind === "load" && op.access.space !== "kernel-param" && op.access.space !== "const";
      if (isLoad || (op.kind === "pure" && dependsOnLoad(instruction))) writesOf(instruction, (r) => loaded.add(r));
    }
  }
  /** The first instruction of the loops that contain the present one, seen from the end of the code. */
  let start = instructions.length;
  for (let i = instructions.length - 1; i >= 0; i--) {
    const instruction = instructions[i]!;
    const { op } = instruction;
    if (op.kind === "branch" && op.target <= i) start = Math.min(start, op.target);
    if (op.kind === "load" && i >= start && dependsOnLoad(instruction)) return true;
  }
  return false;
}
