import { nearest } from "../../source/index.ts";
import type { Form } from "../isa/define.ts";
import { instructionSet } from "../isa/index.ts";
import { type Candidate, modifiersOf, type OpcodeProblem, type OpcodeResolution } from "../isa/resolve.ts";
import type { Instruction } from "../tree/nodes.ts";
import type { CheckContext } from "./context.ts";
import type { GateProblem } from "./gates.ts";
import type { Mismatch } from "./operand-mismatch.ts";
import { OperandMatcher } from "./operands.ts";

/**
 * Finds the form of an instruction and sets `node.resolved`, or reports what is wrong with the opcode, its modifiers,
 * their version and target gates, or the operands. Also checks the guard.
 */
export function checkInstruction(
  node: Instruction,
  { candidates, problem }: OpcodeResolution,
  context: CheckContext,
): void {
  node.resolved = null;
  checkGuard(node, context);
  if (problem) {
    reportOpcode(node, problem, context);
    return;
  }
  let gated: { readonly candidate: Candidate; readonly problem: GateProblem } | null = null;
  let mismatch: Mismatch | null = null;
  for (const candidate of candidates) {
    const wrong = new OperandMatcher(node, candidate, context).match();
    if (wrong) {
      if (mismatch === null || furtherAlong(wrong, mismatch)) mismatch = wrong;
      continue;
    }
    const closed = context.gates.problem(candidate, node.opcode.text);
    if (closed === null) {
      node.resolved = candidate;
      if (candidate.inOrder !== null) {
        context.sink.warning(
          "modifier-order",
          node.opcode,
          `the modifiers of '${node.opcode.text}' are not in the manual's order`,
          { help: inOrderHelp(candidate.inOrder), notes: [formNote(candidate)] },
        );
      }
      return;
    }
    gated ??= { candidate, problem: closed };
  }
  if (gated) {
    node.resolved = gated.candidate;
    context.sink.error(gated.problem.code, node.opcode, gated.problem.message, {
      help: gated.problem.help,
      notes: [formNote(gated.candidate)],
    });
    return;
  }
  if (mismatch) {
    context.sink.error(mismatch.code, mismatch.span, mismatch.message, {
      help: mismatch.help,
      notes: candidates.slice(0, 4).map(formNote),
    });
  }
}

const inOrderHelp = (opcode: string): string => `in the manual's order it is \`${opcode}\``;
const formNote = ({ form }: Candidate) => ({ message: `the form is \`${form.text}\`` });

/**
 * Whether mismatch `a` is the better one to report: the form that fits furthest is most likely meant, a wrong count
 * least.
 */
function furtherAlong(a: Mismatch, b: Mismatch): boolean {
  if (a.code === "operand-count") return false;
  return b.code === "operand-count" || a.span.start > b.span.start;
}

function checkGuard({ guard }: Instruction, { sink }: CheckContext): void {
  const symbol = guard?.register.symbol;
  if (!guard || !symbol) return;
  if (symbol.kind !== "register" || symbol.type.kind !== "pred") {
    const what = symbol.kind === "register" ? `a .${symbol.type.name} register` : "not a register";
    sink.error(
      "guard-not-predicate",
      guard.register,
      `a guard must be a predicate register, but '${guard.register.text}' is ${what}`,
      {
        help: "compute a predicate with setp",
      },
    );
  }
}

const formNotes = (forms: readonly Form[], limit = 4) => [
  ...forms.slice(0, limit).map((form) => ({ message: `there is \`${form.text}\`` })),
  ...(forms.length > limit ? [{ message: `and ${forms.length - limit} more: \`lanewise isa\` lists them` }] : []),
];

function reportOpcode(node: Instruction, problem: OpcodeProblem, { sink }: CheckContext): void {
  const { opcode } = node;
  switch (problem.kind) {
    case "unknown-opcode": {
      const near = sink.full ? null : nearest(problem.root, instructionSet.roots);
      sink.error("unknown-instruction", opcode, `there is no instruction '${problem.root}'`, {
        help: near === null ? undefined : `did you mean '${near}'?`,
      });
      return;
    }
    case "modifier": {
      const words = opcode.text.split(".");
      const before = words.slice(0, problem.at + 1).join(".");
      const start = opcode.start + before.length + 1;
      const span = problem.modifier === "" ? opcode : { start, end: start + problem.modifier.length };
      const choices = modifiersOf(problem.forms);
      const near = sink.full ? null : nearest(problem.modifier, choices);
      const fits = choices.includes(problem.modifier);
      sink.error(
        "unknown-modifier",
        span,
        fits
          ? `'.${problem.modifier}' cannot be used with '${before}'`
          : `'${before}' has no modifier '.${problem.modifier}'`,
        problem.inOrder !== null
          ? { help: inOrderHelp(problem.inOrder) }
          : { help: !fits && near !== null ? `did you mean '.${near}'?` : undefined, notes: formNotes(problem.forms) },
      );
      return;
    }
    case "missing-modifier": {
      const choices = problem.choices
        ?.map((c) => `.${c}`)
        .slice(0, 12)
        .join(" ");
      sink.error(
        "missing-modifier",
        opcode,
        `'${opcode.text}' lacks ${choices ? `one of ${choices}` : `'.${problem.missing}'`}`,
        {
          notes: formNotes(problem.forms),
        },
      );
      return;
    }
    case "invalid-combination":
      sink.error("invalid-modifiers", opcode, problem.reason, { notes: formNotes(problem.forms) });
  }
}
