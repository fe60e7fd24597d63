import { type Destination, fileLayout, type UndefinedCase } from "../../ir/index.ts";
import { type Expr, kit as k, type Region } from "../../semantics/index.ts";
import type { BoundRoutine, Variable } from "../symbols.ts";
import type {
  ExecSize,
  GeneralOperand,
  IndirectOperand,
  NameOperand,
  Operand,
  Region as WrittenRegion,
} from "../tree.ts";
import { type DataType, isSigned, typeBytes } from "../types.ts";
import type { LowerContext } from "./context.ts";
import { bitsOf, channel, irType, leaf, plain, type Source } from "./element.ts";
import { immediate } from "./immediate.ts";

/** Bytes of an element of an address variable, and of the slot of a surface or sampler. */
const slotBytes = 4;

const scalar = { vertical: 0, width: 1, horizontal: 0 } as const;

/** The value of a source operand. `%null`, and operands that cannot be read, give 0. */
export function source(context: LowerContext, operand: Operand, exec: ExecSize): Source {
  switch (operand.kind) {
    case "general":
      return plain(general(context, operand, exec), context.variable(operand.variable).type);
    case "indirect":
      return indirect(context, operand, exec);
    case "immediate":
      return immediate(operand, exec);
    case "address": {
      const at = context.offsetOf(context.variable(operand.variable)) + operand.element * slotBytes;
      const region = { at, first: exec.offset, vertical: 0, width: operand.width, horizontal: 1 };
      return plain(leaf("ud", region), "ud");
    }
    case "address-of":
      return plain(k.i32(context.offsetOf(context.variable(operand.variable)) + operand.offset), "ud");
    case "state": {
      const at = context.offsetOf(context.variable(operand.variable)) + operand.element * slotBytes;
      return plain(leaf("ud", { at, first: exec.offset, vertical: 1, width: 1, horizontal: 0 }), "ud");
    }
    case "name":
      return plain(predicateWord(context, operand), "ud");
    default:
      return plain(k.i32(0), "ud");
  }
}

/** The offset in the byte file of `V(row,column)`. */
function offsetOfElement(context: LowerContext, { variable: name, row, column }: GeneralOperand): number {
  const variable = context.variable(name);
  return context.offsetOf(variable) + row * context.routine.grfBytes + column * typeBytes(variable.type);
}

/**
 * The strides of a region; `vertical` is null if each row has an address of its own. Without a region, elements are
 * consecutive.
 */
function stridesOf({ vertical, width, horizontal }: WrittenRegion, exec: ExecSize) {
  if (exec.size === 1) return scalar;
  if (width === null) return { vertical: horizontal ?? 1, width: 1, horizontal: 0 };
  return { vertical, width, horizontal: horizontal ?? 0 };
}

/** The elements of `V(row,column)<v;w,h>`. */
function regionOf(context: LowerContext, operand: GeneralOperand, exec: ExecSize): Region {
  const { vertical, ...row } = stridesOf(operand.region, exec);
  return { at: offsetOfElement(context, operand), first: exec.offset, vertical: vertical ?? 0, ...row };
}

function general(context: LowerContext, operand: GeneralOperand, exec: ExecSize): Expr {
  const variable = context.variable(operand.variable);
  const region = regionOf(context, operand, exec);
  if (isPredefined(variable, "%null")) return zero(variable.type);
  if (isPredefined(variable, "%ce0")) return { kind: "lane-word", ty: "i32", reg: context.maskRegister };
  if (isPredefined(variable, "%tsc")) return timeStamp(variable.type, region);
  return leaf(variable.type, region);
}

/**
 * One element of each group, for all channels of the group: channel e reads the element that channel
 * `group * floor(e / group) + index` would. Null if the region does not keep groups together, and for operands other
 * than variables and unpacked immediates.
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

/**
 * Elements of a variable from an operand's start on, whatever its region: the first has the number `index`, and
 * `strides` gives the pattern.
 */
