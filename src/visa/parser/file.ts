import { type Diagnostic, nearest, type SourceText } from "../../source/index.ts";
import { isMnemonic } from "../isa/table.ts";
import { Token } from "../lexer.ts";
import type { BuildOptions, Label, Name, Routine, Scope, Statement, Version, VisaFile } from "../tree.ts";
import { Cursor, nestingLimit } from "./cursor.ts";
import {
  declaration,
  functionDeclaration,
  functionDirective,
  input,
  kernelAttribute,
  routineName,
  parameter,
  versionDirective,
} from "./directives.ts";
import { instruction } from "./instructions.ts";
import { mean } from "./options.ts";

/** Options of `parseVisa`. */
/** How vISA is parsed. */
export interface ParseVisaOptions {
  /** Bytes of a register, the value of `%sizeof GRF`; 32 by default. */
  readonly grfBytes?: 32 | 64;
}

/** A routine that is being read. */
interface OpenRoutine {
  readonly kind: Routine["kind"];
  readonly name: Name;
  readonly version: Version | null;
  readonly start: number;
  readonly statements: Statement[];
}

const routineDirectives = [".version", ".kernel", ".global_function"];
const statementDirectives = [".decl", ".input", ".parameter", ".kernel_attr", ".function", ".funcdecl"];

/**
 * Parses vISA text of versions 3.6 to 4.2 as IGC writes and reads it: a `.visaasm` with one routine, or an `.isaasm`
 * with several (4_visa_header.md). Takes any text and never throws. Each malformed statement is left out of the tree,
 * with one error in `diagnostics`, and parsing continues with the next line. Takes linear time and memory.
 */
export function parseVisa(
  source: SourceText,
  options: ParseVisaOptions = {},
): { tree: VisaFile; diagnostics: readonly Diagnostic[] } {
  const p = new Cursor(source, options.grfBytes ?? 32);
  const routines: Routine[] = [];
  let version: Version | null = null;
  /** The `.version` of the routine that follows it. */
  let own: Version | null = null;
  let open: OpenRoutine | null = null;
  let versionMissed = false;
  const close = (): void => {
    if (open !== null) routines.push({ ...open, end: open.statements.at(-1)?.end ?? open.name.end });
  };
  while (!p.at(Token.end)) {
    if (p.accept(Token.newline)) continue;
    const { start } = p;
    p.statementStart = start;
    const word = directiveWord(p);
    if (version === null && !versionMissed && word !== ".version") {
      versionMissed = true;
      if (nearest(word, [".version"]) === null) reportMissingVersion(p);
    }
    if (word === ".version") {
      const read = versionDirective(p);
      // A malformed version is not a missing one.
      versionMissed ||= read === null;
      if (version === null) version = read;
      else if (open !== null && own === null) own = read;
      else if (read !== null) misplacedVersion(p, read);
      p.endHeading();
    } else if (word === ".kernel" || word === ".global_function") {
      p.advance();
      const name = routineName(p, "the name of a routine");
      if (!p.panicking) {
        close();
        p.constants.enterRoutine();
        open = { kind: word === ".kernel" ? "kernel" : "function", name, version: own, start, statements: [] };
        own = null;
      }
      p.endHeading();
    } else if (open === null) {
      if (word !== "" && !knownDirective(word)) reportUnknownDirective(p, word);
      p.fail("visa-statement-outside-routine", p, `${p.describe()} is outside of any routine`, {
        help: "begin one with '.kernel NAME' or '.global_function NAME'",
      });
      skipToRoutine(p);
    } else {
      if (own !== null) misplacedVersion(p, own);
      own = null;
      statement(p, word, open.statements);
    }
  }
  if (own !== null) misplacedVersion(p, own);
  if (version === null && !versionMissed) reportMissingVersion(p);
  close();
  p.finish();
  const tree: VisaFile = { source, version, routines, comments: p.lexer.comments, skipped: p.skipped };
  return { tree, diagnostics: p.sink.diagnostics };
}

function reportMissingVersion(p: Cursor): void {
  p.error("visa-missing-version", { start: 0, end: 0 }, "the file does not begin with '.version'", {
    help: "write '.version 3.6' or later first",
  });
}

function misplacedVersion(p: Cursor, version: Version): void {
  p.error("visa-misplaced-version", version, "no routine follows this version", {
    help: "a file begins with one; each later routine may have its own directly before it",
  });
}

