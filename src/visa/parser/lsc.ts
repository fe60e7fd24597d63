import type { OperandSpec, Row } from "../isa/row.ts";
import { Token } from "../lexer.ts";
import {
  type GeneralOperand,
  type Immediate,
  type LscAddress,
  type LscAddressPart,
  type LscData,
  lscModels,
  type RawOperand,
  type VectorOperand,
} from "../tree.ts";
import type { DataType } from "../types.ts";
import type { Cursor } from "./cursor.ts";
import { constant, continuedSum, count, primary, unary } from "./expressions.ts";
import { rawOperand } from "./raw-operand.ts";

type Model = LscAddress["model"];
type Shape = (OperandSpec & { readonly class: "lsc-data" })["shape"];

/**
 * The form of an address: what its brackets contain, and whether its size follows. The rows of LSC differ in nothing
 * else.
 */
interface AddressForm {
  /**
   * Whether the brackets contain numbers and scalars, such as a block's surface and position, instead of registers with
   * an address per channel.
   */
  readonly scalars: boolean;
  /** Whether the second part, the pitch, may be a number or a scalar. */
  readonly strided: boolean;
  /** Whether the size of an address follows. */
  readonly sized: boolean;
}

const forms = new WeakMap<Row, AddressForm>();

function formOf(row: Row): AddressForm {
  let form = forms.get(row);
  if (form === undefined) {
    const { mnemonic } = row;
    const scalars = mnemonic.includes("block2d");
    const sized = !scalars && !mnemonic.includes("state_info");
    forms.set(row, (form = { scalars, strided: mnemonic.includes("strided"), sized }));
  }
  return form;
}

/** `flat[V52+16]:a64`, `bti(3)[4*V1]:a32`, `ss(V2,8)[V1,V3]:a32`, `flat[B(0,0),W(0,0),H(0,0),P(0,0),X(0,0),Y(0,0)]`. */
export function lscAddress(p: Cursor, row: Row): LscAddress {
  const { start } = p;
  const form = formOf(row);
  const { model, surface, surfaceOffset } = lscModel(p);
  const base: LscAddressPart[] = [];
  let scale = 1;
  let size: LscAddress["size"] = null;
  let extra: Pick<LscAddress, "extension" | "blockOffsets"> = {};
  if (p.at(Token.leftBracket) || !row.mnemonic.startsWith("lsc_apndctr")) {
    p.expect(Token.leftBracket, "'[' and an address");
    if (!p.at(Token.name)) {
      const from = p.start;
      const first = unary(p);
      if (!form.scalars && p.accept(Token.star)) scale = scaleOf(p, first);
      else base.push({ operand: number(p, from, continuedSum(p, first), "ud"), offset: 0 });
    }
    if (base.length === 0) {
      const part = addressPart(p, form.scalars);
      base.push(part.part);
      if (part.blockOffsets !== null) extra = { blockOffsets: part.blockOffsets };
    }
    while (p.accept(Token.comma)) base.push(nextPart(p, form));
    p.expect(Token.rightBracket, "',' or ']'");
    const counter = base.length === 1 && base[0]!.operand.kind === "raw" && base[0]!.operand.variable.text === "%null";
    if (form.sized && !(counter && !p.at(Token.colon))) {
      const written = addressSize(p);
      size = written.size;
      if (written.extension !== null) extra = { ...extra, extension: written.extension };
    }
  }
  return { kind: "lsc-address", start, end: p.previousEnd, model, surface, surfaceOffset, scale, base, size, ...extra };
}

function scaleOf(p: Cursor, value: bigint): number {
  const scale = Number(value);
  if (![1, 2, 4, 8, 16, 32].includes(scale))
    p.error("visa-number-out-of-range", p, "the scale is a power of two up to 32");
  return scale;
}

