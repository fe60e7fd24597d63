import type { FunctionDeclaration, Statement } from "../../ptx/tree/nodes.ts";
import type { Span } from "../../source/index.ts";
import type { CodeLens, FoldingRange, FoundSymbol, SymbolNode } from "../base/results.ts";
import { declarationText, headerText, kindOf, nameSpan, sourceName } from "./entities.ts";
import { type Part, type Placed, type PtxModel, toDocument } from "./model.ts";
import type { Declares } from "./occurrences.ts";

/** The declarations of a module. `within`: with those inside functions. */
export function symbolsOf(model: PtxModel, within: boolean): readonly SymbolNode[] {
  return [...model.items()].flatMap(({ part, item }) => {
    if (item.kind === "function")
      return [within ? functionSymbol(part, item) : node(part, { kind: "function", node: item }, item)];
    if (item.kind !== "variable") return [];
    return item.declarators.map((declarator) => node(part, { kind: "variable", node: item, declarator }, item));
  });
}

const nameOf = (declares: Declares): { readonly start: number; readonly text: string } => {
  switch (declares.kind) {
    case "variable":
      return declares.declarator.name;
    case "parameter":
      return declares.parameter.name;
    case "function":
    case "label":
      return declares.node.name;
    case "list":
    case "prototype":
      return declares.node.label ?? { start: declares.node.start, text: "" };
  }
};

function node(part: Part, declares: Declares, span: Span, children: readonly SymbolNode[] = []): SymbolNode {
  const name = nameOf(declares);
  const selection = toDocument(part, { start: name.start, end: name.start + name.text.length });
  const own = declares.kind === "variable" ? declares.node.declarators.length > 1 : false;
  return {
    name: name.text,
    detail: declares.kind === "label" ? "" : (sourceName(name.text) ?? declarationText(part, declares)),
    kind: kindOf(declares),
    selection,
    ...(own ? selection : toDocument(part, span)),
    children,
  };
}

function functionSymbol(part: Part, item: FunctionDeclaration): SymbolNode {
  const parameters = [...(item.returns ?? []), ...(item.params ?? [])].map((parameter) =>
    node(part, { kind: "parameter", parameter, of: item }, parameter),
  );
  const inside: SymbolNode[] = [];
  statementSymbols(part, item.body?.statements ?? [], inside);
  return node(part, { kind: "function", node: item }, item, [...parameters, ...inside]);
}

function statementSymbols(part: Part, statements: readonly Statement[], found: SymbolNode[]): void {
  for (const statement of statements) {
    if (statement.kind === "block") statementSymbols(part, statement.statements, found);
    else if (statement.kind === "label") found.push(node(part, { kind: "label", node: statement }, statement));
    else if (statement.kind === "variable") {
      for (const declarator of statement.declarators)
        found.push(node(part, { kind: "variable", node: statement, declarator }, statement));
    } else if (statement.kind === "callprototype" && statement.label !== null)
      found.push(node(part, { kind: "prototype", node: statement }, statement));
    else if ((statement.kind === "branchtargets" || statement.kind === "calltargets") && statement.label !== null)
      found.push(node(part, { kind: "list", node: statement }, statement));
  }
}

/** The functions and variables whose names, or names in the source language, contain a text. */
export function findSymbols(model: PtxModel, uri: string, query: string): readonly FoundSymbol[] {
  const wanted = query.toLowerCase();
  const found: FoundSymbol[] = [];
  for (const { name, places } of model.globals.values()) {
    const shown = sourceName(name);
    if (!name.toLowerCase().includes(wanted) && shown?.toLowerCase().includes(wanted) !== true) continue;
    const { part, name: at, item } = places.find((place) => isDefinition(place.item)) ?? places[0]!;
    const kind = item.kind === "function" ? (item.entry ? "kernel" : "function") : "variable";
    found.push({ name, detail: shown ?? "", kind, place: { uri, ...toDocument(part, nameSpan(at)) } });
  }
  return found;
}

/** Whether a directive at module scope defines what it names. */
const isDefinition = (item: Placed["item"]): boolean =>
  item.kind === "function" ? item.body !== null : item.kind === "variable" && item.linkage?.value !== "extern";

/** Blocks, parameter lists are not; runs of comments that fill lines, and long initial values. */
export function foldingRangesOf(model: PtxModel): readonly FoldingRange[] {
  const ranges: FoldingRange[] = [];
  for (const part of model.parts) {
    const add = (span: Span, kind: FoldingRange["kind"]): void => {
      if (part.source.text.slice(span.start, span.end).includes("\n")) ranges.push({ ...toDocument(part, span), kind });
    };
    const inside = (statements: readonly Statement[]): void => {
      for (const statement of statements) {
        if (statement.kind !== "block") continue;
        add(statement, "block");
        inside(statement.statements);
      }
    };
    for (const item of part.items) {
      if (item.kind === "function" && item.body !== null) {
        add({ start: item.start, end: item.body.end }, "block");
        inside(item.body.statements);
      } else if (item.kind === "section" || item.kind === "variable") add(item, "block");
    }
  }
  ranges.push(...commentFolds(model.parts));
  return ranges.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Comments with nothing between them, of whichever parts: how the text is cut into parts depends on its edits. */
function commentFolds(parts: readonly Part[]): FoldingRange[] {
  const folds: FoldingRange[] = [];
  let open: { readonly start: number; end: number; lines: boolean } | null = null;
  let hasBreak = false;
  const close = (): void => {
    if (open?.lines) folds.push({ start: open.start, end: open.end, kind: "comment" });
    open = null;
  };
  /** Goes on to the next comment over what is before it. */
  const pass = (gap: string): void => {
    if (open === null) return;
    if (gap.trim() !== "") close();
    hasBreak ||= gap.includes("\n");
  };
  for (const part of parts) {
    const { text } = part.source;
    let from = part.base;
    for (const comment of part.comments) {
      pass(text.slice(from, comment.start));
      const { start, end } = toDocument(part, comment);
      if (open === null) hasBreak = false;
      open ??= { start, end, lines: false };
      open.lines ||= hasBreak || text.slice(comment.start, comment.end).includes("\n");
      open.end = end;
      hasBreak = false;
      from = comment.end;
    }
    pass(text.slice(from, part.base + part.length));
  }
  close();
  return folds;
}

/** The commands above kernels. */
export function codeLensesOf(model: PtxModel): readonly CodeLens[] {
  return [...model.items()].flatMap(({ part, item }) => {
    if (item.kind !== "function" || !item.entry || item.body === null) return [];
    const span = toDocument(part, nameSpan(item.name));
    return (["run", "debug", "profile", "sanitize"] as const).map((command) => ({
      ...span,
      command,
      title: command[0]!.toUpperCase() + command.slice(1),
      kernel: item.name.text,
    }));
  });
}

/** The header of a function, in a code block. */
export const signatureBlock = (part: Part, item: FunctionDeclaration): string =>
  `\`\`\`ptx\n${headerText(part, item)}\n\`\`\``;
