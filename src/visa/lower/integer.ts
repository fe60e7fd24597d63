import type { Destination } from "../../ir/index.ts";
import { type Expr, fieldsOfBytes, kit as k } from "../../semantics/index.ts";
import { isSigned } from "../types.ts";
import { storedInteger } from "./conversion.ts";
import { type LowerSpecial, pure, readOperands } from "./channel-operands.ts";
import { choiceOf } from "../instruction-operands.ts";
import { destination } from "./operands.ts";
import { promote, promoted, rangeOf } from "./promotion.ts";

/** `addc`: the sum, and 1 if it overflowed 32 bits. */
export const addWithCarry: LowerSpecial = (context, instruction) =>
  withFlag(context, instruction, "carry", (a, b) => {
    const sum = k.add(a, b);
    return [sum, k.lt(sum, a, false)];
  });

/** `subb`: the difference, and 1 if it is negative. */
export const subtractWithBorrow: LowerSpecial = (context, instruction) =>
  withFlag(context, instruction, "borrow", (a, b) => [k.sub(a, b), k.lt(a, b, false)]);

const withFlag = (
  context: Parameters<LowerSpecial>[0],
  instruction: Parameters<LowerSpecial>[1],
  name: "carry" | "borrow",
  sem: (a: Expr, b: Expr) => readonly [value: Expr, flag: Expr],
): ReturnType<LowerSpecial> => {
  const { exec, dst, sources, undefinedCases } = readOperands(context, instruction);
  const flagged = destination(context, instruction.operands[name]!, exec);
  const [value, flag] = sem(promoted(sources[0]!, "i32"), promoted(sources[1]!, "i32"));
  return [
    {
      op: { kind: "pure", values: [value, k.op("i32.from_pred", flag)] },
      dst: [dst.to, flagged.to],
      undefinedCases: [...undefinedCases, ...flagged.undefinedCases],
    },
  ];
};

/** `add3.o`: its predicate is a result and guards nothing. */
export const addWithOverflow: LowerSpecial = (context, instruction) => {
  const { dst, sources, undefinedCases } = readOperands(context, instruction);
  const [a, b, c] = promote(sources, "exact", 32, false).sources as [Expr, Expr, Expr];
  const sum = k.add(k.add(a, b), c);
  const { min, max } = rangeOf(dst.type);
  const overflow = k.op("pred.or", k.lt(sum, k.i64(min), true), k.lt(k.i64(max), sum, true));
  const { predicate } = instruction;
  const flag = predicate === null ? null : context.registerOf(context.variable(predicate.name));
  return [
    {
      op: { kind: "pure", values: [storedInteger(sum, true, dst.type, false), overflow] },
      dst: [dst.to, flag],
      undefinedCases,
      unguarded: true,
    },
  ];
};

/** `madw`: the low doublewords of all channels, and the high ones from the next whole register on. */
export const multiplyWide: LowerSpecial = (context, instruction) => {
  const { exec, dst, sources, undefinedCases } = readOperands(context, instruction);
  const [a, b, c] = promote(sources, "exact", 64, false).sources as [Expr, Expr, Expr];
  const value = k.add(k.mul(a, b), c);
  const { grfBytes } = context.routine;
  const written = instruction.operands["dst"]!;
  const stride = "region" in written ? (written.region.horizontal ?? 1) : 1;
  const lowBytes = Math.ceil((exec.size * stride * 4) / grfBytes) * grfBytes;
  return [
    {
      op: { kind: "pure", values: [k.wrap(value), k.high(value)] },
      dst: [dst.to, moved(dst.to, lowBytes)],
      undefinedCases,
    },
  ];
};

function moved(to: Destination, bytes: number): Destination {
  if (to === null || typeof to === "number") return to;
  return to.kind === "region"
    ? { ...to, region: { ...to.region, at: to.region.at + bytes } }
    : { ...to, address: k.add(to.address, k.i32(bytes)) };
}

/** `bfn`: bit i + 2j + 4k of the table is the result for source bits i, j and k. */
export const lookUp: LowerSpecial = (context, instruction) => {
  const { dst, sources, undefinedCases } = readOperands(context, instruction);
  const table = Number.parseInt(choiceOf(instruction, "table").slice(1), 16);
  const [a, b, c] = sources.map((s) => promoted(s, "i32")) as [Expr, Expr, Expr];
  const value = chosen(c, inTwo(a, b, table & 15), inTwo(a, b, table >> 4));
  return pure(storedInteger(value, isSigned(dst.type), dst.type, instruction.saturate), dst, undefinedCases);
};

/** A function of two bits, whose table has the result for i and j at bit i + 2j. */
const inTwo = (a: Expr, b: Expr, table: number): Expr => chosen(b, inOne(a, table & 3), inOne(a, table >> 2));

const inOne = (a: Expr, table: number): Expr => [k.i32(0), k.not(a), a, k.i32(-1)][table]!;

/** A bitwise choice: `set` where `selector` is set, otherwise `clear`. */
const chosen = (selector: Expr, clear: Expr, set: Expr): Expr => k.xor(clear, k.and(selector, k.xor(clear, set)));

/** `dp4a`: bytes are signed if their source's type is. */
export const dotOfBytes: LowerSpecial = (context, instruction) => {
  const { dst, sources, undefinedCases } = readOperands(context, instruction);
  const [sum, a, b] = sources.map((s) => promoted(s, "i32")) as [Expr, Expr, Expr];
  const fields = fieldsOfBytes(isSigned(sources[1]!.type), isSigned(sources[2]!.type));
  if (!instruction.saturate) {
    return pure(k.op("i32.dot_packed", sum, a, b, k.i32(fields)), dst, undefinedCases);
  }
  const dot = k.op("i32.dot_packed", k.i32(0), a, b, k.i32(fields));
  const exact = k.add(k.widen(sum, isSigned(sources[0]!.type)), k.widen(dot, true));
  return pure(storedInteger(exact, true, dst.type, true), dst, undefinedCases);
};
