import { controlOf, leavesOrder } from "../isa/row.ts";
import type { Instruction, Name } from "../tree.ts";
import { type ControlFlow, targetsOf } from "./control-flow.ts";
import type { RoutineContext } from "./routine-context.ts";
import { returnMask } from "./special-instructions.ts";

/**
 * Checks returns: kernels and subroutines return with `ret`, functions with `fret`, and none may run past its last
 * instruction. A scalar `ret` of a subroutine is without a mask; the one that ends a kernel is (M1, 1) in everything
 * that IGC writes.
 */
export function checkReturns(context: RoutineContext, flow: ControlFlow): void {
  const { instructions, kind } = context.routine;
  instructions.forEach((instruction, index) => {
    const { mnemonic, exec, row } = instruction;
    const body = flow.partOf[index] === 0;
    const control = controlOf(row);
    if (control === "return") {
      if (body && kind === "function") {
        context.error("visa-return", mnemonic, "a function does not return with `ret`", "write `fret`");
      } else if (!body && exec?.size === 1 && !exec.noMask) {
        returnMask(context, exec);
      }
    } else if (control === "file-return" && (!body || kind === "kernel")) {
      const what = body ? "a kernel" : "a subroutine";
      context.error("visa-return", mnemonic, `${what} does not return with \`fret\``, "write `ret`");
    }
  });
  checkEnds(context, flow);
}

/** Reports execution that reaches the end of a body or subroutine. */
function checkEnds(context: RoutineContext, flow: ControlFlow): void {
  const { instructions, kind, name } = context.routine;
  const { parts, skipped } = context.binding;
  const ends = parts.slice(1).map(({ at }) => at);
  ends.push(instructions.length);
  for (const [part, end] of ends.entries()) {
    // The missing return may be in a statement that the parser skipped.
    const textStart = (end === 0 ? context.routine.routine : instructions[end - 1]!).start;
    if (skipped.between(textStart, parts[part + 1]?.name.start ?? context.binding.end)) continue;
    const what = part > 0 ? `the subroutine \`${parts[part]!.name.text}\`` : `the ${kind} \`${name}\``;
    const help = part === 0 && kind === "function" ? "end it with `fret`" : "end it with `ret`";
    const start = parts[part]?.at ?? 0;
    if (start === end) {
      context.error(
        "visa-falls-off",
        parts[part]?.name ?? context.routine.routine.name,
        `${what} has no instructions`,
        help,
      );
      continue;
    }
    const jumps = jumpsTo(context, flow, part, end);
    for (const name of jumps) {
      context.error(
        "visa-falls-off",
        name,
        `no instruction follows the label \`${name.text}\``,
        "put a return after it",
      );
    }
    const last = instructions[end - 1]!;
    if (jumps.length > 0 && targetsOf(last).includes(jumps.at(-1)!)) continue;
    if (flow.reachable[end - 1] === 0 || !flow.successors[end - 1]!.includes(end)) continue;
    const message = `execution reaches the end of ${what}`;
    // The predicate may be set for all lanes, which cannot be known.
    if (mayLeave(last)) context.warning("visa-falls-off", last, `${message} where the predicate is not set`, help);
    else context.error("visa-falls-off", last, message, help);
  }
}

/** The labels in jumps of a part that are at its very end, where no instruction follows. */
function jumpsTo(context: RoutineContext, { reachable }: ControlFlow, part: number, end: number): readonly Name[] {
  const { instructions, labels } = context.routine;
  const { parts, partOfLabel } = context.binding;
  const start = parts[part]?.at ?? 0;
  return instructions.slice(start, end).flatMap((instruction, i) => {
    if (reachable[start + i] === 0) return [];
    return targetsOf(instruction).filter(({ text }) => {
      const label = labels.get(text);
      return label?.at === end && label.kind === "block" && partOfLabel.get(label) === part;
    });
  });
}

const mayLeave = ({ row, predicate }: Instruction): boolean => predicate !== null && leavesOrder(row);
