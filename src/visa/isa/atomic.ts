import { atomicOps, atomicWidth, rawDst, rawSrc, surface } from "./memory-operands.ts";
import { type Row, row } from "./row.ts";

/** Atomic operations on surfaces. */
export const atomicRows: readonly Row[] = [
  row({
    opcode: 0x7d,
    name: "DWORD_ATOMIC",
    mnemonic: "dword_atomic",
    title: "atomic operation on a surface",
    page: "DWORD_ATOMIC",
    text: "(P) dword_atomic.{op}{.width} E surface offsets src0 src1 dst",
    file: "op+width exec pred surface offsets src0 src1 dst",
    operands: {
      op: atomicOps,
      width: atomicWidth("16", "32"),
      surface,
      offsets: rawSrc("ud"),
      src0: rawSrc(),
      src1: rawSrc(),
      dst: rawDst(),
    },
    sizes: [1, 2, 4, 8, 16],
    execution: { kind: "memory", action: { kind: "atomic" } },
  }),
];
