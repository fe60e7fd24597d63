import type { Prim, Value } from "../../../src/semantics/index.ts";
import type { Application, Columns, EmittedModule } from "./emitted-module.ts";

const show = (value: Value | null): string =>
  Object.is(value, -0) ? "-0" : typeof value === "bigint" ? `${value}n` : `${value}`;

/** Evaluates a primitive row by row; primitives have up to four operands. */
export function evaluated(prim: Prim, [a, b, c, d]: Columns): Value[] {
  const evaluate = prim.eval as (...operands: (Value | undefined)[]) => Value;
  return a!.map((first, row) => evaluate(first, b?.[row], c?.[row], d?.[row]));
}

/** Describes the first few rows in which a module's result differs from the expected one. */
export function differences(
  module: EmittedModule,
  application: Application,
  columns: Columns,
  expected: readonly Value[],
): string[] {
  const found = module.differences(application, columns, expected);
  return found.slice(0, 4).map(({ row, result }) => {
    const operands = columns.map((column) => show(column[row]!)).join(", ");
    return `${application.name}: (${operands}) gave ${show(result)}, not ${show(expected[row]!)}`;
  });
}
