import { Token } from "../lexer.ts";
import type { PragmaDirective } from "../tree/leaves.ts";
import type {
  Block,
  CallPrototype,
  FunctionAttribute,
  GuardNode,
  Instruction,
  Operand,
  Statement,
  TargetList,
  TargetName,
} from "../tree/nodes.ts";
import type { Name } from "../tree/leaves.ts";
import { bad, type Cursor, nestingLimit } from "./cursor.ts";
import { dwarfDirective, fileDirective, locDirective, sectionDirective, stringText } from "./debug.ts";
import {
  declaredName,
  expressions,
  isLinkage,
  isSpace,
  linkage,
  parameterList,
  range,
  reference,
  variableDeclaration,
} from "./declarations.ts";
import { nameExpression } from "./expressions.ts";
import { operand } from "./operands.ts";

/** Directives that occur only at module scope: inside a block they mean that its `}` is missing. */
const moduleOnly: ReadonlySet<string> = new Set([
  ".version",
  ".target",
  ".address_size",
  ".entry",
  ".func",
  ".alias",
  ".visible",
  ".weak",
  ".common",
]);
const isModuleOnly = (p: Cursor): boolean => p.at(Token.directive) && moduleOnly.has(p.token);

/** The same while text is skipped, where only a directive at the beginning of a line counts. */
export const endsFunction = (p: Cursor): boolean => p.first && isModuleOnly(p);

/** `{ ... }`; the cursor is at the opening brace. */
export function block(p: Cursor): Block {
  const open = { start: p.start, end: p.end };
  p.blocks++;
  p.advance();
  const statements: Statement[] = [];
  while (!p.at(Token.rightBrace) && !p.at(Token.end) && !isModuleOnly(p)) {
    add(statements, statement(p));
  }
  p.blocks--;
  if (p.at(Token.rightBrace)) p.advance();
  else unclosed(p, open);
  return { kind: "block", start: open.start, end: p.previousEnd, statements };
}

/** Reports a missing `}` once for all blocks that end here, at the innermost: that one is certain to lack it. */
function unclosed(p: Cursor, open: { readonly start: number; readonly end: number }): void {
  if (p.unclosedAt === p.start) return;
  p.unclosedAt = p.start;
  const found = p.at(Token.end) ? "the text ends here" : `${p.describe()} cannot be in a function`;
  p.error("ptx-unclosed-brace", open, "this '{' is never closed", {
    help: "write the missing '}'",
    notes: [{ message: found, source: p.source, span: p.missingAt }],
  });
}

/** Adds a statement; adjacent bad nodes are merged, so that garbage makes few nodes. */
function add(statements: Statement[], next: Statement): void {
  const last = statements.at(-1);
  if (next.kind === "bad" && last?.kind === "bad") statements[statements.length - 1] = bad(last.start, next.end);
  else statements.push(next);
}

function statement(p: Cursor): Statement {
  p.statementStart = p.start;
  switch (p.kind) {
    case Token.name:
      return labelOrInstruction(p);
    case Token.directive:
      return directive(p);
    case Token.at:
      return guarded(p);
    case Token.leftBrace:
      return p.blocks < nestingLimit ? block(p) : tooDeep(p);
    case Token.dwarf:
      return dwarfDirective(p);
    case Token.semicolon:
      p.error("ptx-empty-statement", p, "this ';' does not end a statement", { help: "remove it" });
      return skipped(p);
  }
  p.misplaced("a statement");
  return skipped(p);
}

/** Skips the rest of a statement that could not be parsed, and returns it as one node. */
function skipped(p: Cursor): Statement {
  const { statementStart } = p;
  p.skipStatement();
  return bad(statementStart, p.previousEnd);
}