/** `flat`, `bti(3)`, `bss(V1(0,2),16)`; `flat` if it is left out. */
function lscModel(p: Cursor): Pick<LscAddress, "model" | "surface" | "surfaceOffset"> {
  if (p.at(Token.leftBracket)) return { model: "flat", surface: null, surfaceOffset: null };
  const text = p.token;
  const model = lscModels.find((candidate) => candidate === text);
  if (!p.at(Token.name) || model === undefined) {
    p.unexpected("an address", `it begins with one of ${lscModels.join(", ")}`);
    return { model: "flat", surface: null, surfaceOffset: null };
  }
  p.advance();
  if (p.at(Token.leftBracket) && (model === "flat" || model === "arg")) {
    return { model, surface: null, surfaceOffset: null };
  }
  let surfaceOffset: number | null = null;
  if (model === "arg") p.unexpected("'['");
  p.expect(Token.leftParen, model === "flat" ? "'[' or '('" : "'(' and a surface");
  const surface = scalar(p, model);
  if (model !== "flat" && p.accept(Token.comma)) surfaceOffset = count(p, 0, 0xffff_ffff, "the surface's index");
  p.expect(Token.rightParen, "')'");
  return { model, surface, surfaceOffset };
}

/** A number, or one element of a variable: `V`, `V.3`, `V(0,3)`. */
function scalar(p: Cursor, model: Model | null): VectorOperand {
  const { start } = p;
  if (p.at(Token.name) && !p.atWord("%sizeof") && !p.atWord("%DispatchSimd")) return scalarVariable(p);
  return number(p, start, constant(p), model === "surf" || model === "flat" ? "uq" : "ud");
}

function number(p: Cursor, start: number, value: bigint, type: DataType): Immediate {
  const width = type === "uq" ? 64n : 32n;
  if (value < -(1n << (width - 1n)) || value >> width > 0n) {
    p.fail("visa-number-out-of-range", { start, end: p.previousEnd }, `the number does not fit ${width} bits`);
  }
  return { kind: "immediate", start, end: p.previousEnd, type, bits: BigInt.asUintN(Number(width), value) };
}

function scalarVariable(p: Cursor): GeneralOperand {
  const { start } = p;
  const variable = p.name("a variable");
  let row = 0;
  let column = 0;
  if (p.accept(Token.dot)) column = count(p, 0, 255, "the element");
  else if (p.accept(Token.leftParen)) {
    row = count(p, 0, 255, "the row");
    p.expect(Token.comma, "','");
    column = count(p, 0, 255, "the column");
    p.expect(Token.rightParen, "')'");
  }
  const region = { vertical: 0, width: 1, horizontal: 0 };
  return { kind: "general", start, end: p.previousEnd, variable, row, column, region, modifier: null };
}

function nextPart(p: Cursor, form: AddressForm): LscAddressPart {
  const scalars = form.scalars || form.strided;
  if (scalars && !p.at(Token.name)) return { operand: scalar(p, null), offset: 0 };
  return addressPart(p, scalars).part;
}

interface Part {
  readonly part: LscAddressPart;
  /** `V+(x,y)`: the position of a block whose description is in one register. */
  readonly blockOffsets: readonly [number, number] | null;
}

function addressPart(p: Cursor, scalars: boolean): Part {
  const operand: RawOperand | GeneralOperand = scalars ? scalarVariable(p) : rawOperand(p, true);
  const offset = 0;
  const negative = p.at(Token.minus);
  if (!negative && !p.at(Token.plus)) return { part: { operand, offset }, blockOffsets: null };
  p.advance();
  if (scalars && !negative && p.at(Token.leftParen)) {
    const pair = p.maybe(() => blockOffsets(p));
    if (pair !== null) return { part: { operand, offset }, blockOffsets: pair };
  }
  const { start } = p;
  const first = negative ? -primary(p) : primary(p);
  const value = Number(continuedSum(p, first));
  if (Math.abs(value) > 0x7fff_ffff) {
    p.fail("visa-number-out-of-range", { start, end: p.previousEnd }, "the offset does not fit 32 bits");
  }
  return { part: { operand, offset: value }, blockOffsets: null };
}

function blockOffsets(p: Cursor): readonly [number, number] {
  p.expect(Token.leftParen, "'('");
  const x = count(p, -0x8000_0000, 0x7fff_ffff, "the offset");
  p.expect(Token.comma, "','");
  const y = count(p, -0x8000_0000, 0x7fff_ffff, "the offset");
  p.expect(Token.rightParen, "')'");
  return [x, y];
}

