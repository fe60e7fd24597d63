import { type Expr, kit } from "../../semantics/index.ts";
import { slmBits } from "../byte-file.ts";
import type { Instruction } from "../instruction.ts";
import type { IrFunction, Register } from "../module.ts";
import { operandsOf } from "../operands.ts";

/** Primitives whose low bits depend on nothing but the low bits of their first operands, and of how many. */
const lowOperands: ReadonlyMap<string, number> = new Map([
  ["i32.add", 2],
  ["i32.sub", 2],
  ["i32.mul", 2],
  ["i32.or", 2],
  ["i32.xor", 2],
  ["i32.shl", 1],
]);

/** The offset of an access to shared local memory, of which the hardware decodes the low bits; null for others. */
export function maskedOffset({ op }: Pick<Instruction, "op">): { readonly offset: Expr; readonly start: Expr } | null {
  if ((op.kind !== "load" && op.kind !== "store" && op.kind !== "atomic") || op.access.space !== "shared") return null;
  const address = op.place.kind === "address" ? op.place.address : null;
  if (address?.kind !== "prim" || address.prim !== "i32.add") return null;
  const [masked, start] = address.args;
  if (masked?.kind !== "prim" || masked.prim !== "i32.and" || start?.kind !== "const") return null;
  const [offset, mask] = masked.args;
  return offset !== undefined && mask?.kind === "const" && mask.value === slmBits ? { offset, start } : null;
}

/**
 * The function without the bits that the hardware does not decode in what becomes offsets into shared local memory and
 * nothing else: IGC sets some in generic addresses. What such an offset is made of is then seen again. `isPassed`:
 * registers that calls and returns read without naming them.
 */
export function withoutTags(ir: IrFunction, isPassed: (register: Register) => boolean): IrFunction {
  if (!ir.instructions.some((instruction) => maskedOffset(instruction) !== null)) return ir;
  const registers = offsetRegisters(ir, isPassed);
  const low = (expr: Expr): Expr => {
    if (expr.kind === "const") return isTag(expr) ? kit.i32(0) : expr;
    const count = expr.kind === "prim" ? (lowOperands.get(expr.prim) ?? 0) : 0;
    if (expr.kind !== "prim" || count === 0) return expr;
    const args = expr.args.map((arg, i) => (i < count ? low(arg) : arg));
    const [a, b] = args as [Expr, Expr];
    if (count === 2 && expr.prim !== "i32.mul") {
      if (isZero(b)) return a;
      if (isZero(a) && expr.prim !== "i32.sub") return b;
    }
    return { ...expr, args };
  };
  const instructions = ir.instructions.map((instruction): Instruction => {
    const { op, dst } = instruction;
    if (op.kind === "pure") {
      const isOffset = (i: number): boolean => typeof dst[i] === "number" && registers.has(dst[i]);
      return { ...instruction, op: { ...op, values: op.values.map((v, i) => (isOffset(i) ? low(v) : v)) } };
    }
    const found = maskedOffset(instruction);
    if (found === null || (op.kind !== "load" && op.kind !== "store" && op.kind !== "atomic")) return instruction;
    const address = kit.add(kit.and(low(found.offset), kit.i32(slmBits)), found.start);
    return { ...instruction, op: { ...op, place: { kind: "address", address } } };
  });
  return { ...ir, instructions };
}

const isTag = (expr: Expr): boolean =>
  expr.kind === "const" && expr.ty === "i32" && expr.value !== 0 && ((expr.value as number) & slmBits) === 0;

const isZero = (expr: Expr): boolean => expr.kind === "const" && expr.value === 0;

/** Registers whose values nothing but offsets into shared local memory are computed from. */
function offsetRegisters(
  { registers, instructions }: IrFunction,
  isPassed: (register: Register) => boolean,
): ReadonlySet<number> {
  const mayBe = (register: Register): boolean =>
    register.class === "b32" && register.bits === 32 && !isPassed(register);
  const found = new Set(registers.flatMap((register, r) => (mayBe(register) ? [r] : [])));
  let changed = true;
  const drop = (expr: Expr): void => {
    if (expr.kind === "reg" && found.delete(expr.reg)) changed = true;
    if (expr.kind === "prim") for (const arg of expr.args) drop(arg);
  };
  const keep = (expr: Expr): void => {
    const count = expr.kind === "prim" ? (lowOperands.get(expr.prim) ?? 0) : 0;
    if (expr.kind !== "prim" || expr.ty !== "i32") {
      if (expr.kind === "reg" && expr.ty !== "i32") drop(expr);
    } else for (const [i, arg] of expr.args.entries()) (i < count ? keep : drop)(arg);
  };
  while (changed) {
    changed = false;
    // Backwards, as most values are computed before they are read.
    for (let at = instructions.length - 1; at >= 0; at--) {
      const instruction = instructions[at]!;
      const { op, dst } = instruction;
      if (op.kind === "pure") {
        op.values.forEach((value, i) => {
          const to = dst[i];
          if (typeof to === "number" && found.has(to)) keep(value);
          else drop(value);
        });
        continue;
      }
      const masked = maskedOffset(instruction);
      if (masked === null) operandsOf(op).forEach(drop);
      else {
        keep(masked.offset);
        const { address } = (op as { place: { address: Expr } }).place;
        for (const operand of operandsOf(op)) if (operand !== address) drop(operand);
      }
    }
  }
  return found;
}
