import { controlOf, leavesOrder } from "../isa/row.ts";
import type { BoundLabel, BoundRoutine } from "../symbols.ts";
import type { Instruction, Name } from "../tree.ts";
import type { RoutineContext } from "./routine-context.ts";

/** Where execution may go on after each instruction of a routine. After the last of them is the index past the end. */
export interface ControlFlow {
  /** The instructions that may be executed next. Past the last instruction is the index `instructions.length`. */
  readonly successors: readonly (readonly number[])[];
  /** 1 for an instruction that execution can reach from the beginning of its part. */
  readonly reachable: Uint8Array;
  /** The part of each instruction: 0 for the body, then its subroutines in order. */
  readonly partOf: Int32Array;
}

const noNames: readonly Name[] = [];

/** The labels that an instruction names. */
export function targetsOf({ row, operands }: Instruction): readonly Name[] {
  // Nearly no instruction names any, and all are asked.
  let found: readonly Name[] = noNames;
  for (const key in operands) {
    const spec = row.operands[key];
    if (spec?.class !== "label" && spec?.class !== "labels") continue;
    const operand = operands[key]!;
    if (operand.kind === "name") found = [...found, operand.name];
    if (operand.kind === "names") found = [...found, ...operand.names];
  }
  return found;
}

/** Whether execution may continue with the next instruction. */
function continues({ row, predicate, operands }: Instruction): boolean {
  if (predicate !== null) return true;
  if (leavesOrder(row)) return false;
  const { hint } = operands;
  return hint?.kind !== "option" || !hint.choice.includes("noreturn");
}

/** Derives the control flow of a routine from its jumps, returns and calls that do not return. */
export function controlFlow({ instructions, labels }: BoundRoutine): ControlFlow {
  const successors = instructions.map((instruction, index) => {
    const next = continues(instruction) ? [index + 1] : [];
    const control = controlOf(instruction.row);
    if (control !== "branch" && control !== "branch-indexed") return next;
    return [...next, ...targetsOf(instruction).flatMap(({ text }) => labels.get(text)?.at ?? [])];
  });
  const subroutines = [...labels.values()].filter(({ kind }) => kind === "subroutine");
  const starts = [0, ...subroutines.map(({ at }) => at)];
  const partOf = new Int32Array(instructions.length);
  for (let index = 0, part = 0; index < instructions.length; index++) {
    while (part + 1 < starts.length && starts[part + 1]! <= index) part++;
    partOf[index] = part;
  }
  const reachable = new Uint8Array(instructions.length);
  const open = [...starts];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (index >= instructions.length || reachable[index] === 1) continue;
    reachable[index] = 1;
    for (const next of successors[index]!) open.push(next);
  }
  return { successors, reachable, partOf };
}

/** Checks that the labels of jumps and calls exist, are of the right kind, and are in the subroutine of the jump. */
export function checkTargets(context: RoutineContext, { partOf }: ControlFlow): void {
  const { instructions, labels } = context.routine;
  instructions.forEach((instruction, index) => {
    const subroutine = controlOf(instruction.row) === "call";
    for (const name of targetsOf(instruction)) {
      const label = labels.get(name.text);
      if (context.binding.skipped.names(name.text)) continue;
      if (label === undefined) {
        const help = subroutine ? "a subroutine begins with `.function` and its label" : "labels begin a line";
        context.error("visa-unknown-label", name, `there is no label \`${name.text}\``, help);
      } else {
        target(context, name, label, subroutine, partOf[index]!);
      }
    }
  });
}

function target(context: RoutineContext, name: Name, label: BoundLabel, subroutine: boolean, part: number): void {
  const { parts, partOfLabel } = context.binding;
  const entry = parts[0]?.name.text === label.name;
  if (subroutine !== (label.kind === "subroutine") || entry) {
    const what = entry
      ? "the beginning of the routine"
      : label.kind === "subroutine"
        ? "a subroutine"
        : "not a subroutine";
    const help = subroutine ? "`call` goes to a label after `.function`" : "a jump goes to a label of a block";
    context.error("visa-label-kind", name, `\`${name.text}\` is ${what}`, {
      help,
      ...context.note("the label", label.span),
    });
  } else if (!subroutine && partOfLabel.get(label) !== part) {
    const message = `\`${name.text}\` is in another subroutine`;
    context.error("visa-foreign-label", name, message, context.note("the label", label.span));
  }
}
