import { controlOf, leavesOrder } from "../isa/row.ts";
import type { Instruction, Name } from "../tree.ts";
import { type ControlFlow, targetsOf } from "./control-flow.ts";
import type { RoutineContext } from "./routine-context.ts";
import { scalarMask } from "./special-instructions.ts";

/**
 * Kernels and subroutines are left by `ret`, functions by `fret`; nothing is left at its end. A scalar `ret` is without a
 * mask in a subroutine; one that ends a kernel is (M1, 1) in all that IGC writes.
 */
export function checkReturns(context: RoutineContext, flow: ControlFlow): void {
  const { instructions, kind } = context.routine;
  instructions.forEach((instruction, index) => {
    const { mnemonic, exec, row } = instruction;
    const body = flow.partOf[index] === 0;
    const control = controlOf(row);
    if (control === "return") {
      if (body && kind === "function") {
        context.error("visa-return", mnemonic, "a function is not left by `ret`", "write `fret`");
      } else if (!body && exec?.size === 1 && !exec.noMask) {
        scalarMask(context, exec, "a scalar `ret` of a subroutine");
      }
    } else if (control === "file-return" && (!body || kind === "kernel")) {
      const what = body ? "a kernel" : "a subroutine";
      context.error("visa-return", mnemonic, `${what} is not left by \`fret\``, "write `ret`");
    }
  });
  checkEnds(context, flow);
}

/** Execution that comes to the end of a body or subroutine. */
function checkEnds(context: RoutineContext, flow: ControlFlow): void {
  const { instructions, kind, name } = context.routine;
  const { parts, skipped } = context.binding;
  const ends = parts.slice(1).map(({ at }) => at);
  ends.push(instructions.length);
  for (const [part, end] of ends.entries()) {
    // What the parser could not read may be what is missed.
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
        "put a return behind it",
      );
    }
    const last = instructions[end - 1]!;
    if (jumps.length > 0 && targetsOf(last).includes(jumps.at(-1)!)) continue;
    if (flow.reachable[end - 1] === 0 || !flow.successors[end - 1]!.includes(end)) continue;
    const message = `execution comes to the end of ${what}`;
    // Whether the predicate is set for all lanes cannot be known.
    if (mayLeave(last)) context.warning("visa-falls-off", last, `${message} where the predicate is not set`, help);
    else context.error("visa-falls-off", last, message, help);
  }
}

/** The labels named in jumps that nothing of their part follows. */
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
