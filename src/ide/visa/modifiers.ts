import { rows } from "../../visa/isa/table.ts";
import type { Row } from "../../visa/isa/row.ts";

/** A part of an opcode after its mnemonic, as the template of a row has it (`src/visa/isa/row.ts`). */
type Part =
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  /** `{.l1.l3}`: all of these or none. */
  | { readonly kind: "optional"; readonly parts: readonly Part[] };

/** The modifiers of an opcode with which instructions exist: `{.sat}` of `add{.sat} E dst src0 src1`. */
function partsOf(row: Row): readonly Part[] {
  const [head = ""] = row.text.slice(row.text.indexOf(row.mnemonic) + row.mnemonic.length).split(" ");
  const groups = head.match(/\{\.[^{}]*(?:\{\w+\}[^{}]*)*\}|\.\{\w+\}/g) ?? [];
  return groups.map((group) => {
    if (group.startsWith(".")) return choiceOf(row, group.slice(2, -1));
    const names = group.slice(2, -1).split(".");
    return { kind: "optional", parts: names.map((name) => choiceOf(row, name)) };
  });
}

/** The choices of a modifier; one that is no operand is a word itself. */
function choiceOf(row: Row, name: string): Part {
  const spec = row.operands[name];
  if (spec === undefined) return { kind: "choice", choices: [name] };
  const choices = spec.class === "option" ? Object.keys(spec.choices).filter((choice) => choice !== "") : [];
  return { kind: "choice", choices };
}

/** Adds what may follow the modifiers that are written. */
function follow(parts: readonly Part[], written: readonly string[], into: Set<string>): void {
  const [first, ...rest] = parts;
  if (first === undefined) return;
  if (first.kind === "optional") {
    follow(rest, written, into);
    follow([...first.parts, ...rest], written, into);
    return;
  }
  for (const choice of first.choices) {
    // A choice may have dots in it: `uniform.noreturn`.
    const words = choice.split(".");
    const common = Math.min(words.length, written.length);
    if (words.slice(0, common).some((word, i) => word !== written[i])) continue;
    if (words.length > written.length) into.add(words[written.length]!);
    else follow(rest, written.slice(words.length), into);
  }
}

/** The modifiers that may follow those that are written after a mnemonic, in the order of the table. */
export function modifiersAfter(mnemonic: string, written: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const row of rows) if (row.mnemonic === mnemonic) follow(partsOf(row), written, found);
  return [...found];
}
