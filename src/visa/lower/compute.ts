import { type Expr, kit as k } from "../../semantics/index.ts";
import type { Execution, IntegerSemantics } from "../isa/execution.ts";
import type { Instruction } from "../tree.ts";
import { type DataType, isFloat, isSigned, typeBytes } from "../types.ts";
import type { LowerContext, Lowered, LowerInstruction } from "./context.ts";
import { storedFloat, storedInteger } from "./conversion.ts";
import { floatArithmetic } from "./float-arithmetic.ts";
import { pure, readOperands, sourceOperands, unsupported } from "./channel-operands.ts";
import { once } from "../instruction-operands.ts";
import { destination, predicateSource } from "./operands.ts";
import { formatOf, type ModifiedSource, promote, promoted, promotedFloat, rangeOf } from "./promotion.ts";
import { specialInstructions } from "./special.ts";

type Compute = Extract<Execution, { kind: "compute" }>;

/** Lowers an instruction that only computes: the sources in the execution type, the result in the destination's. */
export const lowerCompute: LowerInstruction = (context, instruction) => {
  const { execution, name } = instruction.row;
  const result =
    execution.kind === "compute"
      ? channelwise(context, instruction, execution)
      : specialInstructions[name]?.(context, instruction);
  return result ?? [unsupported(instruction, "it is not modelled with operands of these types")];
};

function channelwise(context: LowerContext, instruction: Instruction, semantics: Compute): readonly Lowered[] | null {
  const { integer, float } = semantics;
  if (instruction.operands["dst"]?.kind === "name") return onPredicates(context, instruction, integer);
  const { dst, sources, undefinedCases } = readOperands(context, instruction);
  const format = formatOf([...sources.map(({ type }) => type), dst.type]);
  if (format !== null) {
    if (float === undefined || !sources.every(({ type }) => isFloat(type))) return null;
    const arithmetic = floatArithmetic[format];
    const value = float(arithmetic, ...sources.map((s) => promotedFloat(s, format)));
    return pure(storedFloat(value, dst.type, instruction.saturate), dst, undefinedCases);
  }
  if (integer === undefined) return null;
  return pure(integerResult(integer, sources, dst.type, instruction.saturate), dst, undefinedCases);
}

/** Logic on predicates, where all operands are predicates. */
function onPredicates(
  context: LowerContext,
  { operands, exec }: Instruction,
  integer: IntegerSemantics | undefined,
): readonly Lowered[] | null {
  const sources = sourceOperands(operands).flatMap((o) => (o.kind === "name" ? [predicateSource(context, o)] : []));
  if (integer === undefined || sources.length !== sourceOperands(operands).length) return null;
  const dst = destination(context, operands["dst"]!, exec ?? once);
  const terms = { signed: false, sourceBits: 1, resultBits: 1, signedResult: false, sum: () => sources[0]! };
  return pure(integer.sem({ ...terms, product: k.mul, plus: k.add }, ...sources), dst, []);
}

function integerResult(
  { domain, shifts, sem }: IntegerSemantics,
  sources: readonly ModifiedSource[],
  to: DataType,
  saturate: boolean,
): Expr {
  const resultBits = typeBytes(to) * 8;
  const [first, second] = sources;
  const values = shifts ? [first!] : sources;
  const { sources: terms, signed } = promote(values, domain, resultBits, saturate);
  const count = k.i32(resultBits === 64 ? 63 : 31);
  const counts = shifts ? [k.and(promoted(second!, "i32"), count)] : [];
  const wide = saturate && sources.some(({ type }) => typeBytes(type) === 8);
  let resultSigned = signed;
  const value = sem(
    {
      signed,
      sourceBits: typeBytes(first!.type) * 8,
      resultBits,
      signedResult: isSigned(to),
      sum: () => {
        if (!wide) return k.add(terms[0]!, terms[1]!);
        resultSigned = to !== "uq";
        return wideSum(first!, second!, to);
      },
      product: (a, b) => (saturate ? clampedProduct(a, b, signed) : k.mul(a, b)),
      plus: (a, b) => (saturate ? k.op("i64.add_clamped", a, b, k.i32(signed ? 0 : 0x13)) : k.add(a, b)),
    },
    ...terms,
    ...counts,
  );
  return storedInteger(value, resultSigned, to, saturate);
}

/** The product of two 64-bit numbers, clamped to 64 bits. */
function clampedProduct(a: Expr, b: Expr, signed: boolean): Expr {
  const low = k.mul(a, b);
  const high = k.mulHigh(a, b, signed);
  if (!signed) return k.select(k.eq(high, k.i64(0n)), low, k.i64(-1n));
  const bound = k.xor(k.shr(high, k.i32(63), true), k.i64(rangeOf("q").max));
  return k.select(k.eq(high, k.shr(low, k.i32(63), true)), low, bound);
}

/** The sum of two 64-bit numbers, clamped to 64 bits. */
function wideSum(a: ModifiedSource, b: ModifiedSource, to: DataType): Expr {
  const magnitude = ({ modifier }: ModifiedSource): boolean => modifier === "abs" || modifier === "neg-abs";
  const negated = ({ modifier }: ModifiedSource): boolean => modifier === "neg" || modifier === "neg-abs";
  const value = (s: ModifiedSource): Expr => promoted({ ...s, modifier: magnitude(s) ? "abs" : null }, "i64");
  const unsigned = (s: ModifiedSource): boolean => magnitude(s) || !isSigned(s.type);
  const flags = [unsigned(a), unsigned(b), negated(a), negated(b), to === "uq"];
  const word = flags.reduce((sum, flag, i) => (flag ? sum | (1 << i) : sum), 0);
  return k.op("i64.add_clamped", value(a), value(b), k.i32(word));
}
