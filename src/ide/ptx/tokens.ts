import { Lexer, Token } from "../../ptx/lexer.ts";
import type { Item } from "../../ptx/tree/module.ts";
import type { Instruction } from "../../ptx/tree/nodes.ts";
import { typeInfo } from "../../ptx/types.ts";
import type { Span } from "../../source/index.ts";
import type { SemanticToken, TokenType } from "../base/results.ts";
import { type Part, type PtxModel, toDocument } from "./model.ts";
import { eachName, type Occurrence } from "./occurrences.ts";
import { allStatements } from "./statements.ts";

/** The words of a range of the document with what they are, in the order of the text. */
export function semanticTokensOf(model: PtxModel, { start, end }: Span): readonly SemanticToken[] {
  const tokens: SemanticToken[] = [];
  for (const part of model.parts) {
    if (part.start >= end || part.start + part.length <= start) continue;
    const from = start - part.start + part.base;
    const until = end - part.start + part.base;
    for (const comment of part.comments)
      if (comment.end > from && comment.start < until)
        tokens.push({ ...toDocument(part, comment), type: "comment", declaration: false });
    for (const item of part.items)
      if (item.end > from && item.start < until) itemTokens(part, item, { start: from, end: until }, tokens);
  }
  return tokens.sort((a, b) => a.start - b.start);
}

interface Words {
  readonly names: ReadonlyMap<number, Occurrence>;
  readonly opcodes: ReadonlyMap<number, Instruction>;
}

function wordsOf(item: Item): Words {
  const names = new Map<number, Occurrence>();
  const opcodes = new Map<number, Instruction>();
  eachName(item, (occurrence) => names.set(occurrence.name.start, occurrence));
  if (item.kind === "function" && item.body !== null)
    for (const statement of allStatements(item.body))
      if (statement.kind === "instruction") opcodes.set(statement.opcode.start, statement);
  return { names, opcodes };
}

function itemTokens(part: Part, item: Item, range: Span, tokens: SemanticToken[]): void {
  const { names, opcodes } = wordsOf(item);
  const lexer = new Lexer(part.source, () => {});
  lexer.end = item.start;
  const add = (span: Span, type: TokenType, declaration = false): void => {
    if (span.end > range.start && span.start < range.end && span.end > span.start)
      tokens.push({ ...toDocument(part, span), type, declaration });
  };
  for (
    let kind = lexer.next();
    kind !== Token.end && lexer.start < item.end && lexer.start < range.end;
    kind = lexer.next()
  ) {
    const { start } = lexer;
    if (kind === Token.number) add({ start, end: lexer.end }, "number");
    else if (kind === Token.string || kind === Token.dwarf) add({ start, end: lexer.end }, "string");
    else if (kind === Token.directive) {
      const word = part.source.text.slice(start + 1, lexer.end);
      add({ start, end: lexer.end }, typeInfo(word) === null ? "keyword" : "type");
    } else if (kind === Token.name) {
      if (opcodes.has(start)) {
        lexer.extendOpcode();
        opcodeTokens(part.source.text.slice(start, lexer.end), start, add);
        continue;
      }
      const occurrence = names.get(start);
      if (occurrence === undefined) continue;
      add({ start, end: start + occurrence.name.text.length }, nameType(occurrence), occurrence.declares !== null);
    }
  }
}

function opcodeTokens(opcode: string, start: number, add: (span: Span, type: TokenType) => void): void {
  const words = opcode.split(".");
  let at = start;
  for (const [i, word] of words.entries()) {
    const end = at + word.length + (i === 0 ? 0 : 1);
    add({ start: at, end }, i === 0 ? "instruction" : typeInfo(word) === null ? "modifier" : "type");
    at = end;
  }
}

function nameType({ use, declares }: Occurrence): TokenType {
  if (declares !== null) {
    switch (declares.kind) {
      case "variable":
        return declares.node.space === "reg" ? "register" : "variable";
      case "parameter":
        return "parameter";
      case "function":
        return "function";
      case "label":
      case "list":
      case "prototype":
        return "label";
    }
  }
  switch (use?.symbol?.kind) {
    case "register":
      return "register";
    case "parameter":
      return "parameter";
    case "function":
      return "function";
    case "label":
    case "target-list":
    case "prototype":
      return "label";
    case "special":
    case "constant":
      return "special";
    case "variable":
    case undefined:
      return "variable";
  }
}
