import { type Destination, fileLayout, type UndefinedCase } from "../../ir/index.ts";
import { type Expr, kit as k, type Region, type RegionLeaf } from "../../semantics/index.ts";
import type { BoundRoutine, Variable } from "../symbols.ts";
import type {
  ExecSize,
  GeneralOperand,
  Immediate,
  IndirectOperand,
  NameOperand,
  Operand,
  RawOperand,
  Region as WrittenRegion,
} from "../tree.ts";
import { type DataType, isSigned, typeBytes } from "../types.ts";
import type { LowerContext } from "./context.ts";

type Bits = 8 | 16 | 32 | 64;

/**
 * An operand as it lies in the register file: integers in an `i32` (those of 8 and 16 bits extended) or `i64`, `f` and `df`
 * as `f32` and `f64`, `hf` and `bf` as patterns in an `i32`. Source modifiers are not applied.
 */
export interface Source {
  readonly expr: Expr;
  readonly type: DataType;
  /** Addresses outside of every variable that they could mean. */
  readonly undefinedCases: readonly UndefinedCase[];
}

const bitsOf = (type: DataType): Bits => (typeBytes(type) * 8) as Bits;

/** The type of the expressions in which elements of a type travel. */
const irType = (type: DataType): "i32" | "i64" | "f32" | "f64" =>
  type === "f" ? "f32" : type === "df" ? "f64" : typeBytes(type) === 8 ? "i64" : "i32";

/** Bytes of an element of an address variable, and of the slot of a surface or sampler. */
const slotBytes = 4;

const scalar = { vertical: 0, width: 1, horizontal: 0 } as const;

/** What an operand reads. `%null` and what cannot be read give 0. */
export function source(context: LowerContext, operand: Operand, exec: ExecSize): Source {
  switch (operand.kind) {
    case "general":
      return plain(general(context, operand, exec), context.variable(operand.variable).type);
    case "indirect":
      return indirect(context, operand, exec);
    case "immediate":
      return immediate(operand, exec);
    case "address": {
      const at = context.placeOf(context.variable(operand.variable)) + operand.element * slotBytes;
      const region = { at, first: exec.offset, vertical: 0, width: operand.width, horizontal: 1 };
      return plain(leaf("ud", region), "ud");
    }
    case "address-of":
      return plain(k.i32(context.placeOf(context.variable(operand.variable)) + operand.offset), "ud");
    case "state": {
      const at = context.placeOf(context.variable(operand.variable)) + operand.element * slotBytes;
      return plain(leaf("ud", { at, first: exec.offset, vertical: 1, width: 1, horizontal: 0 }), "ud");
    }
    case "name":
      return plain(predicateWord(context, operand), "ud");
    default:
      return plain(k.i32(0), "ud");
  }
}

const plain = (expr: Expr, type: DataType): Source => ({ expr, type, undefinedCases: [] });

const leaf = (type: DataType, region: Region): RegionLeaf => ({
  kind: "region",
  ty: irType(type),
  bits: bitsOf(type),
  signed: isSigned(type),
  region,
});

/** The byte at which `V(row,column)` begins. */
function placeOfElement(context: LowerContext, { variable: name, row, column }: GeneralOperand): number {
  const variable = context.variable(name);
  return context.placeOf(variable) + row * context.routine.grfBytes + column * typeBytes(variable.type);
}

/** The strides of a region, `vertical` null where each row has an address. Without a region elements lie one behind the other. */
function stridesOf({ vertical, width, horizontal }: WrittenRegion, exec: ExecSize) {
  if (exec.size === 1) return scalar;
  if (width === null) return { vertical: horizontal ?? 1, width: 1, horizontal: 0 };
  return { vertical, width, horizontal: horizontal ?? 0 };
}

/** The elements that `V(row,column)<v;w,h>` names. */
function regionOf(context: LowerContext, operand: GeneralOperand, exec: ExecSize): Region {
  const { vertical, ...row } = stridesOf(operand.region, exec);
  return { at: placeOfElement(context, operand), first: exec.offset, vertical: vertical ?? 0, ...row };
}

