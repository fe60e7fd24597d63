import { displayName } from "../../names/index.ts";
import { gateText } from "../../visa/isa/describe.ts";
import type { Variable } from "../../visa/symbols.ts";
import type { Instruction, Name } from "../../visa/tree.ts";
import { literalAt, otherSpellings } from "../base/constants.ts";
import type { Hover } from "../base/results.ts";
import type { VisaModel } from "./model.ts";
import { storageTexts } from "./storage.ts";
import { variableFactText } from "./variable-facts.ts";
import { type Entity, nameSpan, occurrenceAt, occurrencesOf } from "./names.ts";

const code = (text: string): string => `\`\`\`visa\n${text}\n\`\`\``;

/** Says what is known about the word at an offset. */
export function hoverAt(model: VisaModel, offset: number): Hover | null {
  const occurrence = occurrenceAt(model, offset);
  if (occurrence !== null) {
    const text = entityText(model, occurrence.entity);
    return text === null ? null : { ...nameSpan(model, occurrence.name), text };
  }
  const node = instructionAt(model, offset);
  if (node !== null && offset >= node.mnemonic.start && offset <= node.mnemonic.end)
    return { start: node.mnemonic.start, end: node.mnemonic.end, text: rowText(node) };
  const literal = literalAt(model.source.text, offset);
  const spellings = literal === null ? [] : otherSpellings(model.source.slice(literal));
  return literal === null || spellings.length === 0
    ? null
    : { ...literal, text: spellings.map((each) => `\`${each}\``).join(" · ") };
}

/** The instruction around an offset. */
function instructionAt({ routines }: VisaModel, offset: number): Instruction | null {
  for (const { instructions } of routines)
    for (const node of instructions) if (node.start <= offset && offset <= node.end) return node;
  return null;
}

function rowText({ row }: Instruction): string {
  const gate = gateText(row);
  return [
    `**${row.name}**: ${row.title}`,
    code(row.text),
    ...(gate === null ? [] : [`Exists in ${gate}`]),
    ...(row.execution.kind === "none" ? [`Not executable: ${row.execution.reason}`] : []),
  ].join("\n\n");
}

function entityText(model: VisaModel, entity: Entity): string | null {
  const all = occurrencesOf(model, entity);
  const line = (offset: number): number => model.source.position(offset).line;
  const listed = (found: typeof all): string => {
    const lines = [...new Set(found.map(({ name }) => line(name.start)))];
    return `${lines.slice(0, 8).join(", ")}${lines.length > 8 ? ", ..." : ""}`;
  };
  const uses = all.filter(({ declares }) => !declares);
  switch (entity.kind) {
    case "variable": {
      const writes = uses.filter(({ write }) => write);
      const directives = namesInDirectives(model);
      const fact = variableFactText(model, entity.variable);
      const reads = uses.filter(({ name, write }) => !write && !directives.has(name));
      return [
        code(variableText(model, entity.variable)),
        ...storageTexts(model, entity.variable),
        ...(fact === null ? [] : [fact]),
        ...(writes.length === 0 ? [] : [`Written in line ${listed(writes)}.`]),
        reads.length === 0 ? "Not read." : `Read in line ${listed(reads)}.`,
      ].join("\n\n");
    }
    case "label":
      return [
        code(`${entity.name}:`),
        uses.length === 0 ? "Nothing jumps here." : `Jumps from line ${listed(uses)}.`,
      ].join("\n\n");
    case "routine": {
      const routine = model.routines.find(({ name }) => name === entity.name);
      const shown = displayName(entity.name);
      const what =
        routine === undefined
          ? "routine"
          : `${routine.kind}${routine.kind === "kernel" ? `, SIMD${routine.simd}` : ""}`;
      return `${code(`${what} ${entity.name}`)}${shown === entity.name ? "" : `\n\n\`${shown}\``}`;
    }
  }
}

/** The variables that aliases and inputs are said to be, which reads none of them. */
function namesInDirectives({ routines }: VisaModel): ReadonlySet<Name> {
  const found = new Set<Name>();
  for (const { routine } of routines)
    for (const statement of routine.statements) {
      if (statement.kind === "decl" && statement.alias !== null) found.add(statement.alias.of);
      else if (statement.kind === "input" || statement.kind === "parameter") found.add(statement.name);
    }
  return found;
}

/** How a variable is declared; one that is predefined says what it is. */
export function variableText({ source }: VisaModel, variable: Variable): string {
  if (variable.predefined) return `${variable.name}  predefined, ${variable.elements} x ${variable.type}`;
  const start = source.text.lastIndexOf("\n", variable.span.start) + 1;
  const end = source.text.indexOf("\n", variable.span.start);
  return source.text
    .slice(start, end < 0 ? undefined : end)
    .trim()
    .replace(/\s*\/\/.*$/, "");
}
