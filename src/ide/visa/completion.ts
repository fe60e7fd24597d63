import { rows } from "../../visa/isa/table.ts";
import type { Completion, CompletionKind } from "../base/results.ts";
import { variableText } from "./hover.ts";
import type { VisaModel } from "./model.ts";
import { modifiersAfter } from "./modifiers.ts";

const directives = [
  ".version",
  ".kernel",
  ".global_function",
  ".decl",
  ".input",
  ".parameter",
  ".kernel_attr",
  ".function",
  ".funcdecl",
];

/**
 * The ways to go on at an offset: instructions and directives at the beginning of a line, modifiers that may follow
 * those of an instruction, names after that.
 */
export function completionsAt(model: VisaModel, offset: number): readonly Completion[] {
  const { text } = model.source;
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  if (line.includes("//")) return [];
  const begun = line.replace(/^\s*(\([^)]*\)\s*)?/, "");
  const word = /[.\w%$]*$/.exec(begun)![0];
  const item = (label: string, kind: CompletionKind, detail: string, order: string): Completion => {
    const edit = { start: offset - word.length, end: offset, text: label };
    return { label, kind, detail, documentation: "", edit, order: `${order}${label}` };
  };
  if (word === begun) {
    if (word.startsWith(".")) return directives.map((each) => item(each, "directive", "", "5"));
    const [mnemonic, ...modifiers] = word.split(".");
    const last = modifiers.pop();
    if (last !== undefined) {
      const edit = { start: offset - last.length, end: offset };
      return modifiersAfter(mnemonic!, modifiers).map((label, i) => ({
        ...{ label, kind: "modifier" as const, detail: "", documentation: "", edit: { ...edit, text: label } },
        order: String(i).padStart(3, "0"),
      }));
    }
    const known = new Map(rows.map(({ mnemonic, title }) => [mnemonic, title]));
    return [...known].map(([mnemonic, title]) => item(mnemonic, "instruction", title, "5"));
  }
  const routine = model.routines.findLast(({ routine: { start } }) => start <= offset);
  if (routine === undefined || begun.startsWith(".")) return [];
  const variables = routine.variables.map((variable) =>
    item(variable.name, "register", variableText(model, variable), variable.predefined ? "7" : "3"),
  );
  const mnemonic = /^[\w]+/.exec(begun)?.[0] ?? "";
  const takesLabel = rows.some(
    (row) =>
      row.mnemonic === mnemonic &&
      Object.values(row.operands).some(({ class: of }) => of === "label" || of === "labels"),
  );
  const labels = [...routine.labels.keys()].map((name) => item(name, "label", "", "2"));
  return takesLabel ? labels : variables;
}
