import { type Expr, kit as k } from "../../semantics/index.ts";
import type { ExecSize, Instruction } from "../tree.ts";
import type { LowerContext } from "./context.ts";
import { has, nameOf, once, rawOf, vectorOf } from "../instruction-operands.ts";
import { globalPlace, type MemoryPlace, variablePlace } from "./memory-place.ts";
import { rawRegion, source } from "./operands.ts";

/** Where the instruction's operands say, offsets into surfaces in units of `unit` bytes. */
export function placeOf(context: LowerContext, instruction: Instruction, exec: ExecSize, unit: number): MemoryPlace {
  const each = (name: string, bits: 32 | 64): Expr => rawRegion(context, rawOf(instruction, name), bits, false, exec);
  const common = (name: string): Expr => source(context, vectorOf(instruction, name), once).expr;
  if (has(instruction, "addresses")) return globalPlace(each("addresses", 64));
  if (has(instruction, "address")) {
    const address = common("address");
    const wide = address.ty === "i64" ? address : k.widen(address, false);
    return globalPlace(has(instruction, "offsets") ? k.add(wide, each("offsets", 64)) : wide);
  }
  const summands = [
    ...(has(instruction, "offset") ? [common("offset")] : []),
    ...(has(instruction, "offsets") ? [each("offsets", 32)] : []),
  ];
  const offset = summands.reduce((a, b) => k.add(a, b));
  return variablePlace(context, nameOf(instruction, "surface"), unit === 1 ? offset : k.mul(offset, k.i32(unit)));
}
