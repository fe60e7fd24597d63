import type { Span } from "../../source/index.ts";
import { Token } from "../lexer.ts";
import type { Linkage, StateSpace } from "../tree/leaves.ts";
import type {
  Attribute,
  Declarator,
  Expression,
  Initializer,
  InitializerField,
  InitializerList,
  NameExpr,
  Parameter,
  VariableDeclaration,
} from "../tree/nodes.ts";
import type { Name } from "../tree/leaves.ts";
import { type Cursor, nestingLimit } from "./cursor.ts";
import { expression, goodExpression } from "./expressions.ts";
import { numberLiteral } from "./literals.ts";

const linkages: ReadonlyMap<string, Linkage> = new Map([
  [".extern", "extern"],
  [".visible", "visible"],
  [".weak", "weak"],
  [".common", "common"],
]);
const spaces: ReadonlyMap<string, StateSpace> = new Map([
  [".reg", "reg"],
  [".sreg", "sreg"],
  [".const", "const"],
  [".global", "global"],
  [".local", "local"],
  [".param", "param"],
  [".shared", "shared"],
  [".tex", "tex"],
]);
const vectors: ReadonlyMap<string, number> = new Map([
  [".v2", 2],
  [".v4", 4],
  [".v8", 8],
]);

/** The empty list that declarations without bounds or attributes share; most have neither. */
const none: readonly never[] = [];

export const isLinkage = (directive: string): boolean => linkages.has(directive);
export const isSpace = (directive: string): boolean => spaces.has(directive);

export type LinkageNode = { readonly value: Linkage; readonly span: Span };

/** Parses `.extern`, `.visible`, `.weak` or `.common`; null if the cursor is at something else. */
export function linkage(p: Cursor): LinkageNode | null {
  const value = p.at(Token.directive) ? linkages.get(p.token) : undefined;
  if (value === undefined) return null;
  const span = { start: p.start, end: p.end };
  p.advance();
  return { value, span };
}

/** Parses a name that is declared here; an empty one in a panic. */
export function declaredName(p: Cursor, wanted: string): Name {
  const { start, end, token: text } = p;
  if (p.expect(Token.name, wanted)) return { start, end, text };
  return { start, end: start, text: "" };
}

/** Parses a name that is declared elsewhere. */
export function reference(p: Cursor, wanted: string): NameExpr {
  return { kind: "name", ...declaredName(p, wanted), component: null, symbol: null };
}

/** Parses an unsigned integer of a directive; 0 in a panic. */
export function count(p: Cursor, wanted: string): number {
  if (p.at(Token.number)) {
    const literal = numberLiteral(p);
    if (literal.kind === "integer" && literal.value <= 0xffff_ffffn) return Number(literal.value);
    p.fail("ptx-unexpected-token", literal, `expected ${wanted}, an unsigned 32-bit integer`);
    return 0;
  }
  p.unexpected(wanted);
  return 0;
}

interface Specifiers {
  readonly attributes: readonly Attribute[];
  readonly align: { readonly value: number; readonly span: Span } | null;
  readonly vector: number;
  readonly type: Name;
}

/** Parses what is between the state space and the first name: attributes, alignment, vector size, type. */
function specifiers(p: Cursor): Specifiers {
  let attributes: readonly Attribute[] = none;
  let align: Specifiers["align"] = null;
  for (;;) {
    const { start } = p;
    const word = p.at(Token.directive) ? p.token : "";
    if (word === ".align") {
      p.advance();
      const value = count(p, "the number of bytes to align to");
      align = { value, span: { start, end: p.previousEnd } };
    } else if (word === ".attribute") attributes = [...attributes, ...attributeList(p)];
    else break;
  }
  const vector = p.at(Token.directive) ? vectors.get(p.token) : undefined;
  if (vector !== undefined) p.advance();
  const { start, end } = p;
  const text = p.at(Token.directive) ? p.undotted : "";
  p.expect(Token.directive, "a type, as in '.u32'");
  return { attributes, align, vector: vector ?? 1, type: { start, end, text } };
}

/** `.attribute(.managed, .unified(1, 2))` (5.4.8) */
export function attributeList(p: Cursor): readonly Attribute[] {
  p.advance();
  const attributes: Attribute[] = [];
  p.expect(Token.leftParen, "'('");
  do {
    const { start, end } = p;
    const name = { start, end, text: p.undotted };
    if (!p.expect(Token.directive, "an attribute, as in '.managed'")) break;
    const args = p.accept(Token.leftParen) ? expressions(p) : null;
    if (args) p.expect(Token.rightParen, "')'");
    attributes.push({ start, end: p.previousEnd, name, args: args ?? [] });
  } while (p.accept(Token.comma));
  p.expect(Token.rightParen, "')'");
  return attributes;
}

/** Parses expressions separated by commas; malformed ones are left out. */
export function expressions(p: Cursor): Expression[] {
  const list: Expression[] = [];
  do {
    const parsed = goodExpression(p);
    if (parsed) list.push(parsed);
  } while (p.accept(Token.comma));
  return list;
}

/** `[4][]`: the array bounds after a name. */
function dimensions(p: Cursor): readonly (Expression | null)[] {
  if (!p.at(Token.leftBracket)) return none;
  const bounds: (Expression | null)[] = [];
  while (p.accept(Token.leftBracket)) {
    bounds.push(p.at(Token.rightBracket) ? null : goodExpression(p));
    p.expect(Token.rightBracket, "']'");
  }
  return bounds;
}

