import { Token } from "../lexer.ts";
import type { DwarfDirective, FileDirective, LocDirective } from "../tree/leaves.ts";
import type { Name } from "../tree/leaves.ts";
import type { SectionDirective, SectionEntry } from "../tree/nodes.ts";
import type { Cursor } from "./cursor.ts";
import { count, expressions } from "./declarations.ts";
import { numberLiteral } from "./literals.ts";

/** A string at the cursor, without its quotes; empty in a panic. */
export function stringText(p: Cursor, wanted: string): Name {
  const { start, end } = p;
  const text = p.at(Token.string) ? p.token.replace(/^"|"$/g, "") : "";
  p.expect(Token.string, wanted);
  return { start, end, text };
}

/** `.file 1 "a.cu", 1339013327, 64118` (11.5.3) */
export function fileDirective(p: Cursor): FileDirective {
  const { start } = p;
  p.advance();
  const index = count(p, "the number of the file");
  const name = stringText(p, "the name of the file in quotes");
  let timestamp: bigint | null = null;
  let size: bigint | null = null;
  if (p.accept(Token.comma)) {
    timestamp = bigCount(p, "the time of the last change");
    p.expect(Token.comma, "',' and the size of the file");
    size = bigCount(p, "the size of the file");
  }
  p.endLine();
  return { kind: "file", start, end: p.previousEnd, index, name, timestamp, size };
}

function bigCount(p: Cursor, wanted: string): bigint {
  const literal = p.at(Token.number) ? numberLiteral(p) : null;
  if (literal?.kind === "integer") return literal.value;
  p.unexpected(wanted);
  return 0n;
}

/** `.loc 1 9 3, function_name info_string0+4, inlined_at 1 21 3` (11.5.4) */
export function locDirective(p: Cursor): LocDirective {
  const { start } = p;
  p.advance();
  const place = position(p);
  let functionName: LocDirective["functionName"] = null;
  let inlinedAt: LocDirective["inlinedAt"] = null;
  while (p.accept(Token.comma)) {
    const word = p.at(Token.name) ? p.token : "";
    if (word === "function_name" && functionName === null) {
      p.advance();
      functionName = sectionOffset(p);
    } else if (word === "inlined_at" && inlinedAt === null) {
      p.advance();
      inlinedAt = position(p);
    } else p.unexpected("'function_name' or 'inlined_at'");
  }
  p.endLine();
  return { kind: "loc", start, end: p.previousEnd, ...place, functionName, inlinedAt };
}

function position(p: Cursor): { readonly file: number; readonly line: number; readonly column: number } {
  const file = count(p, "the number of a file");
  const line = count(p, "a line number");
  return { file, line, column: count(p, "a column") };
}

function sectionOffset(p: Cursor): LocDirective["functionName"] {
  const { start, end, token: text } = p;
  if (!p.at(Token.directive)) {
    if (!p.expect(Token.name, "a label of '.debug_str'")) return null;
  } else p.advance();
  return { label: { start, end, text }, offset: p.accept(Token.plus) ? count(p, "an offset in bytes") : 0 };
}

/** `.section .debug_info { ... }` (11.5.2) */
export function sectionDirective(p: Cursor): SectionDirective {
  const { start } = p;
  p.advance();
  const name = { start: p.start, end: p.end, text: p.token };
  if (!p.accept(Token.name)) p.expect(Token.directive, "the name of the section");
  const open = { start: p.start, end: p.end };
  p.expect(Token.leftBrace, "'{'");
  const entries: SectionEntry[] = [];
  if (p.panicking) p.endLine();
  else sectionEntries(p, entries);
  if (p.at(Token.end)) p.error("ptx-unclosed-brace", open, `the '{' of section '${name.text}' is never closed`);
  else p.accept(Token.rightBrace);
  return { kind: "section", start, end: p.previousEnd, name, entries };
}

function sectionEntries(p: Cursor, entries: SectionEntry[]): void {
  p.inSection = true;
  while (!p.at(Token.rightBrace) && !p.at(Token.end)) {
    const entry = sectionEntry(p);
    if (p.panicking) skipEntry(p);
    else entries.push(entry);
  }
  p.inSection = false;
}

/** Skips to the next token that seems to begin an entry. */
function skipEntry(p: Cursor): void {
  const { start } = p;
  p.kind = p.lexer.kind;
  do p.skip();
  while (!p.at(Token.rightBrace) && !p.at(Token.end) && !p.at(Token.directive) && !(p.at(Token.name) && p.first));
  p.keepSkipped(start, p.previousEnd);
}

function sectionEntry(p: Cursor): SectionEntry {
  const { start, end, token: text } = p;
  const word = { start, end, text };
  if (p.accept(Token.name)) {
    p.expect(Token.colon, "':' after a label");
    return { start, end: p.previousEnd, label: word, type: null, values: [] };
  }
  p.expect(Token.directive, "a label or data, as in '.b32 1, 2'");
  const values = expressions(p);
  const type = { start, end, text: text.slice(1) };
  return { start, end: p.previousEnd, label: null, type, values };
}

/** A line `@@DWARF ...` (11.5.1) */
export function dwarfDirective(p: Cursor): DwarfDirective {
  const { start, end } = p;
  p.advance();
  return { kind: "dwarf", start, end };
}