export function elements(
  context: LowerContext,
  operand: Operand | undefined,
  exec: ExecSize,
  index: number,
  strides: Pick<Region, "vertical" | "width" | "horizontal"> = scalar,
): Source | null {
  if (operand?.kind !== "general") return null;
  const { type } = context.variable(operand.variable);
  const at = offsetOfElement(context, operand);
  return plain(leaf(type, { at: at + index * typeBytes(type), first: exec.offset, ...strides }), type);
}

/** The offset in the byte file of a general or raw operand; null for any other and for `%null`. */
export function offsetOfOperand(context: LowerContext, operand: Operand | undefined): number | null {
  if (operand?.kind !== "general" && operand?.kind !== "raw") return null;
  const variable = context.variable(operand.variable);
  if (isPredefined(variable, "%null")) return null;
  if (operand.kind === "raw") return context.offsetOf(variable) + operand.offset;
  return offsetOfElement(context, operand);
}

const isPredefined = ({ root }: Variable, name: string): boolean => root.predefined && root.name === name;

const zero = (type: DataType): Expr => ({ i32: k.i32(0), i64: k.i64(0n), f32: k.f32(0), f64: k.f64(0) })[irType(type)];

/** %tsc: the first two doublewords count clocks; the rest, which count events of the thread, stay 0. */
function timeStamp(type: DataType, region: Region): Expr {
  const clock: Expr = { kind: "special", ty: "i64", name: "clock64" };
  const bits = bitsOf(type);
  const byte = k.add(k.i32(region.at - fileLayout.tsc.at), elementByte(region, bits));
  const shifted = k.shr(clock, k.shl(byte, k.i32(3)), false);
  if (bits === 64) return shifted;
  const word = k.wrap(shifted);
  return type === "f" ? k.bitcast(word, "f32") : k.narrow(word, bits, isSigned(type));
}

/** Bytes from the first element of a region to that of a lane. */
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

/** The addresses of `r[A(k),offset]<region>`, lane by lane. */
function addressOf(context: LowerContext, operand: IndirectOperand, exec: ExecSize): Expr {
  const { vertical, width, horizontal } = stridesOf(operand.region, exec);
  const at = context.offsetOf(context.variable(operand.variable)) + operand.element * slotBytes;
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

/**
 * "The value of an indirect operand must be elements within one base General variable" (5_operands.md): true for an
 * address where this does not hold.
 */
function outsideOf(context: LowerContext, address: Expr, bytes: number): UndefinedCase {
  const inside = pointees(context).map((variable) => {
    const distance = k.sub(address, k.i32(context.offsetOf(variable)));
    return k.le(distance, k.i32(variable.bytes - bytes), false);
  });
  return {
    code: "register-out-of-bounds",
    when: k.not(inside.reduce((a, b) => k.op("pred.or", a, b), k.pred(false))),
  };
}

const pointeesOf = new WeakMap<BoundRoutine, readonly Variable[]>();

/** The variables that addresses can point to: those whose address the routine takes or, if it takes none, all. */
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

// ---- Predicates -----------------------------------------------------------------------------------------------------

/** A whole predicate variable as a number, element 0 in the lowest bit. */
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

/** A destination operand. */
export interface Target {
  readonly to: Destination;
  /** `bool` for a predicate. */
  readonly type: DataType;
  readonly undefinedCases: readonly UndefinedCase[];
}

/** The destination that an operand names; null for `%null`. */
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
      const at = context.offsetOf(context.variable(operand.variable)) + operand.element * slotBytes;
      const region = { at, first: exec.offset, vertical: 1, width: 1, horizontal: 0 };
      return target({ kind: "region", bits: 32, region }, "ud");
    }
    case "name":
      return target(context.registerOf(context.variable(operand.name)), "bool");
    default:
      return target(null, "ud");
  }
}