/** `<8>`: how many names a parameterized name stands for (5.4.6). */
export function range(p: Cursor): Declarator["range"] {
  const { start } = p;
  if (!p.accept(Token.less)) return null;
  const names = count(p, "how many names");
  p.expect(Token.greater, "'>'");
  return { count: names, span: { start, end: p.previousEnd } };
}

/** `.global .align 8 .v2 .f32 a, b[4] = {...};` (5.4); the cursor is at the state space. */
export function variableDeclaration(p: Cursor, start: number, link: LinkageNode | null): VariableDeclaration {
  const spaceSpan = { start: p.start, end: p.end };
  const space = spaces.get(p.token) ?? "global";
  p.advance();
  const bank = space === "const" && p.accept(Token.leftBracket) ? count(p, "the number of a bank") : null;
  if (bank !== null) p.expect(Token.rightBracket, "']'");
  const specified = specifiers(p);
  const first = declarator(p);
  const declarators = first ? [first] : [];
  while (p.accept(Token.comma)) {
    const further = declarator(p);
    if (further) declarators.push(further);
  }
  p.endStatement("',', '=' or ';'");
  return {
    kind: "variable",
    start,
    end: p.previousEnd,
    linkage: link,
    space,
    spaceSpan,
    bank,
    ...specified,
    declarators,
  };
}

function declarator(p: Cursor): Declarator | null {
  if (p.beginsStatement && p.at(Token.name)) p.unexpected("a name");
  const name = declaredName(p, "a name");
  if (name.text === "") return null;
  const names = range(p);
  const bounds = dimensions(p);
  const initial = p.accept(Token.assign) ? initialValue(p) : null;
  return { start: name.start, end: p.previousEnd, name, range: names, dimensions: bounds, initializer: initial };
}

function initialValue(p: Cursor): Initializer | null {
  p.inInitializer = true;
  const value = initializer(p);
  p.inInitializer = false;
  return value;
}

function initializer(p: Cursor): Initializer | null {
  if (p.at(Token.leftBrace)) return initializerList(p);
  const parsed = expression(p);
  if (parsed.kind === "bad") return null;
  return p.at(Token.assign) && parsed.kind === "name" ? field(p, parsed) : parsed;
}

function field(p: Cursor, name: Name): InitializerField | null {
  p.advance();
  const value = goodExpression(p);
  if (!value) return null;
  const { start, end, text } = name;
  return { kind: "initializer-field", start, end: value.end, name: { start, end, text }, value };
}

function initializerList(p: Cursor): InitializerList | null {
  if (p.brackets >= nestingLimit) {
    p.tooDeep("initializers");
    return null;
  }
  const open = { start: p.start, end: p.end };
  p.brackets++;
  p.braces++;
  p.advance();
  const elements: Initializer[] = [];
  if (!p.at(Token.rightBrace)) {
    do {
      const element = initializer(p);
      if (element) elements.push(element);
    } while (p.accept(Token.comma));
  }
  p.brackets--;
  if (p.at(Token.rightBrace)) {
    p.braces--;
    p.advance();
  } else {
    p.unclosed("',' or '}'", open);
  }
  return { kind: "initializer-list", start: open.start, end: p.previousEnd, elements };
}

/** `(.param .u64 .ptr .global .align 8 a, .reg .u32 b)`, or null if there is no list. */
export function parameterList(p: Cursor): Parameter[] | null {
  if (!p.at(Token.leftParen)) return null;
  const open = { start: p.start, end: p.end };
  p.advance();
  const parameters: Parameter[] = [];
  if (p.accept(Token.rightParen)) return parameters;
  do {
    const declared = parameter(p);
    if (declared) parameters.push(declared);
  } while (p.accept(Token.comma));
  if (p.panicking) recoverList(p);
  if (p.at(Token.rightParen)) p.advance();
  else p.unclosed("',' or ')'", open);
  return parameters;
}

/** Skips to the end of a parameter list, so that the function is parsed despite an error in the list. */
function recoverList(p: Cursor): void {
  const { start } = p;
  p.kind = p.lexer.kind;
  while (!p.at(Token.rightParen) && !p.at(Token.leftBrace) && !p.at(Token.semicolon) && !p.at(Token.end)) {
    p.skip();
  }
  if (p.start > start) p.keepSkipped(start, p.previousEnd);
  if (!p.at(Token.rightParen)) p.kind = Token.panic;
}

function parameter(p: Cursor): Parameter | null {
  const { start } = p;
  const word = p.at(Token.directive) ? p.token : "";
  if (word !== ".param" && word !== ".reg") {
    p.unexpected("'.param' or '.reg'");
    return null;
  }
  p.advance();
  const specified = specifiers(p);
  const pointer = p.at(Token.directive) && p.token === ".ptr" ? pointerAttribute(p) : null;
  const name = declaredName(p, "the parameter's name");
  if (name.text === "") return null;
  const bounds = dimensions(p);
  const space = word === ".reg" ? "reg" : "param";
  return { kind: "parameter", start, end: p.previousEnd, space, ...specified, pointer, name, dimensions: bounds };
}

/** `.ptr .global .align 8` (5.1.6.3) */
function pointerAttribute(p: Cursor): Parameter["pointer"] {
  const { start } = p;
  p.advance();
  let space: string | null = null;
  let align: number | null = null;
  while (p.at(Token.directive)) {
    if (p.token === ".align") {
      p.advance();
      align = count(p, "the number of bytes to align to");
    } else if (space === null && spaces.has(p.token)) {
      space = p.undotted;
      p.advance();
    } else p.unexpected("'.align' or the parameter's name");
  }
  return { space, align, span: { start, end: p.previousEnd } };
}
