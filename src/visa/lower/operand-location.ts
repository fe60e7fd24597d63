import { type Expr, kit as k } from "../../semantics/index.ts";
import type { ExecSize, Instruction } from "../tree.ts";
import type { LowerContext } from "./context.ts";
import { has, nameOf, once, rawOf, vectorOf } from "../instruction-operands.ts";
import { globalLocation, type MemoryLocation, variableLocation } from "./memory-location.ts";
import { source } from "./operands.ts";
import { rawSource } from "./raw-operand.ts";

/** The location that an instruction's operands give; offsets into surfaces are in units of `unit` bytes. */
export function locationOf(
  context: LowerContext,
  instruction: Instruction,
  exec: ExecSize,
  unit: number,
): MemoryLocation {
  const each = (name: string, bits: 32 | 64): Expr => rawSource(context, rawOf(instruction, name), { bits, exec });
  const common = (name: string): Expr => source(context, vectorOf(instruction, name), once).expr;
  if (has(instruction, "addresses")) return globalLocation(each("addresses", 64));
  if (has(instruction, "address")) {
    const address = common("address");
    const wide = address.ty === "i64" ? address : k.widen(address, false);
    return globalLocation(has(instruction, "offsets") ? k.add(wide, each("offsets", 64)) : wide);
  }
  const summands = [
    ...(has(instruction, "offset") ? [common("offset")] : []),
    ...(has(instruction, "offsets") ? [each("offsets", 32)] : []),
  ];
  const isZero = (expr: Expr): boolean => expr.kind === "const" && expr.value === 0;
  const offset = summands.reduce((a, b) => (isZero(a) ? b : k.add(a, b)));
  return variableLocation(context, nameOf(instruction, "surface"), unit === 1 ? offset : k.mul(offset, k.i32(unit)));
}
