import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { livenessOf, resultsOf } from "../../../../ir/flow/liveness.ts";
import type { Instruction, IrFunction, Register } from "../../../../ir/index.ts";
import { SingleLoopCode } from "./single-loop-code.ts";
import { type SourceCode, withReplaced } from "./source-code.ts";
import { isConditional, unrolledLoopAt } from "./unrolled-loops.ts";
import { UnrolledRounds } from "./unrolled-rounds.ts";
import { varyingRegisters } from "./varying-registers.ts";

/**
 * The code with one loop, of single rounds, in place of a loop of so many that a multiple of four is left and one that
 * does four at once, where the threads of a warp have different numbers of rounds: these would wait for each other in
 * both. It repeats for as long as the unrolled one would, `i < n`.
 *
 * What is proven: the unrolled loop does what four rounds do, loads in the same order, and leaves the same in registers
 * (`symbolic-values.ts`); `c` and `rounds` are computed from `i` and `n` such that there are as many rounds
 * (`unrolled-rounds.ts`).
 *
 * Where s is more than 1 and n is close to the greatest number, the last addition may overflow, so that i < n again.
 * Threads that do four rounds at once go on then, in both forms, the unrolled one asking only after each fourth round.
 * Until i comes to n once more, addresses of 64 bits that grow by more than i does each round cover more than 4 GiB.
 * A device has less: both come to the same fault. Threads that have fewer rounds do not ask; they keep the loop of
 * single rounds (`single-loop-code.ts`).
 */
export function withRerolledLoops(code: SourceCode): SourceCode {
  const { ir } = code;
  if (ir.file !== undefined || countSelfLoops(ir.instructions) < 2) return code;
  let found = rerolled.get(ir);
  if (found === undefined) rerolled.set(ir, (found = changesIn(ir)));
  const { changes, registers, copied } = found;
  if (changes.size === 0) return code;
  const replaced = withReplaced(code, (instruction, i) => changes.get(i) ?? [instruction]);
  const { instructions } = replaced.ir;
  const origins = instructions.map((instruction, i) => {
    const original = copied.get(instruction);
    return original === undefined ? replaced.origins![i]! : (code.origins?.[original] ?? original);
  });
  return { ir: { ...replaced.ir, registers }, origins };
}

interface Changes {
  /** By instruction, what takes its place. */
  readonly changes: ReadonlyMap<number, readonly Instruction[]>;
  readonly registers: readonly Register[];
  /** Copies of instructions, and what they are copies of. */
  readonly copied: ReadonlyMap<Instruction, number>;
}

/** Code is prepared again and again. */
const rerolled = new WeakMap<IrFunction, Changes>();

/** Branches backwards over nothing but what computes and loads. */
function countSelfLoops(instructions: readonly Instruction[]): number {
  let count = 0;
  let from = 0;
  instructions.forEach((instruction, i) => {
    const { op } = instruction;
    if (op.kind === "pure" || op.kind === "load") return;
    if (op.kind === "branch" && op.target >= from && op.target < i && isConditional(instruction)) count++;
    from = i + 1;
  });
  return count;
}

function changesIn(ir: IrFunction): Changes {
  const changes = new Map<number, readonly Instruction[]>();
  const copied = new Map<Instruction, number>();
  const registers = [...ir.registers];
  const graph = flowGraphOf(ir.instructions);
  const loops = graph.blocks.flatMap((block) => unrolledLoopAt(ir.instructions, graph, block) ?? []);
  if (loops.length === 0) return { changes, registers, copied };
  const liveness = livenessOf(ir, graph, resultsOf(ir));
  const varying = varyingRegisters(ir);
  for (const loop of loops) {
    const found = new UnrolledRounds(ir, graph, liveness, loop).find(varying);
    if (found !== null) new SingleLoopCode(ir, graph, liveness, loop, registers).write(found, changes, copied);
  }
  return { changes, registers, copied };
}
