import type { Expr } from "../semantics/index.ts";
import { laneAddressOf } from "./access.ts";
import type { Op, OpOf } from "./instruction.ts";

/** The unit operation that an asynchronous copy is in lanes that read `size` bytes, some of those that they write. */
export const partOfCopy = ({ from, to }: OpOf<"copy">, size: Expr): OpOf<"unit"> => ({
  kind: "unit",
  unit: { op: "copy-part", from: from.access, to: to.access },
  operands: [laneAddressOf(to.place), laneAddressOf(from.place), size],
});

/** The unit operation of an instruction, or of a part of it; null: it has none. */
export const unitOpOf = (op: Op): OpOf<"unit"> | null =>
  op.kind === "unit" ? op : op.kind === "copy" && op.size !== null ? partOfCopy(op, op.size) : null;
