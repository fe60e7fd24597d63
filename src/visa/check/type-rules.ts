import { type DataType, isFloat } from "../types.ts";
import type { Instruction, Operand } from "../tree.ts";
import type { RoutineContext } from "./routine-context.ts";
import { allowsType } from "./vector-operand.ts";

/** The sorts of types that one instruction cannot mix (2_datatypes.md, "Type Conversion"). */
type Sort = "integer" | "float" | "double";

const sortOf = (type: DataType): Sort => (type === "df" ? "double" : isFloat(type) ? "float" : "integer");

const sortNames: Readonly<Record<Sort, string>> = {
  integer: "integers",
  float: "floats of up to 32 bits",
  double: "doubles",
};

/** Instructions whose destination may be of another sort than the sources, or whose sources may differ: conversions. */
const converting = new Set([
  "MOV",
  "CMP",
  "FCVT",
  "SRND",
  "DPAS",
  "DPASW",
  "BDPAS",
  "DNSCL",
  "SHFL_IDX4",
  "MOVS",
  "SETP",
]);

/** Instructions that can saturate only floating-point results, as their pages say. */
const floatSaturation = new Set(["MUL", "MAD", "DIV"]);

/** Checks that arithmetic and logic have operands of one sort, and that comparisons have sources of one. */
export function checkTypes(context: RoutineContext, instruction: Instruction): void {
  const { row, operands } = instruction;
  const found: { readonly operand: Operand; readonly sort: Sort; readonly dst: boolean }[] = [];
  for (const key in operands) {
    const operand = operands[key]!;
    const spec = row.operands[key];
    if (spec?.class !== "vector" || spec.scalar === true) continue;
    const type = vectorType(context, operand);
    if (type === null) continue;
    // A type that the operand cannot have has been reported.
    if (!allowsType(spec, type, operand.kind === "immediate")) return;
    found.push({ operand, sort: sortOf(type), dst: spec.role === "dst" });
  }
  saturation(context, instruction, found);
  if (converting.has(row.name) && row.name !== "CMP") return;
  const sources = found.filter((f) => !f.dst);
  const first = sources[0];
  if (first === undefined) return;
  const other = sources.find((f) => f.sort !== first.sort);
  if (other !== undefined) {
    const message = `${sortNames[other.sort]} cannot be mixed with ${sortNames[first.sort]}`;
    context.error("visa-mixed-types", other.operand, message, "convert one of them with `mov`");
    return;
  }
  const dst = found.find((f) => f.dst);
  if (dst === undefined || dst.sort === first.sort || (row.name === "CMP" && first.sort === "integer")) return;
  const message = `the sources are ${sortNames[first.sort]}, but the destination is not`;
  context.error("visa-mixed-types", dst.operand, message, "convert with `mov`");
}

/** The type of a vector operand; null for predicates, addresses, states and unknown variables. */
export function vectorType(context: RoutineContext, operand: Operand): DataType | null {
  switch (operand.kind) {
    case "general": {
      const variable = context.variable(operand.variable);
      return variable?.kind === "G" ? variable.type : null;
    }
    case "indirect":
    case "immediate":
      return operand.type;
    default:
      return null;
  }
}

function saturation(
  context: RoutineContext,
  { row, saturate, mnemonic }: Instruction,
  found: readonly { readonly sort: Sort; readonly dst: boolean }[],
): void {
  if (!saturate || !floatSaturation.has(row.name) || found.some((f) => f.dst && f.sort !== "integer")) return;
  context.error(
    "visa-saturation",
    mnemonic,
    `\`${row.mnemonic}\` can saturate only floating-point types`,
    "leave out .sat",
  );
}
