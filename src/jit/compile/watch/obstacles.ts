import { registersIn } from "../../../ir/module.ts";
import { flowGraphOf, livenessOf } from "../../../ir/flow/index.ts";
import { accessesOf, type Instruction, type IrFunction, isShared, type Op } from "../../../ir/index.ts";
import { frameObstacleOf } from "./frames.ts";
import { isObservedUnit } from "./observed.ts";
import type { WatchChoices } from "./watch-choices.ts";

/** Kernels with more instructions are left to the interpreter: watching makes about ten of each access. */
const maxInstructions = 10_000;

/** Returns why compiled code cannot watch a kernel, or a function that it calls; null if it can. */
export function watchObstacleOf(ir: IrFunction, { sanitizers }: WatchChoices): string | null {
  if (ir.file !== undefined) return "a kernel of hardware threads";
  if (ir.instructions.length > maxInstructions) return "a very large kernel";
  for (const instruction of ir.instructions) {
    const found = obstacleIn(instruction);
    if (found !== null) return found;
  }
  return sanitizers.has("init") ? frameObstacleOf(ir) : null;
}

/** The same for a kernel, or a function that it can call, as they are before functions are inlined. */
export function lostObstacleOf(ir: IrFunction, { sanitizers }: WatchChoices): string | null {
  if (ir.noreturn) return "a function that promises not to return";
  const isUniform = ir.instructions.some(
    ({ op, guard }) => guard !== null && (op.kind === "call" || op.kind === "return") && op.uniform,
  );
  if (isUniform) return "a conditional call or return with .uni";
  return sanitizers.has("init") && readsUnwritten(ir) ? "registers that may be read before they are written" : null;
}

/**
 * Whether registers of the program may be read before they are written. What one step of an instruction leaves for the
 * next may be in some lanes alone: the next one takes no others.
 */
function readsUnwritten(ir: IrFunction): boolean {
  if (ir.instructions.length === 0) return false;
  const given = new Set(registersIn(ir.params));
  const live = livenessOf(ir, flowGraphOf(ir.instructions), registersIn(ir.returns)).liveIn(0);
  let found = false;
  live.forEach((r) => {
    found ||= !given.has(r) && ir.registers[r]!.temporary !== true;
  });
  return found;
}

/** Operations that the code which watches leaves as they are, or knows how to watch. */
const watched: ReadonlySet<Op["kind"]> = new Set([
  ...(["pure", "load", "store", "atomic", "warp", "barrier", "fence", "branch", "branch-indexed"] as const),
  ...(["call", "return", "exit", "trap", "nothing", "activemask", "sleep", "breakpoint"] as const),
  ...(["copy", "commit-copies", "await-copies", "order-products"] as const),
]);

const watchedSpaces: ReadonlySet<string> = new Set([
  ...["generic", "global", "shared", "shared-cluster", "const", "kernel-param", "local", "call-param"],
]);

/** Whether a block that is a cluster by itself asks what it need not wait for. */
const isOfOwnCluster = (op: Op): boolean => op.kind === "cluster-poll" && (op.asks === "begun" || op.asks === "exits");

function obstacleIn({ op, guard, lanes }: Instruction): string | null {
  const isKnown = watched.has(op.kind) || isObservedUnit(op) || isOfOwnCluster(op);
  if (lanes !== undefined || !isKnown) return `the operation ${op.kind}`;
  switch (op.kind) {
    case "barrier":
      if (op.id.kind !== "const" || op.count !== null || (op.mode !== "sync" && op.mode !== "red"))
        return "a barrier for some of the threads";
      if (guard !== null) return "a barrier with a guard";
      break;
    case "branch":
      if (op.uniform && guard !== null) return "a conditional branch with .uni";
      break;
    case "call":
      if (op.uniform && op.target.kind === "indirect") return "an indirect call with .uni";
      break;
    case "branch-indexed":
      if (op.uniform) return "an indexed branch with .uni";
      break;
    default:
      break;
  }
  for (const { effect, access, place } of accessesOf(op)) {
    if (place.kind !== "address" || place.surface !== undefined) return "surfaces";
    if (effect === "atomic" && !isShared(place, access)) return "atomic operations on variables of the frame";
    const isNarrow = place.address.ty !== "i64" && access.space !== "shared";
    if (isNarrow && isShared(place, access)) return "addresses of 32 bits";
    if (!watchedSpaces.has(access.space)) return `memory of the space ${access.space}`;
  }
  return null;
}
