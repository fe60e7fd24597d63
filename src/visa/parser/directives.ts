import { nearest } from "../../source/index.ts";
import { isMnemonic } from "../isa/table.ts";
import { Token } from "../lexer.ts";
import {
  type Attribute,
  type Declaration,
  type DeclarationAttribute,
  type FunctionDeclaration,
  type FunctionDirective,
  type Input,
  isKnownVersion,
  type Name,
  type Parameter,
  type Version,
} from "../tree.ts";
import { type VariableKind, variableKinds } from "../types.ts";
import type { Cursor } from "./cursor.ts";
import { constant, count } from "./expressions.ts";
import { stringLiteral, typeName } from "./literals.ts";
import { nameOrQuoted } from "./operands.ts";
import { mean } from "./options.ts";

const maxU32 = 0xffff_ffff;

/** `.version 3.6` */
export function versionDirective(p: Cursor): Version | null {
  const { start } = p;
  p.advance();
  const major = count(p, 0, 255, "the version");
  p.expect(Token.dot, "'.' and the minor version");
  const minor = count(p, 0, 255, "the version");
  if (p.panicking) return null;
  const version: Version = { major, minor, start, end: p.previousEnd };
  if (!isKnownVersion(version)) {
    p.sink.warning("visa-unknown-version", version, `version ${major}.${minor} is not known`, {
      help: "the known versions are 3.0 to 4.2; this text is read as if it were 4.2",
    });
  }
  return version;
}

/** Takes `NAME =` in `.decl` and `.input`; returns false, and takes nothing, if something else follows. */
function acceptKey(p: Cursor, key: string): boolean {
  if (!p.acceptWord(key)) return false;
  return p.expect(Token.assign, "'='");
}

function expectKey(p: Cursor, key: string): void {
  if (!p.atWord(key)) p.unexpected(`'${key}='`);
  else acceptKey(p, key);
}

/** Takes a name that the text gives to something. Names with `%` are predefined, and mnemonics are reserved. */
function ownName(p: Cursor, wanted: string): Name {
  if (p.at(Token.name) && p.text.startsWith("%", p.start)) {
    p.unexpected(wanted, "names that begin with '%' are those of predefined variables");
  } else if (p.at(Token.name) && isMnemonic(p.token)) {
    p.unexpected(wanted, "this is the name of an instruction");
  }
  return p.name(wanted);
}

/** Takes the name of a routine or a part of one. In quotes, any text can be a name. */
export const routineName = (p: Cursor, wanted: string): Name =>
  p.at(Token.string) ? nameOrQuoted(p, wanted) : ownName(p, wanted);

/** Takes the name of a variable. If it was left out, the next key is in its place. */
function variableName(p: Cursor): Name {
  const wanted = "the name of a variable";
  if (p.at(Token.name) && p.lexer.following === 0x3d) p.unexpected(wanted);
  return ownName(p, wanted);
}

/** `.decl V v_type=G type=f num_elts=16 align=GRF alias=<X, 0> attrs={...}` */
export function declaration(p: Cursor): Declaration | null {
  const { start } = p;
  p.advance();
  const name = variableName(p);
  expectKey(p, "v_type");
  const variable = variableKind(p);
  let type: Declaration["type"] = null;
  if (variable === "G") {
    expectKey(p, "type");
    type = typeName(p);
    if (!p.panicking) p.advance();
  }
  expectKey(p, "num_elts");
  const elements = count(p, 0, maxU32, "the number of elements");
  const align = variable === "G" && acceptKey(p, "align") ? alignment(p) : null;
  const alias = variable === "G" && acceptKey(p, "alias") ? aliasOf(p) : null;
  const isState = variable === "S" || variable === "T";
  const shown = isState && acceptKey(p, "v_name") ? p.name("a name") : null;
  const attributes = attributeList(p);
  if (p.panicking) return null;
  if (variable === "G" || variable === "A") p.constants.declare(name.text, type, elements);
  return { kind: "decl", start, end: p.previousEnd, name, variable, type, elements, align, alias, attributes, shown };
}

function variableKind(p: Cursor): VariableKind {
  const text = p.token;
  const kind = variableKinds.find((candidate) => candidate === text);
  if (p.at(Token.name) && kind !== undefined) p.advance();
  else {
    p.unexpected("a kind of variable", "G general, A address, P predicate, S sampler, T surface");
  }
  return kind ?? "G";
}

const alignments = ["byte", "word", "dword", "qword", "oword", "hword", "GRF", "GRFx2", "wordx32", "wordx64"];

/** Older names of alignments. */
const alignmentSynonyms: ReadonlyMap<string, string> = new Map([
  ["2GRF", "GRFx2"],
  ["32word", "wordx32"],
  ["64word", "wordx64"],
]);

