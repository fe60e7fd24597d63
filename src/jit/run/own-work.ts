import {
  accessesOf,
  type Instruction,
  type IrFunction,
  type IrModule,
  type MemoryAccess,
  type Op,
} from "../../ir/index.ts";
import { symbolsOf } from "../../ir/operands.ts";
import { isOrderedAtomic } from "../compile/analysis/chunk-width.ts";
import { specialsOf } from "../compile/analysis/values/special-registers.ts";

/** Kinds of operations that a thread does by itself. */
const ownKinds: ReadonlySet<Op["kind"]> = new Set<Op["kind"]>([
  ...(["pure", "load", "store", "atomic", "branch", "branch-indexed", "return", "exit", "trap", "nothing"] as const),
]);

/** Operations of units that only read. */
const readers: ReadonlySet<string> = new Set(["image-fetch", "surface-load", "image-query", "image-test"]);

/** Special registers that tell nothing of the division into blocks but the numbers of threads and blocks. */
const ownSpecials = /^(tid|ntid|ctaid|nctaid)\.|^(envreg[12]|current_graph_exec|gridid|window)$/;

/** The names of a module's shared variables. */
export const sharedNames = ({ variables }: IrModule): ReadonlySet<string> =>
  new Set(variables.filter(({ space }) => space === "shared").map(({ name }) => name));

/** Whether what an instruction does for a thread depends neither on others of its block nor on their order. */
export function isAlone(instruction: Instruction, shared: ReadonlySet<string>): boolean {
  const { op } = instruction;
  if (!isPlain(instruction) || accessesOf(op).some(({ access: { space } }) => space === "shared")) return false;
  let namesShared = false;
  symbolsOf(op, (name) => (namesShared ||= shared.has(name)), new Set());
  return !namesShared && [...specialsOf([instruction])].every((name) => ownSpecials.test(name));
}

/** Whether what a thread does in an instruction depends on its block alone, and of its warp on its own number there. */
export function isOfOneBlock(instruction: Instruction): boolean {
  if (instruction.op.kind === "barrier") return isUsualBarrier(instruction);
  const isKnown = (name: string): boolean => ownSpecials.test(name) || name === "laneid";
  return isPlain(instruction) && [...specialsOf([instruction])].every(isKnown);
}

/** Whether an instruction is barrier 0, of all threads of a block, and nothing else. */
const isUsualBarrier = ({ op, guard }: Instruction): boolean =>
  op.kind === "barrier" &&
  guard === null &&
  op.mode === "sync" &&
  op.count === null &&
  op.reduce === null &&
  op.id.kind === "const" &&
  op.id.value === 0;

/** Whether an instruction does what a thread may do by itself, if it does not access what others have stored. */
function isPlain(instruction: Instruction): boolean {
  const { op } = instruction;
  if (!ownKinds.has(op.kind) && !(op.kind === "unit" && readers.has(op.unit.op))) return false;
  if (isOrderedAtomic(instruction)) return false;
  return accessesOf(op).every(
    ({ effect, access: { space, volatile, order } }) =>
      (!space.startsWith("shared") || (space === "shared" && effect !== "atomic")) &&
      !volatile &&
      order === (effect === "atomic" ? "relaxed" : "weak"),
  );
}

/** Whether a function that kernels call stores to memory that lanes share. */
export const storesInFunction = ({ kind, instructions }: IrFunction): boolean =>
  kind === "function" &&
  instructions.some(({ op }) =>
    accessesOf(op).some(({ effect, access: { space } }) => effect !== "load" && isOfAllLanes(space)),
  );

/** Whether lanes may find each other's stores in a state space. */
const isOfAllLanes = (space: MemoryAccess["access"]["space"]): boolean =>
  space === "global" || space === "generic" || space === "shared";
