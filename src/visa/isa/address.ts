import { special } from "./execution.ts";
import { type Row, row } from "./row.ts";
import { dst, src } from "./vector-operands.ts";

/** Address arithmetic: addresses of bytes in the register file. */
export const addressRows: readonly Row[] = [
  row({
    opcode: 0x28,
    name: "ADDR_ADD",
    mnemonic: "addr_add",
    title: "sum of an address (of a variable, or in an address variable) and an offset in bytes",
    page: "ADDR_ADD",
    text: "addr_add E dst src0 src1",
    file: "exec dst src0 src1",
    operands: {
      dst: dst([], ["address"]),
      src0: src([], "none", ["address", "address-of"]),
      src1: src(["uw", "w", "ud", "d"], "none", ["general", "immediate", "address-of"]),
    },
    // An address operand has at most 16 elements.
    sizes: [1, 2, 4, 8, 16],
    execution: special,
  }),
];