/** Alignments by numbers of bytes. */
const alignmentBytes: ReadonlyMap<bigint, string> = new Map([
  [1n, "byte"],
  [2n, "word"],
  [4n, "dword"],
  [8n, "qword"],
  [16n, "oword"],
  [32n, "hword"],
  [64n, "wordx32"],
  [128n, "wordx64"],
]);

function alignment(p: Cursor): Name | null {
  const { start, end } = p;
  const text = p.token;
  const known = alignments.includes(text) ? text : alignmentSynonyms.get(text);
  if (known !== undefined) {
    p.advance();
    return { text: known, start, end };
  }
  if (p.at(Token.name) && !text.startsWith("%")) {
    const meant = nearest(text, alignments);
    const help = meant === null ? `the alignments are ${alignments.join(", ")}` : mean(meant);
    p.fail("visa-unknown-alignment", p, `'${text.slice(0, 40)}' is not an alignment`, { help });
    return null;
  }
  const bytes = constant(p);
  const name = alignmentBytes.get(bytes);
  const span = { start, end: p.previousEnd };
  if (name === undefined) {
    p.fail("visa-unknown-alignment", span, `a variable cannot be aligned to ${bytes} bytes`, {
      help: "1, 2, 4, 8, 16, 32, 64 or 128",
    });
  }
  return { text: name ?? "byte", ...span };
}

/** `<V, 32>` */
function aliasOf(p: Cursor): Declaration["alias"] {
  p.expect(Token.less, "'<'");
  const of = p.name("the name of a variable");
  p.expect(Token.comma, "','");
  const offset = count(p, 0, maxU32, "the offset", true);
  p.expect(Token.greater, "'>'");
  return { of, offset };
}

/** `attrs={Input, SimdSize=16, Target="cm"}` */
function attributeList(p: Cursor): readonly DeclarationAttribute[] {
  const attributes: DeclarationAttribute[] = [];
  if (!acceptKey(p, "attrs")) return attributes;
  if (p.at(Token.leftBrace)) p.braces = 1;
  p.expect(Token.leftBrace, "'{'");
  do {
    const { start } = p;
    const name = p.name("the name of an attribute");
    const value = p.accept(Token.assign) ? attributeValue(p) : null;
    attributes.push({ name, value, start, end: p.previousEnd });
  } while (p.accept(Token.comma));
  if (p.at(Token.rightBrace)) p.braces = 0;
  p.expect(Token.rightBrace, "',' or '}'");
  return attributes;
}

function attributeValue(p: Cursor): number | string {
  if (p.at(Token.string)) return stringLiteral(p);
  return count(p, -0x8000_0000, maxU32, "the value");
}

/** `.input V offset=32 size=64`, `.implicit_PSEUDO V offset=0 size=4 attrs={...}` */
export function input(p: Cursor, implicit: string): Input | null {
  const { start } = p;
  p.advance();
  const name = variableName(p);
  const offset = acceptKey(p, "offset") ? count(p, 0, 0x7fff, "the offset") : null;
  const size = acceptKey(p, "size") ? count(p, 0, 0xffff, "the size") : null;
  const attributes = implicit === "" ? [] : attributeList(p);
  if (p.panicking) return null;
  return { kind: "input", start, end: p.previousEnd, implicit, name, offset, size, attributes };
}

/** `.parameter V size=4` */
export function parameter(p: Cursor): Parameter | null {
  const { start } = p;
  p.advance();
  const name = variableName(p);
  const size = acceptKey(p, "size") ? count(p, 0, 0xffff, "the size") : null;
  return p.panicking ? null : { kind: "parameter", start, end: p.previousEnd, name, size };
}

/** `.kernel_attr SimdSize=16`, `.kernel_attr Target="cm"`, `.kernel_attr Callable` */
export function kernelAttribute(p: Cursor): Attribute | null {
  const { start } = p;
  p.advance();
  const name = ownName(p, "the name of an attribute");
  const value = p.accept(Token.assign) && !p.atEnd ? attributeValue(p) : null;
  if (p.panicking) return null;
  if (name.text === "SimdSize" && typeof value === "number") p.constants.dispatchSimd = value;
  return { kind: "attribute", start, end: p.previousEnd, name, value };
}

/** `.function "x"`, `.funcdecl "x"` */
export function functionDirective(p: Cursor): FunctionDirective | null {
  const { start } = p;
  p.advance();
  const name = routineName(p, "the name of a function");
  return p.panicking ? null : { kind: "function-directive", start, end: p.previousEnd, name };
}

export function functionDeclaration(p: Cursor): FunctionDeclaration | null {
  const directive = functionDirective(p);
  return directive === null ? null : { ...directive, kind: "funcdecl" };
}