function tooDeep(p: Cursor): Statement {
  p.error("ptx-nesting-too-deep", p, `blocks are nested more than ${nestingLimit} deep`);
  const { start } = p;
  let depth = 0;
  while (!p.at(Token.end) && !endsFunction(p)) {
    if (p.at(Token.leftBrace)) depth++;
    else if (p.at(Token.rightBrace)) depth--;
    p.skip();
    if (depth === 0) break;
  }
  return bad(start, p.previousEnd);
}

function labelOrInstruction(p: Cursor): Statement {
  const { start } = p;
  p.extendOpcode();
  const name = { start, end: p.end, text: p.token };
  p.advance();
  if (!p.at(Token.colon)) return instruction(p, start, null, name);
  p.advance();
  const end = p.previousEnd;
  if (name.text.includes(".")) p.error("ptx-malformed-label", name, "a label cannot contain '.' or '::'");
  const word = p.at(Token.directive) ? p.token : "";
  if (isTargetList(word)) return labelled(p, start, name, word);
  return { kind: "label", start, end, name };
}

function guarded(p: Cursor): Statement {
  const { start } = p;
  p.advance();
  const negated = p.accept(Token.not);
  const register = reference(p, "a predicate register");
  const guard: GuardNode = { start, end: p.previousEnd, negated, register };
  if (!p.at(Token.name)) {
    p.fail("ptx-guard-without-instruction", p.missingAt, `a guard applies to an instruction, not to ${p.describe()}`);
    return skipped(p);
  }
  const opcodeStart = p.start;
  p.extendOpcode();
  const opcode = { start: opcodeStart, end: p.end, text: p.token };
  p.advance();
  if (p.at(Token.colon)) {
    p.fail("ptx-guard-without-instruction", opcode, "a label goes before the guard, not after it");
    return skipped(p);
  }
  return instruction(p, start, guard, opcode);
}

function instruction(p: Cursor, start: number, guard: GuardNode | null, first: Name): Instruction {
  const opcode = p.at(Token.directive) ? modifiersApart(p, first) : first;
  const none = p.at(Token.semicolon) || p.beginsStatement;
  const operands = none ? [] : operandList(p, opcode.text === "call" || opcode.text.startsWith("call."));
  const end = p.start;
  if (!p.endStatement() && operands.at(-1)?.kind !== "bad") {
    // At the end of the text there is nothing to skip, and blanks may lie before it.
    operands.push(bad(Math.min(end, p.previousEnd), p.previousEnd));
  }
  return { kind: "instruction", start, end: p.previousEnd, guard, opcode, operands, resolved: null };
}

/**
 * Parses operands. Up to four make a list of exactly that length: an array that is pushed to reserves room for sixteen
 * more.
 */
function operandList(p: Cursor, lists: boolean): Operand[] {
  const first = operand(p, lists);
  if (!p.accept(Token.comma)) return [first];
  const second = nextOperand(p, lists);
  if (!p.accept(Token.comma)) return [first, second];
  const third = nextOperand(p, lists);
  if (!p.accept(Token.comma)) return [first, second, third];
  const operands = [first, second, third, nextOperand(p, lists)];
  while (p.accept(Token.comma)) operands.push(nextOperand(p, lists));
  return operands;
}

function nextOperand(p: Cursor, lists: boolean): Operand {
  if (p.beginsStatement) p.unexpected("an operand");
  return operand(p, lists);
}

/** Joins modifiers that are separated from the opcode, as in `add .u32`, or on the next line. */
function modifiersApart(p: Cursor, first: Name): Name {
  let { text } = first;
  while (p.at(Token.directive) && !beginsDirective(p)) {
    p.extendOpcode();
    text += p.token;
    p.advance();
  }
  return { start: first.start, end: p.previousEnd, text };
}

/**
 * Whether a directive begins here rather than a modifier: it is first on its line, and no `::` follows, as in
 * `.shared::cta`.
 */
function beginsDirective(p: Cursor): boolean {
  return p.first && p.lexer.following !== ":" && (isStatementDirective(p.token) || moduleOnly.has(p.token));
}

