import { displayName } from "../../names/index.ts";
import type { Span } from "../../source/index.ts";
import { Lexer, Token } from "../../visa/lexer.ts";
import type { Statement } from "../../visa/tree.ts";
import type { CodeLens, FoldingRange, SemanticToken, SymbolNode, TokenType } from "../base/results.ts";
import { variableText } from "./hover.ts";
import type { VisaModel } from "./model.ts";
import { eachName, nameSpan, type Occurrence } from "./names.ts";

/** Where a routine ends: at the next one, or at the end of the text. */
const endOf = ({ routines, source }: VisaModel, index: number): number =>
  routines[index + 1]?.routine.start ?? source.text.trimEnd().length;

/** The routines with their variables and labels. */
export function symbolsOf(model: VisaModel): readonly SymbolNode[] {
  return model.routines.map((routine, i) => {
    const { name, start } = routine.routine;
    const inside: SymbolNode[] = [];
    const visit = (list: readonly Statement[]): void => {
      for (const statement of list) {
        if (statement.kind === "scope") visit(statement.statements);
        if (statement.kind !== "decl" && statement.kind !== "label") continue;
        const variable = routine.variables.find(({ span }) => span === statement.name);
        inside.push({
          start: statement.start,
          end: statement.end,
          name: statement.name.text,
          kind: statement.kind === "decl" ? "register" : "label",
          detail: variable === undefined ? "" : variableText(model, variable),
          selection: nameSpan(model, statement.name),
          children: [],
        });
      }
    };
    visit(routine.routine.statements);
    const shown = displayName(name.text);
    return {
      start,
      end: Math.max(endOf(model, i), name.end),
      name: name.text,
      kind: routine.kind,
      detail: shown === name.text ? `SIMD${routine.simd}` : shown,
      selection: nameSpan(model, name),
      children: inside,
    };
  });
}

export function foldingRangesOf(model: VisaModel): readonly FoldingRange[] {
  const ranges: FoldingRange[] = model.routines.map(({ routine: { start } }, i) => ({
    start,
    end: endOf(model, i),
    kind: "block",
  }));
  const visit = (list: readonly Statement[]): void => {
    for (const statement of list) {
      if (statement.kind !== "scope") continue;
      ranges.push({ start: statement.start, end: statement.end, kind: "block" });
      visit(statement.statements);
    }
  };
  for (const { routine } of model.routines) visit(routine.statements);
  for (const { start, end, kind } of model.tree.comments)
    if (kind === "block" && model.source.text.slice(start, end).includes("\n"))
      ranges.push({ start, end, kind: "comment" });
  return ranges;
}

export function codeLensesOf(model: VisaModel): readonly CodeLens[] {
  return model.routines.flatMap(({ routine, kind }) => {
    if (kind !== "kernel") return [];
    const span = nameSpan(model, routine.name);
    return (["run", "debug", "profile", "sanitize"] as const).map((command) => ({
      ...span,
      command,
      title: command[0]!.toUpperCase() + command.slice(1),
      kernel: routine.name.text,
    }));
  });
}

/** The words of a range with what they are, in the order of the text. */
export function semanticTokensOf(model: VisaModel, range: Span): readonly SemanticToken[] {
  const names = new Map<number, Occurrence>();
  eachName(model, (occurrence) => names.set(occurrence.name.start, occurrence));
  const mnemonics = new Set(
    model.routines.flatMap(({ instructions }) => instructions.map(({ mnemonic }) => mnemonic.start)),
  );
  const tokens: SemanticToken[] = [];
  const add = (span: Span, type: TokenType, declaration = false): void => {
    if (span.end > range.start && span.start < range.end && span.end > span.start)
      tokens.push({ start: span.start, end: span.end, type, declaration });
  };
  for (const comment of model.tree.comments) add(comment, "comment");
  const lexer = new Lexer(model.source, () => {});
  for (let kind = lexer.next(); kind !== Token.end && lexer.start < range.end; kind = lexer.next()) {
    const { start, end } = lexer;
    const occurrence = names.get(start);
    if (occurrence !== undefined) add(nameSpan(model, occurrence.name), typeOf(occurrence), occurrence.declares);
    else if (mnemonics.has(start)) add({ start, end }, "instruction");
    else if (kind === Token.number || kind === Token.float) add({ start, end }, "number");
    else if (kind === Token.string) add({ start, end }, "string");
  }
  return tokens.sort((a, b) => a.start - b.start);
}

function typeOf({ entity }: Occurrence): TokenType {
  switch (entity.kind) {
    case "variable":
      return entity.variable.predefined ? "special" : "register";
    case "label":
      return "label";
    case "routine":
      return "function";
  }
}
