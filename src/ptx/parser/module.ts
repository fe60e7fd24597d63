import type { Diagnostic, SourceText } from "../../source/index.ts";
import { Token } from "../lexer.ts";
import type {
  AddressSizeDirective,
  AliasDirective,
  Item,
  Module,
  TargetDirective,
  VersionDirective,
} from "../tree/module.ts";
import type { Attribute, FunctionAttribute, FunctionDeclaration } from "../tree/nodes.ts";
import type { Comment, Name } from "../tree/leaves.ts";
import { bad, Cursor } from "./cursor.ts";
import { dwarfDirective, fileDirective, locDirective, sectionDirective } from "./debug.ts";
import {
  attributeList,
  count,
  declaredName,
  isSpace,
  linkage,
  type LinkageNode,
  parameterList,
  reference,
  variableDeclaration,
} from "./declarations.ts";
import { block, endsFunction, functionAttributes, functionPragma, pragmaDirective } from "./statements.ts";

/**
 * Parses a PTX module of any version from 1.0 to 9.1. Accepts any text and never throws: text that cannot be parsed
 * becomes `BadNode`s and `skipped` text, each with a diagnostic (codes that begin with "ptx-"), and parsing continues
 * after it. Linear in time and memory.
 */
export function parsePtx(source: SourceText): { tree: Module; diagnostics: readonly Diagnostic[] } {
  const p = new Cursor(source);
  const items: Item[] = [];
  while (!p.at(Token.end)) addItem(items, item(p));
  finish(p, items);
  const { skipped, sink } = p;
  const { comments } = p.lexer;
  const tree: Module = { kind: "module", start: 0, end: source.text.length, source, items, comments, skipped };
  return { tree, diagnostics: sink.diagnostics };
}

function addItem(items: Item[], next: Item): void {
  const last = items.at(-1);
  if (next.kind === "bad" && last?.kind === "bad") items[items.length - 1] = bad(last.start, next.end);
  else items.push(next);
}

function finish(p: Cursor, items: Item[]): void {
  const { cut } = p.lexer;
  if (cut !== null) items.push(bad(cut, p.text.length));
  p.finish();
}

/** Some directives that follow each other at module scope; it begins and ends at the beginning of a line. */
export interface Run {
  readonly start: number;
  readonly end: number;
  readonly items: readonly Item[];
  readonly comments: readonly Comment[];
  readonly diagnostics: readonly Diagnostic[];
  /** Text from this offset on has not been looked at: it does not matter for the run. */
  readonly seen: number;
}

/** The least that a run has, in characters. */
const shortestRun = 512;

/**
 * Parses a text as runs of directives, up to the first place between two directives where `isEnough` says so. Parsed
 * alone from where it begins, with the same text after it, each run gives the same. `cut`: the text has too many
 * tokens.
 */
export function parseRuns(
  source: SourceText,
  isEnough: (end: number) => boolean,
): { readonly runs: readonly Run[]; readonly cut: boolean } {
  const p = new Cursor(source);
  const runs: Run[] = [];
  let items: Item[] = [];
  let start = 0;
  let reported = 0;
  let commented = 0;
  const close = (end: number, seen: number): void => {
    const { comments } = p.lexer;
    const next = firstFrom(comments, end, commented);
    const diagnostics = p.sink.diagnostics.slice(reported);
    runs.push({ start, end, items, comments: comments.slice(commented, next), diagnostics, seen });
    items = [];
    start = end;
    reported = p.sink.diagnostics.length;
    commented = next;
  };
  while (!p.at(Token.end)) {
    addItem(items, item(p));
    const end = runEnd(p);
    if (end === null) continue;
    const enough = isEnough(end);
    if (!enough && end - start < shortestRun) continue;
    close(end, lookedAt(p));
    if (enough) return { runs, cut: false };
  }
  finish(p, items);
  close(source.text.length, source.text.length + 1);
  return { runs, cut: p.lexer.cut !== null };
}

/** The line after the one on which the last directive ends, if the next directive begins there or further down. */
function runEnd(p: Cursor): number | null {
  const { text, previousEnd } = p;
  if (!p.at(Token.directive) || !p.first) return null;
  const newline = text.indexOf("\n", previousEnd);
  if (newline < 0 || newline >= p.start || text.charCodeAt(newline + 1) === 0xfeff) return null;
  return /^[ \t\r\v\f]*(\/\/.*)?$/.test(text.slice(previousEnd, newline)) ? newline + 1 : null;
}

/** The offset after the last character that the parser has looked at: that after the current token, past blanks. */
function lookedAt({ text, end }: Cursor): number {
  let at = end;
  while (/\s/.test(text.charAt(at))) at++;
  return at + 2;
}

function firstFrom(comments: readonly Comment[], offset: number, from: number): number {
  let at = from;
  while (at < comments.length && comments[at]!.start < offset) at++;
  return at;
}

function item(p: Cursor): Item {
  p.statementStart = p.start;
  switch (p.kind) {
    case Token.directive:
      return directive(p);
    case Token.dwarf:
      return dwarfDirective(p);
    case Token.semicolon:
      p.error("ptx-empty-statement", p, "this ';' does not end a statement", { help: "remove it" });
      return skipped(p);
    case Token.rightBrace:
      p.error("ptx-unmatched-brace", p, "this '}' has no matching '{'", {
        help: "remove it, or write the missing '{'",
      });
      return skipped(p);
    case Token.name:
    case Token.at:
    case Token.leftBrace:
      p.fail("ptx-statement-outside-function", p, `${p.describe()} is not allowed outside functions`, {
        help: "instructions, labels and blocks belong between the '{' and '}' of a .entry or .func",
      });
      return skipped(p);
  }
  p.misplaced("a directive");
  return skipped(p);
}

