import { special } from "./execution.ts";
import { anySize } from "./flow.ts";
import { type Row, row } from "./row.ts";
import { dst, numbers, src } from "./vector-operands.ts";

/** Comparison. */
export const compareRows: readonly Row[] = [
  row({
    opcode: 0x2c,
    name: "CMP",
    mnemonic: "cmp",
    title: "comparison, into a predicate or a value of all ones or zeros",
    page: "CMP",
    text: "cmp.{relation} E dst src0 src1",
    file: "exec relation dst src0 src1",
    operands: {
      relation: { class: "option", choices: { eq: 0, ne: 1, gt: 2, ge: 3, lt: 4, le: 5 } },
      dst: dst(numbers, ["predicate", "general", "indirect"]),
      src0: src(numbers),
      src1: src(numbers),
    },
    sizes: anySize,
    execution: special,
  }),
];