/** The directive at the cursor with its dot; "" for anything else. */
function directiveWord(p: Cursor): string {
  if (!p.at(Token.dot)) return "";
  p.extend("extendDirective");
  return p.token;
}

/** Skips to the next routine: one error is enough for everything outside routines. */
function skipToRoutine(p: Cursor): void {
  do {
    p.recover();
    p.statementStart = p.start;
  } while (!p.at(Token.end) && !(p.at(Token.dot) && routineDirectives.includes(directiveWord(p))));
}

function statement(p: Cursor, word: string, into: Statement[]): void {
  if (p.at(Token.leftBrace)) {
    const read = scope(p);
    if (read !== null) into.push(read);
    return;
  }
  if (p.at(Token.rightBrace)) {
    p.fail("visa-unmatched-brace", p, "this '}' closes nothing", { help: "leave it out" });
    p.recover();
    return;
  }
  const read = simpleStatement(p, word);
  if (p.endStatement() && read !== null) into.push(read);
}

/** `{ ... }`. The braces need not have lines of their own. */
function scope(p: Cursor): Scope | null {
  const { start } = p;
  const brace = p.span;
  const statements: Statement[] = [];
  if (p.scopes === nestingLimit) {
    p.fail("visa-nesting-too-deep", brace, `scopes nest more than ${nestingLimit} deep`);
    p.skipScope();
    return null;
  }
  p.advance();
  p.scopes++;
  p.constants.enterScope();
  while (!p.at(Token.rightBrace) && !p.at(Token.end)) {
    if (p.accept(Token.newline)) continue;
    p.statementStart = p.start;
    const word = directiveWord(p);
    if (routineDirectives.includes(word)) break;
    statement(p, word, statements);
  }
  p.constants.leaveScope();
  p.scopes--;
  if (p.accept(Token.rightBrace)) {
    const { previousEnd } = p;
    p.endHeading();
    return { kind: "scope", start, end: previousEnd, statements };
  }
  p.error("visa-unclosed-scope", brace, "this '{' is never closed", {
    notes: [{ message: "its '}' is missing here", source: p.source, span: p.errorSpan }],
  });
  return { kind: "scope", start, end: p.previousEnd, statements };
}

function simpleStatement(p: Cursor, word: string): Exclude<Statement, Scope> | null {
  if (p.at(Token.label)) return label(p);
  if (word === "") {
    if (p.atWord("OPTIONS")) return buildOptions(p);
    // The lexer recognizes labels only in the first column.
    if (p.at(Token.name) && p.lexer.following === 0x3a && !isMnemonic(p.token)) {
      p.fail("visa-indented-label", p, "a label begins in the first column", { help: "remove what precedes it" });
      return null;
    }
    return instruction(p);
  }
  switch (word) {
    case ".decl":
      return declaration(p);
    case ".input":
      return input(p, "");
    case ".parameter":
      return parameter(p);
    case ".kernel_attr":
      return kernelAttribute(p);
    case ".function":
      return functionDirective(p);
    case ".funcdecl":
      return functionDeclaration(p);
  }
  if (word.startsWith(".implicit_")) return input(p, word.slice(".implicit_".length));
  if (isMnemonic(word)) return instruction(p);
  reportUnknownDirective(p, word);
  return null;
}

const knownDirective = (word: string): boolean =>
  statementDirectives.includes(word) || word.startsWith(".implicit_") || isMnemonic(word);

function reportUnknownDirective(p: Cursor, word: string): void {
  const meant = nearest(word, [...routineDirectives, ...statementDirectives]);
  p.fail("visa-unknown-directive", p, `no directive is called '${word.slice(0, 60)}'`, {
    help: meant === null ? undefined : mean(meant),
  });
}

function label(p: Cursor): Label {
  const { start, end } = p;
  const text = p.token.slice(0, -1);
  p.advance();
  return { kind: "label", start, end, name: { text, start, end: end - 1 } };
}

/** `OPTIONS ...` to the end of the line. */
function buildOptions(p: Cursor): BuildOptions {
  const { start } = p;
  p.extend("extendLine");
  const { end } = p;
  const text = p.text.slice(start, end).replace(/^OPTIONS\s*/, "");
  p.advance();
  return { kind: "options", start, end, text };
}