const statementDirectives: ReadonlySet<string> = new Set([
  ".loc",
  ".pragma",
  ".file",
  ".section",
  ".extern",
  ".branchtargets",
  ".calltargets",
  ".callprototype",
]);
const isStatementDirective = (word: string): boolean => isSpace(word) || statementDirectives.has(word);

function directive(p: Cursor): Statement {
  const word = p.token;
  if (isSpace(word)) return variableDeclaration(p, p.start, null);
  if (isTargetList(word)) {
    p.error("ptx-missing-label", p, `'${word}' has no label`, {
      help: `write a label before it, as in 'L: ${word} ...'`,
    });
    return labelled(p, p.start, null, word);
  }
  if (isLinkage(word)) {
    const { start } = p;
    const link = linkage(p);
    if (p.at(Token.directive) && isSpace(p.token)) return variableDeclaration(p, start, link);
    p.unexpected("a state space");
    return skipped(p);
  }
  switch (word) {
    case ".loc":
      return locDirective(p);
    case ".pragma":
      return pragmaDirective(p);
    case ".file":
      return fileDirective(p);
    case ".section":
      return sectionDirective(p);
  }
  p.fail("ptx-unknown-directive", p, `there is no directive '${word}' in a function body`);
  return skipped(p);
}

export function pragmaDirective(p: Cursor): PragmaDirective {
  const { start } = p;
  p.advance();
  const strings = stringList(p);
  p.endStatement();
  return { kind: "pragma", start, end: p.previousEnd, strings };
}

function stringList(p: Cursor): Name[] {
  const strings: Name[] = [];
  do strings.push(stringText(p, "a string in quotes"));
  while (p.accept(Token.comma));
  return strings;
}

const isTargetList = (word: string): boolean =>
  word === ".branchtargets" || word === ".calltargets" || word === ".callprototype";

function labelled(p: Cursor, start: number, label: Name | null, word: string): TargetList | CallPrototype {
  p.advance();
  if (word === ".callprototype") return callPrototype(p, start, label);
  const targets: TargetName[] = [];
  do {
    if (!p.at(Token.name) || p.beginsStatement) {
      p.unexpected("a target");
      break;
    }
    const name = nameExpression(p);
    const names = range(p);
    targets.push({ start: name.start, end: p.previousEnd, name, range: names });
  } while (p.accept(Token.comma));
  p.endStatement();
  const kind = word === ".branchtargets" ? "branchtargets" : "calltargets";
  return { kind, start, end: p.previousEnd, label, targets };
}

function callPrototype(p: Cursor, start: number, label: Name | null): CallPrototype {
  const returns = parameterList(p);
  const name = declaredName(p, "'_'");
  const params = parameterList(p);
  const attributes = functionAttributes(p);
  p.endStatement();
  return { kind: "callprototype", start, end: p.previousEnd, label, returns, name, params, attributes };
}

/** The directives between a function's parameters and its body (11.4, 11.7, 11.8). */
export function functionAttributes(p: Cursor): FunctionAttribute[] {
  const attributes: FunctionAttribute[] = [];
  while (p.at(Token.directive) && !moduleOnly.has(p.token) && !isStatementDirective(p.token)) {
    attributes.push(functionAttribute(p));
  }
  return attributes;
}

function functionAttribute(p: Cursor): FunctionAttribute {
  const { start, end, token: text } = p;
  p.advance();
  const args = p.at(Token.number) || p.at(Token.name) || p.at(Token.leftParen) ? expressions(p) : [];
  return { start, end: p.previousEnd, name: { start, end, text }, args, strings: [] };
}

/** `.pragma "nounroll";` of a kernel (11.4.7): its `;` does not end the kernel. */
export function functionPragma(p: Cursor): FunctionAttribute {
  const { start, end, token: text } = p;
  p.advance();
  const strings = stringList(p);
  p.endStatement();
  return { start, end: p.previousEnd, name: { start, end, text }, args: [], strings };
}
