import { type Expr, kit as k } from "../../semantics/index.ts";
import type { ExecSize, Operand, Predicate } from "../tree.ts";
import type { LowerContext } from "./context.ts";
import { converted, integerLike } from "./conversion.ts";
import { type LowerSpecial, pure, readOperands } from "./channel-operands.ts";
import { lanesOf } from "./guard.ts";
import { once } from "../instruction-operands.ts";
import { channel } from "./element.ts";

/** `mov`. A predicate is moved as a whole, once, whatever mask is written, as IGC does. */
export const move: LowerSpecial = (context, instruction) => {
  const isWhole = instruction.operands["src0"]!.kind === "name";
  const { dst, sources, undefinedCases } = readOperands(
    context,
    isWhole ? { ...instruction, exec: once } : instruction,
  );
  const lowered = pure(converted(sources[0]!, dst.type, instruction.saturate), dst, undefinedCases);
  return isWhole ? lowered.map((move) => ({ ...move, lanes: lanesOf(once) })) : lowered;
};

/** `sel`: the predicate chooses, and all active channels are written. */
export const select: LowerSpecial = (context, instruction) => {
  const { exec, dst, sources, undefinedCases } = readOperands(context, instruction);
  const [a, b] = sources
    .map((s) => converted(s, dst.type, instruction.saturate))
    .map((value) => k.bitcast(value, integerLike(value)));
  const value = instruction.predicate === null ? a! : k.select(holds(context, instruction.predicate, exec), a!, b!);
  return pure(value, dst, undefinedCases).map((lowered) => ({ ...lowered, unguarded: true }));
};

/** The value of a predicate: first `any` or `all` over the instruction's channels, then `!`. */
function holds(context: LowerContext, { name, collapse, inverted }: Predicate, exec: ExecSize): Expr {
  const reg = context.registerOf(context.variable(name));
  const bit: Expr = { kind: "reg", ty: "pred", reg };
  const value = collapse === null ? bit : collapsed(reg, collapse, exec);
  return inverted ? k.not(value) : value;
}

function collapsed(reg: number, collapse: "any" | "all", { size, offset }: ExecSize): Expr {
  const channels = k.i32((2 ** size - 1) * 2 ** offset);
  const set = k.and({ kind: "lane-word", ty: "i32", reg }, channels);
  return collapse === "any" ? k.ne(set, k.i32(0)) : k.eq(set, channels);
}

/** `setp`: bit i of a scalar for channel i, or bit 0 of each channel's element. */
export const setPredicate: LowerSpecial = (context, instruction) => {
  const { exec, dst, sources, undefinedCases } = readOperands(context, instruction);
  const word = converted(sources[0]!, "ud", false);
  const isWhole = isScalar(instruction.operands["src0"]!);
  const shifted = isWhole ? k.shr(word, channel(exec), false) : word;
  const lowered = pure(k.ne(k.and(shifted, k.i32(1)), k.i32(0)), dst, undefinedCases);
  return isWhole ? lowered.map((set) => ({ ...set, lanes: lanesOf({ ...exec, noMask: true }) })) : lowered;
};

const isScalar = (operand: Operand): boolean =>
  operand.kind === "immediate"
    ? !["v", "uv"].includes(operand.type)
    : (operand.kind === "general" || operand.kind === "indirect") &&
      operand.region.vertical === 0 &&
      operand.region.width === 1;

/** `movs`: handles of surfaces and samplers are indices. */
export const moveState: LowerSpecial = (context, instruction) => {
  const { dst, sources, undefinedCases } = readOperands(context, instruction);
  return pure(converted(sources[0]!, "ud", false), dst, undefinedCases);
};

/** `addr_add`: an address is an offset in the byte file; 16-bit offsets are signed. */
export const addAddress: LowerSpecial = (context, instruction) => {
  const { dst, sources, undefinedCases } = readOperands(context, instruction);
  const [base, offset] = sources;
  const step = converted(offset!, "ud", false);
  const isWord = offset!.type === "uw" || offset!.type === "w";
  const address = k.add(converted(base!, "ud", false), isWord ? k.narrow(step, 16, true) : step);
  return pure(address, dst, undefinedCases);
};

/** `fcvt`: bf8 (`ub`) is the upper byte of a half, tf32 (`ud`) a float whose low bits are 0. */
export const convertNarrow: LowerSpecial = (context, instruction) => {
  const { dst, sources, undefinedCases } = readOperands(context, instruction);
  const { expr, type } = sources[0]!;
  switch (`${type} ${dst.type}`) {
    case "ub hf":
      return pure(k.shl(expr, k.i32(8)), dst, undefinedCases);
    case "hf ub": {
      const nearest = k.add(k.i32(0x7f), k.and(k.shr(expr, k.i32(8), false), k.i32(1)));
      return pure(upperByte(expr, nearest), dst, undefinedCases);
    }
    case "ud f":
      return pure(k.bitcast(expr, "f32"), dst, undefinedCases);
    case "f ud":
      return pure(k.op("i32.tf32_from_f64_rn", k.op("f64.from_f32", k.op("f32.ftz", expr))), dst, undefinedCases);
    default:
      return null;
  }
};

/**
 * `srnd`: the random bits are added below the bits that the result keeps, and whatever is below these is then cut off.
 */
export const roundStochastically: LowerSpecial = (context, instruction) => {
  const { dst, sources, undefinedCases } = readOperands(context, instruction);
  const [value, random] = sources;
  const bits = random!.expr.ty === "f32" ? k.bitcast(random!.expr, "i32") : random!.expr;
  switch (`${value!.type} ${dst.type}`) {
    case "hf ub":
      return pure(upperByte(value!.expr, k.and(bits, k.i32(0xff))), dst, undefinedCases);
    case "f hf":
      return pure(k.op("i32.f16_from_f64_rs", k.op("f64.from_f32", value!.expr), bits), dst, undefinedCases);
    default:
      return null;
  }
};

/** The upper byte of a half after adding to its magnitude; infinities stay, NaNs become quiet. */
function upperByte(half: Expr, increment: Expr): Expr {
  const sign = k.and(half, k.i32(0x8000));
  const magnitude = k.and(half, k.i32(0x7fff));
  const infinity = k.i32(0x7c00);
  const rounded = k.min(k.add(magnitude, increment), k.i32(0x7cff), true);
  const finite = k.select(k.lt(magnitude, infinity, true), rounded, infinity);
  const value = k.select(k.lt(infinity, magnitude, true), k.i32(0x7e00), finite);
  return k.shr(k.or(sign, value), k.i32(8), false);
}