/** Skips text that cannot begin an item, up to the next line that begins with a directive; blocks are skipped whole. */
function skipped(p: Cursor): Item {
  const { start } = p;
  p.kind = p.lexer.kind;
  let depth = 0;
  do {
    const { kind } = p;
    if (kind === Token.leftBrace) depth++;
    else if (kind === Token.rightBrace) depth--;
    p.skip();
    if (depth <= 0 && (kind === Token.semicolon || kind === Token.rightBrace)) break;
  } while (!p.at(Token.end) && !(depth === 0 ? p.at(Token.directive) && p.first : endsFunction(p)));
  return bad(start, p.previousEnd);
}

function directive(p: Cursor): Item {
  const word = p.token;
  const { start } = p;
  const link = linkage(p);
  const next = link === null ? word : p.at(Token.directive) ? p.token : "";
  if (isSpace(next)) return variableDeclaration(p, start, link);
  if (next === ".func" || next === ".entry") return functionDeclaration(p, start, link, next === ".entry");
  if (link !== null) {
    p.unexpected("a state space, '.func' or '.entry'");
    return skippedFrom(p, start);
  }
  switch (word) {
    case ".version":
      return versionDirective(p);
    case ".target":
      return targetDirective(p);
    case ".address_size":
      return addressSizeDirective(p);
    case ".alias":
      return aliasDirective(p);
    case ".file":
      return fileDirective(p);
    case ".section":
      return sectionDirective(p);
    case ".pragma":
      return pragmaDirective(p);
    case ".loc":
      return locDirective(p);
  }
  p.fail("ptx-unknown-directive", p, `there is no directive '${word}' at module scope`);
  return skipped(p);
}

function skippedFrom(p: Cursor, start: number): Item {
  return bad(start, skipped(p).end);
}

function versionDirective(p: Cursor): VersionDirective {
  const { start } = p;
  p.advance();
  const [, major = "0", minor = "0"] = /^(\d{1,4})\.(\d{1,4})$/.exec(p.token) ?? [];
  if (!p.at(Token.number) || !/^\d{1,4}\.\d{1,4}$/.test(p.token)) p.unexpected("a version, as in '9.0'");
  p.accept(Token.number);
  p.endLine();
  return { kind: "version", start, end: p.previousEnd, major: Number(major), minor: Number(minor) };
}

function targetDirective(p: Cursor): TargetDirective {
  const { start } = p;
  p.advance();
  const names: Name[] = [];
  do {
    const name = declaredName(p, "a target, as in 'sm_90'");
    if (name.text !== "") names.push(name);
  } while (p.accept(Token.comma));
  p.endLine();
  return { kind: "target", start, end: p.previousEnd, names };
}

function addressSizeDirective(p: Cursor): AddressSizeDirective {
  const { start } = p;
  p.advance();
  const value = count(p, "32 or 64");
  p.endLine();
  return { kind: "address-size", start, end: p.previousEnd, value };
}

function aliasDirective(p: Cursor): AliasDirective {
  const { start } = p;
  p.advance();
  const alias = reference(p, "the name of the alias");
  p.expect(Token.comma, "','");
  const aliasee = reference(p, "the name of a function");
  p.endStatement("';'");
  return { kind: "alias", start, end: p.previousEnd, alias, aliasee };
}

/** A `.entry` or `.func`, declared or defined (11.2); the cursor is at that word. */
function functionDeclaration(p: Cursor, start: number, link: LinkageNode | null, entry: boolean): FunctionDeclaration {
  p.advance();
  const attributes: Attribute[] = [];
  while (p.at(Token.directive) && p.token === ".attribute") attributes.push(...attributeList(p));
  const returns = entry ? null : parameterList(p);
  const name = declaredName(p, entry ? "the kernel's name" : "the function's name");
  const params = parameterList(p);
  const { directives, ended } = headerDirectives(p);
  if (p.panicking) recoverHeader(p);
  let body: FunctionDeclaration["body"] = null;
  if (p.at(Token.leftBrace)) body = block(p);
  else if (!ended && (entry || !beforeItem(p))) p.endStatement("'{' or ';'");
  const { previousEnd: end } = p;
  return { kind: "function", start, end, linkage: link, entry, attributes, returns, name, params, directives, body };
}

/**
 * Whether a declaration without `;` may end here: CUDA 2 to 4 wrote prototypes without it, and 11.2.2 does not require
 * it.
 */
const beforeItem = (p: Cursor): boolean => p.at(Token.directive) || p.at(Token.end);

/** `ended`: the last directive is a `.pragma`, whose `;` also ends the declaration. */
function headerDirectives(p: Cursor): { readonly directives: readonly FunctionAttribute[]; readonly ended: boolean } {
  const directives: FunctionAttribute[] = [];
  let ended = false;
  for (;;) {
    const before = directives.length;
    directives.push(...functionAttributes(p));
    if (directives.length > before) ended = false;
    if (!p.at(Token.directive) || p.token !== ".pragma") return { directives, ended };
    directives.push(functionPragma(p));
    ended = true;
  }
}

/** Skips to the body of a function whose header is malformed. */
function recoverHeader(p: Cursor): void {
  const { start } = p;
  p.kind = p.lexer.kind;
  while (!p.at(Token.leftBrace) && !p.at(Token.semicolon) && !p.at(Token.end) && !endsFunction(p)) {
    p.skip();
  }
  if (p.start > start) p.keepSkipped(start, p.previousEnd);
}
