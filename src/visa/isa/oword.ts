import { powers, rawDst, rawSrc, scalar, surface } from "./memory-operands.ts";
import { type OperandSpec, type Row, row } from "./row.ts";

const inOwords = { kind: "memory", action: { kind: "block", unit: 16 } } as const;
const inBytes = { kind: "memory", action: { kind: "block", unit: 1 } } as const;

const owords = powers(1, 2, 4, 8, 16);
/** `.mod`, which no longer means anything: loads always see earlier stores of the thread. */
const modified: OperandSpec = { class: "option", choices: { mod: 1 } };
/** IGC also writes signed offsets. */
const offset = scalar("ud", "d");

/** Accesses to blocks of owords (16 bytes) in a surface. */
export const owordRows: readonly Row[] = [
  row({
    opcode: 0x35,
    name: "OWORD_LD",
    mnemonic: "oword_ld",
    title: "load of a block, offset in owords",
    page: "OWORD_LD",
    text: "oword_ld{.modified} ({owords}) surface offset dst",
    file: "owords modified surface offset dst",
    operands: { modified, owords, surface, offset, dst: rawDst() },
    sizes: null,
    execution: inOwords,
  }),
  row({
    opcode: 0x36,
    name: "OWORD_ST",
    mnemonic: "oword_st",
    title: "store of a block, offset in owords",
    page: "OWORD_ST",
    text: "oword_st ({owords}) surface offset src",
    file: "owords surface offset src",
    operands: { owords, surface, offset, src: rawSrc() },
    sizes: null,
    execution: inOwords,
  }),
  row({
    opcode: 0x3c,
    name: "OWORD_LD_UNALIGNED",
    mnemonic: "oword_ld_unaligned",
    title: "load of a block, offset in bytes",
    page: "OWORD_LD_UNALIGNED",
    text: "oword_ld_unaligned{.modified} ({owords}) surface offset dst",
    file: "owords modified surface offset dst",
    operands: { modified, owords, surface, offset, dst: rawDst() },
    sizes: null,
    execution: inBytes,
  }),
];
