import { withBlockValues } from "../../../../ir/flow/block-values.ts";
import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import type { Bindings } from "../../../../semantics/bind.ts";
import { type ThreadFacts, threadFactsOf } from "../access/reaching-threads.ts";
import { type SourceCode, withReplaced } from "../code/source-code.ts";

/**
 * A kernel for blocks of one size, without what the numbers of its threads rule out: in `for (i = threadIdx.x; i < 200;
 * i += 128)` compilers write four rounds at once for threads that have so many, and here nobody has. A branch that all
 * threads take which come to it has no condition any more, one that nobody takes is gone, and so is what nobody comes
 * to. What is left shows more: registers are written in fewer places. The kernel itself where nothing is decided.
 */
export function withDecidedBranches(source: SourceCode, block: Dim3, bindings: Bindings): SourceCode {
  const { file, instructions } = source.ir;
  if (file !== undefined || instructions.every(({ guard }) => guard === null)) return source;
  for (let code = source; ; ) {
    const next = withoutRuledOut(code, block, bindings);
    if (next === null) return code;
    // Guards that are gone hardly ever decide others.
    if (next.ir.instructions.length === code.ir.instructions.length) return next;
    code = next;
  }
}

/** The code without what is known not to happen as it is written; null where nothing is. */
function withoutRuledOut(code: SourceCode, block: Dim3, bindings: Bindings): SourceCode | null {
  // A counter is written in each round; before its loop it is what the numbers say.
  const apart = withBlockValues(code.ir, flowGraphOf(code.ir.instructions));
  const facts = threadFactsOf(apart, block, bindings);
  let isChanged = false;
  const decided = withReplaced(code, (instruction, i) => {
    const left = decidedAt(apart, instruction, i, facts);
    isChanged ||= left !== instruction;
    return left === null ? [] : [left];
  });
  return isChanged ? decided : null;
}

/** What is left of an instruction: nothing (null), the same without its guard, or itself. */
function decidedAt({ instructions }: IrFunction, instruction: Instruction, i: number, facts: ThreadFacts) {
  const { guard } = instructions[i]!;
  // No way leads out of the code but by an instruction.
  if (guard === null && i === instructions.length - 1) return instruction;
  const executing = facts.at(i).bits;
  if (executing === 0n) return null;
  if (guard === null || !facts.decides(guard) || executing !== facts.comingTo(i).bits) return instruction;
  return { ...instruction, guard: null };
}