function general(context: LowerContext, operand: GeneralOperand, exec: ExecSize): Expr {
  const variable = context.variable(operand.variable);
  const region = regionOf(context, operand, exec);
  if (isPredefined(variable, "%null")) return zero(variable.type);
  if (isPredefined(variable, "%tsc")) return timeStamp(variable.type, region);
  return leaf(variable.type, region);
}

/**
 * One element of a group for all channels of the group: channel e reads what channel `group * floor(e / group) + index` would.
 * Null where a region does not keep groups together, and for other operands than variables and unpacked immediates.
 */
export function component(
  context: LowerContext,
  operand: Operand,
  exec: ExecSize,
  group: number,
  index: number,
): Source | null {
  if (operand.kind === "immediate" && !["v", "uv", "vf"].includes(operand.type)) return source(context, operand, exec);
  if (operand.kind !== "general") return null;
  const { type } = context.variable(operand.variable);
  const { at, first, vertical, width, horizontal } = regionOf(context, operand, exec);
  const linear = width === 1 ? vertical : vertical === width * horizontal ? horizontal : null;
  const stride = linear ?? (width === group ? horizontal : null);
  if (stride === null) return null;
  const region = {
    at: at + index * stride * typeBytes(type),
    first,
    vertical: linear === null ? vertical : group * linear,
    width: group,
    horizontal: 0,
  };
  return plain(leaf(type, region), type);
}

/** Elements of a variable from where an operand begins, whatever its region: `index` and a pattern of strides. */
export function elements(
  context: LowerContext,
  operand: Operand | undefined,
  exec: ExecSize,
  index: number,
  strides: Pick<Region, "vertical" | "width" | "horizontal"> = scalar,
): Source | null {
  if (operand?.kind !== "general") return null;
  const { type } = context.variable(operand.variable);
  const at = placeOfElement(context, operand);
  return plain(leaf(type, { at: at + index * typeBytes(type), first: exec.offset, ...strides }), type);
}

/** The byte of the file at which a variable or raw operand begins; null for the rest and for `%null`. */
export function placeOfOperand(context: LowerContext, operand: Operand | undefined): number | null {
  if (operand?.kind !== "general" && operand?.kind !== "raw") return null;
  const variable = context.variable(operand.variable);
  if (isPredefined(variable, "%null")) return null;
  if (operand.kind === "raw") return context.placeOf(variable) + operand.offset;
  return placeOfElement(context, operand);
}

const isPredefined = ({ root }: Variable, name: string): boolean => root.predefined && root.name === name;

const zero = (type: DataType): Expr => ({ i32: k.i32(0), i64: k.i64(0n), f32: k.f32(0), f64: k.f64(0) })[irType(type)];

/** %tsc: the first two doublewords count clocks; the rest, events of the thread, stay 0. */
function timeStamp(type: DataType, region: Region): Expr {
  const clock: Expr = { kind: "special", ty: "i64", name: "clock64" };
  const bits = bitsOf(type);
  const byte = k.add(k.i32(region.at - fileLayout.tsc.at), elementByte(region, bits));
  const shifted = k.shr(clock, k.shl(byte, k.i32(3)), false);
  if (bits === 64) return shifted;
  const word = k.wrap(shifted);
  return type === "f" ? k.bitcast(word, "f32") : k.narrow(word, bits, isSigned(type));
}

const laneId: Expr = { kind: "special", ty: "i32", name: "laneid" };

/** The channel of an instruction that a lane is, counted from 0. */
export const channel = (exec: Pick<ExecSize, "offset">): Expr =>
  exec.offset === 0 ? laneId : k.sub(laneId, k.i32(exec.offset));

/** Bytes from the first element of a region to a lane's. */
function elementByte({ first, vertical, width, horizontal }: Omit<Region, "at">, bits: number): Expr {
  const bytes = bits / 8;
  const e = channel({ offset: first });
  if (width === 1 || vertical === width * horizontal) {
    const stride = (width === 1 ? vertical : horizontal) * bytes;
    return stride === 0 ? k.i32(0) : k.mul(e, k.i32(stride));
  }
  const row = k.shr(e, k.i32(Math.log2(width)), false);
  const column = k.and(e, k.i32(width - 1));
  return k.add(k.mul(row, k.i32(vertical * bytes)), k.mul(column, k.i32(horizontal * bytes)));
}

