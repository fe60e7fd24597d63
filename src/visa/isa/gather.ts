import { channels, powers, rawDst, rawSrc, scalar, surface } from "./memory-operands.ts";
import { type OperandSpec, type Row, row } from "./row.ts";

const elements = { kind: "elements", size: null, scaled: false, unaligned: false } as const;
const scaled = { kind: "memory", action: { ...elements, scaled: true } } as const;
/** "For each channel <num_blocks> bytes are read": these need not be aligned. */
const bytewise = { kind: "memory", action: { ...elements, unaligned: true } } as const;
const qwords = { kind: "memory", action: { ...elements, size: 8 } } as const;
const channelwise = { kind: "memory", action: { kind: "channels" } } as const;

const elementBytes: OperandSpec = { class: "option", choices: { "1": 0, "2": 1, "4": 2 } };
const offset = scalar("ud");
const offsets = rawSrc("ud");
const dst = rawDst("ud", "d", "f");
const src = rawSrc("ud", "d", "f");
const sizes = [1, 2, 4, 8, 16];

/** Accesses to surfaces, with one offset per lane. */
export const gatherRows: readonly Row[] = [
  row({
    opcode: 0x39,
    name: "GATHER",
    mnemonic: "gather",
    title: "load from a surface, offsets in elements",
    page: "GATHER",
    text: "gather.{bytes} E surface offset offsets dst",
    file: "bytes zero execElements surface offset offsets dst",
    operands: { bytes: elementBytes, surface, offset, offsets, dst },
    sizes: [1, 8, 16],
    execution: scaled,
  }),
  row({
    opcode: 0x3a,
    name: "SCATTER",
    mnemonic: "scatter",
    title: "store to a surface, offsets in elements",
    page: "SCATTER",
    text: "scatter.{bytes} E surface offset offsets src",
    file: "bytes execElements surface offset offsets src",
    operands: { bytes: elementBytes, surface, offset, offsets, src },
    sizes: [1, 8, 16],
    execution: scaled,
  }),
  row({
    opcode: 0x74,
    name: "GATHER4_SCALED",
    mnemonic: "gather4_scaled",
    title: "load of up to four dwords per lane from a surface",
    page: "GATHER4_SCALED",
    text: "(P) gather4_scaled.{channels} E surface offset offsets dst",
    file: "exec pred channels zero:u16 surface offset offsets dst",
    operands: { channels, surface, offset, offsets, dst },
    sizes,
    execution: channelwise,
  }),
  row({
    opcode: 0x75,
    name: "SCATTER4_SCALED",
    mnemonic: "scatter4_scaled",
    title: "store of up to four dwords per lane to a surface",
    page: "SCATTER4_SCALED",
    text: "(P) scatter4_scaled.{channels} E surface offset offsets src",
    file: "exec pred channels zero:u16 surface offset offsets src",
    operands: { channels, surface, offset, offsets, src },
    sizes,
    execution: channelwise,
  }),
  row({
    opcode: 0x78,
    name: "GATHER_SCALED",
    mnemonic: "gather_scaled",
    title: "load of one, two or four bytes per lane from a surface",
    page: "GATHER_SCALED",
    text: "(P) gather_scaled.{bytes} E surface offset offsets dst",
    file: "exec pred zero bytes zero:u16 surface offset offsets dst",
    operands: { bytes: powers(1, 2, 4), surface, offset, offsets, dst },
    sizes,
    execution: bytewise,
  }),
  row({
    opcode: 0x79,
    name: "SCATTER_SCALED",
    mnemonic: "scatter_scaled",
    title: "store of one, two or four bytes per lane to a surface",
    page: "SCATTER_SCALED",
    text: "(P) scatter_scaled.{bytes} E surface offset offsets src",
    file: "exec pred zero bytes zero:u16 surface offset offsets src",
    operands: { bytes: powers(1, 2, 4), surface, offset, offsets, src },
    sizes,
    execution: bytewise,
  }),
  row({
    opcode: 0x86,
    name: "QW_GATHER",
    mnemonic: "qw_gather",
    title: "load of qwords from a surface",
    page: "QW_GATHER",
    text: "(P) qw_gather.{count} E surface offsets dst",
    file: "exec pred count surface offsets dst",
    operands: { count: powers(1, 2, 4), surface, offsets, dst: rawDst("uq", "q", "df") },
    sizes: [8, 16],
    from: "xehp",
    execution: qwords,
  }),
  row({
    opcode: 0x87,
    name: "QW_SCATTER",
    mnemonic: "qw_scatter",
    title: "store of qwords to a surface",
    page: "QW_SCATTER",
    text: "(P) qw_scatter.{count} E surface offsets src",
    file: "exec pred count surface offsets src",
    operands: { count: powers(1, 2, 4), surface, offsets, src: rawSrc("uq", "q", "df") },
    sizes: [8, 16],
    from: "xehp",
    execution: qwords,
  }),
];