/** `:a32`; with `s` or `u`, how it is extended. */
function addressSize(p: Cursor): { readonly size: 16 | 32 | 64; readonly extension: "s" | "u" | null } {
  p.expect(Token.colon, "':' and the size of an address");
  const found = p.at(Token.name) ? /^a(?:(16|32|64)|32([su]))$/.exec(p.token) : null;
  if (found === null) p.unexpected("the size of an address", "one of a16, a32, a32s, a32u, a64");
  else p.advance();
  const size = found?.[1] === "16" ? 16 : found?.[1] === "64" ? 64 : 32;
  return { size, extension: found?.[2] === "s" ? "s" : found?.[2] === "u" ? "u" : null };
}

type ShapeParts = Omit<LscData, "kind" | "register" | "start" | "end">;

/** `V53:d32x2t`, `V.64:d32.xyz`, `V:d8.2x16x8nt`. */
export function lscData(p: Cursor, shape: Shape): LscData {
  const { start } = p;
  const register = rawOperand(p, true);
  const from = p.start;
  let parts: ShapeParts | null = null;
  if (p.at(Token.colon)) {
    p.extend("extendShape");
    parts = shapeOf(p.text.slice(from + 1, p.end), shape);
    if (parts === null)
      p.fail("visa-malformed-shape", p, `${p.describe()} is not a data shape`, { help: shapes[shape] });
    else p.advance();
  } else p.unexpected("':' and the shape of the data", shapes[shape]);
  return { kind: "lsc-data", start, end: p.previousEnd, register, ...(parts ?? plain("d32")) };
}

const shapes: Readonly<Record<Shape, string>> = {
  vector: "it is a size, as in ':d32', a number of elements 'x2', and 't' for transposed",
  channels: "it is a size and channels, as in ':d32.xyzw'",
  block: "it is a size, blocks, width and height, as in ':d16.2x32x8', and 'n' or 't' for transposed and for packed",
  "typed-block": "it is the width in bytes and the height, as in ':64x2'",
};

const plain = (size: string): ShapeParts => ({ size, vector: 1, transposed: false, channels: null, block: null });

const sizeText = "[du](8[cu]32|16[cu]32h?|8|16|32|64)";
const vectorShape = new RegExp(`^${sizeText}(?:x(1|2|3|4|8|16|32|64))?(t)?$`);
const channelShape = new RegExp(`^${sizeText}\\.(x?y?z?w?)$`);
const blockShape = new RegExp(
  `^${sizeText}\\.(?:([1-9][0-9]{0,5})x)?([1-9][0-9]{0,5})x([1-9][0-9]{0,5})([nt]?)([nt]?)$`,
);
const typedBlockShape = /^([1-9][0-9]{0,5})x([1-9][0-9]{0,5})$/;

/** The size in its older spelling, which all readers know: `d32` for `u32`, and `d8c32` for `d8u32`. */
const sizeOf = (digits: string): string => `d${digits.replace("u", "c")}`;

function shapeOf(text: string, shape: Shape): ShapeParts | null {
  if (shape === "vector" || shape === "channels") {
    const vector = vectorShape.exec(text);
    if (vector !== null && shape === "vector") {
      return { ...plain(sizeOf(vector[1]!)), vector: Number(vector[2] ?? 1), transposed: vector[3] !== undefined };
    }
    const quad = channelShape.exec(text);
    if (quad === null || quad[2] === "") return null;
    const channels = [..."xyzw"].reduce((mask, letter, bit) => mask | (quad[2]!.includes(letter) ? 1 << bit : 0), 0);
    return { ...plain(sizeOf(quad[1]!)), channels };
  }
  const found = (shape === "block" ? blockShape : typedBlockShape).exec(text);
  if (found === null) return null;
  if (shape === "typed-block") {
    const block = { blocks: 1, width: Number(found[1]), height: Number(found[2]), transposed: false, vnni: false };
    return { ...plain("d32"), block };
  }
  const [, size, blocks, width, height, order, packing] = found;
  return {
    ...plain(sizeOf(size!)),
    block: {
      blocks: Number(blocks ?? 1),
      width: Number(width),
      height: Number(height),
      transposed: order === "t",
      vnni: packing === "t",
    },
  };
}