// ---- Indirect operands ----------------------------------------------------------------------------------------------

/** The bytes that `r[A(k),offset]<region>` names, lane by lane. */
function addressOf(context: LowerContext, operand: IndirectOperand, exec: ExecSize): Expr {
  const { vertical, width, horizontal } = stridesOf(operand.region, exec);
  const at = context.placeOf(context.variable(operand.variable)) + operand.element * slotBytes;
  const first = exec.offset;
  // Without a vertical stride each row has an address of its own.
  const rows = vertical === null ? { vertical: 1, width, horizontal: 0 } : scalar;
  const base = leaf("d", { at, first, ...rows });
  const within = elementByte({ first, vertical: vertical ?? 0, width, horizontal }, bitsOf(operand.type));
  return k.add(k.add(base, k.i32(operand.offset)), within);
}

function indirect(context: LowerContext, operand: IndirectOperand, exec: ExecSize): Source {
  const { type } = operand;
  const address = addressOf(context, operand, exec);
  return {
    expr: { kind: "indirect", ty: irType(type), bits: bitsOf(type), signed: isSigned(type), address },
    type,
    undefinedCases: [outsideOf(context, address, typeBytes(type))],
  };
}

/** "The value of an indirect operand must be elements within one base General variable" (5_operands.md). */
function outsideOf(context: LowerContext, address: Expr, bytes: number): UndefinedCase {
  const inside = pointees(context).map((variable) => {
    const distance = k.sub(address, k.i32(context.placeOf(variable)));
    return k.le(distance, k.i32(variable.bytes - bytes), false);
  });
  return {
    code: "register-out-of-bounds",
    when: k.not(inside.reduce((a, b) => k.op("pred.or", a, b), k.pred(false))),
  };
}

const pointeesOf = new WeakMap<BoundRoutine, readonly Variable[]>();

/** The variables that addresses can point to: those whose address the routine takes, and where it takes none, all. */
function pointees({ routine }: LowerContext): readonly Variable[] {
  let variables = pointeesOf.get(routine);
  if (variables === undefined) {
    const taken = new Set<Variable>();
    for (const { operands } of routine.instructions) {
      for (const operand of Object.values(operands)) {
        if (operand.kind === "address-of") taken.add(routine.variableOf.get(operand.variable)!.root);
      }
    }
    const declared = routine.variables.filter(({ predefined, alias }) => !predefined && alias === null);
    variables = (taken.size > 0 ? [...taken] : declared).filter(({ kind }) => kind === "G");
    pointeesOf.set(routine, variables);
  }
  return variables;
}

// ---- Immediates -----------------------------------------------------------------------------------------------------

/** Packed immediates are vectors of words (`v`, `uv`) or floats (`vf`). */
function immediate({ type, bits }: Immediate, exec: ExecSize): Source {
  switch (type) {
    case "v":
      return plain(packed(bits, 4, 7, true, exec), "w");
    case "uv":
      return plain(packed(bits, 4, 7, false, exec), "uw");
    case "vf":
      return plain(restrictedFloat(packed(bits, 8, 3, false, exec)), "f");
    case "q":
    case "uq":
      return plain(k.i64(bits), type);
    case "df":
      return plain(k.bitcast(k.i64(bits), "f64"), type);
    case "f":
      return plain(k.bitcast(k.i32(Number(BigInt.asIntN(32, bits))), "f32"), type);
    default: {
      const width = bitsOf(type);
      const value = isSigned(type) ? BigInt.asIntN(width, bits) : BigInt.asUintN(width, bits);
      return plain(k.i32(Number(value)), type);
    }
  }
}

/** Element (channel modulo count) of a packed immediate; `last` is the count less 1. */
function packed(bits: bigint, width: 4 | 8, last: number, signed: boolean, exec: ExecSize): Expr {
  const vector = k.i32(Number(BigInt.asIntN(32, bits)));
  if (exec.size === 1) return k.field(vector, 0, width, signed);
  const place = k.mul(k.and(channel(exec), k.i32(last)), k.i32(width));
  return k.field(k.shr(vector, place, false), 0, width, signed);
}

/** A sign, 3 bits of exponent (bias 3) and 4 of fraction, without subnormals: 0x00 and 0x80 are zeros. */
function restrictedFloat(pattern: Expr): Expr {
  const sign = k.shl(k.and(pattern, k.i32(0x80)), k.i32(24));
  const rest = k.and(pattern, k.i32(0x7f));
  // Exponent and fraction at their places in binary32, whose bias is 124 more.
  const magnitude = k.add(k.shl(rest, k.i32(19)), k.i32(124 << 23));
  return k.bitcast(k.or(sign, k.select(k.eq(rest, k.i32(0)), k.i32(0), magnitude)), "f32");
}

// ---- Predicates -----------------------------------------------------------------------------------------------------

/** The whole variable as a number, element 0 in the lowest bit. */
function predicateWord(context: LowerContext, { name }: NameOperand): Expr {
  const variable = context.variable(name);
  const word: Expr = { kind: "lane-word", ty: "i32", reg: context.registerOf(variable) };
  return variable.elements >= 32 ? word : k.and(word, k.i32(2 ** variable.elements - 1));
}

/** A lane's element of a predicate. */
export const predicateSource = (context: LowerContext, { name }: NameOperand): Expr => ({
  kind: "reg",
  ty: "pred",
  reg: context.registerOf(context.variable(name)),
});

// ---- Destinations ---------------------------------------------------------------------------------------------------

export interface Target {
  readonly to: Destination;
  /** `bool` of a predicate. */
  readonly type: DataType;
  readonly undefinedCases: readonly UndefinedCase[];
}

/** Where an operand writes. Null for `%null`. */
export function destination(context: LowerContext, operand: Operand, exec: ExecSize): Target {
  const target = (to: Destination, type: DataType): Target => ({ to, type, undefinedCases: [] });
  switch (operand.kind) {
    case "general": {
      const variable = context.variable(operand.variable);
      const { type } = variable;
      const region = regionOf(context, operand, exec);
      return target(isPredefined(variable, "%null") ? null : { kind: "region", bits: bitsOf(type), region }, type);
    }
    case "indirect": {
      const address = addressOf(context, operand, exec);
      return {
        to: { kind: "indirect", bits: bitsOf(operand.type), address },
        type: operand.type,
        undefinedCases: [outsideOf(context, address, typeBytes(operand.type))],
      };
    }
    case "address":
    case "state": {
      const at = context.placeOf(context.variable(operand.variable)) + operand.element * slotBytes;
      const region = { at, first: exec.offset, vertical: 1, width: 1, horizontal: 0 };
      return target({ kind: "region", bits: 32, region }, "ud");
    }
    case "name":
      return target(context.registerOf(context.variable(operand.name)), "bool");
    default:
      return target(null, "ud");
  }
}

// ---- Raw operands ---------------------------------------------------------------------------------------------------

const rawPlace = (
  context: LowerContext,
  raw: RawOperand,
  bits: Bits,
  exec: Pick<ExecSize, "offset">,
  element: number,
  stride: number,
): Region => ({
  at: context.placeOf(context.variable(raw.variable)) + raw.offset + (element * bits) / 8,
  first: exec.offset,
  vertical: stride,
  width: 1,
  horizontal: 0,
});

const isNull = (context: LowerContext, raw: RawOperand): boolean =>
  isPredefined(context.variable(raw.variable), "%null");

/** Elements of `bits` from `element` on, `stride` elements from lane to lane; 0 for `%null`. */
export const rawRegion = (
  context: LowerContext,
  raw: RawOperand,
  bits: Bits,
  signed: boolean,
  exec: Pick<ExecSize, "offset">,
  element = 0,
  stride = 1,
): Expr => {
  const ty = bits === 64 ? "i64" : "i32";
  if (isNull(context, raw)) return ty === "i64" ? k.i64(0n) : k.i32(0);
  return { kind: "region", ty, bits, signed, region: rawPlace(context, raw, bits, exec, element, stride) };
};

/** The same as a destination; null for `%null`. */
export const rawTarget = (
  context: LowerContext,
  raw: RawOperand,
  bits: Bits,
  exec: Pick<ExecSize, "offset">,
  element = 0,
  stride = 1,
): Destination =>
  isNull(context, raw) ? null : { kind: "region", bits, region: rawPlace(context, raw, bits, exec, element, stride) };
