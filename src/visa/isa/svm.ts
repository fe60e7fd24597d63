import type { MemoryAction } from "./memory-action.ts";
import { atomicOps, atomicWidth, channels, powers, rawDst, rawSrc, scalar } from "./memory-operands.ts";
import { type OperandSpec, type Row, row } from "./row.ts";

const block = { kind: "block", unit: 1 } as const;
const elements = { kind: "elements", size: null, scaled: false, unaligned: false } as const;

const address = scalar("uq");
const addresses = rawSrc("uq");
const blockBytes: OperandSpec = { class: "option", choices: { "1": 0, "4": 1, "8": 2 } };
/**
 * The alignment of a block. If it is left out the block is unaligned, although files of 3.6 then hold the code that
 * later means `.aligned`.
 */
const alignment: OperandSpec = { class: "option", choices: { aligned: 0, unaligned: 8 }, byDefault: "aligned" };
const sizes = [1, 2, 4, 8, 16];

type SvmRow = Omit<Row, "opcode" | "sub" | "execution"> & { readonly sub: number; readonly action: MemoryAction };
const svm = ({ action, ...r }: SvmRow): Row => row({ opcode: 0x4e, execution: { kind: "memory", action }, ...r });

/** Shared virtual memory: accesses by 64-bit addresses. */
export const svmRows: readonly Row[] = [
  svm({
    sub: 1,
    action: block,
    name: "SVM_BLOCK_LD",
    mnemonic: "svm_block_ld",
    title: "load of a block",
    page: "SVM_BLOCK_LD",
    text: "svm_block_ld{.alignment} ({owords}) address dst",
    file: "owords+alignment address dst",
    operands: { alignment, owords: powers(1, 2, 4, 8), address, dst: rawDst() },
    sizes: null,
  }),
  svm({
    sub: 2,
    action: block,
    name: "SVM_BLOCK_ST",
    mnemonic: "svm_block_st",
    title: "store of a block",
    page: "SVM_BLOCK_ST",
    text: "svm_block_st{.alignment} ({owords}) address src",
    file: "owords+alignment address src",
    operands: { alignment, owords: powers(1, 2, 4, 8), address, src: rawSrc() },
    sizes: null,
  }),
  svm({
    sub: 3,
    action: elements,
    name: "SVM_GATHER",
    mnemonic: "svm_gather",
    title: "load, one address per lane",
    page: "SVM_GATHER",
    text: "(P) svm_gather.{bytes}.{count} E addresses dst",
    file: "exec pred bytes count addresses dst",
    operands: { bytes: blockBytes, count: powers(1, 2, 4, 8), addresses, dst: rawDst() },
    sizes,
  }),
  svm({
    sub: 4,
    action: elements,
    name: "SVM_SCATTER",
    mnemonic: "svm_scatter",
    title: "store, one address per lane",
    page: "SVM_SCATTER",
    text: "(P) svm_scatter.{bytes}.{count} E addresses src",
    file: "exec pred bytes count addresses src",
    operands: { bytes: blockBytes, count: powers(1, 2, 4, 8), addresses, src: rawSrc() },
    sizes,
  }),
  svm({
    sub: 5,
    action: { kind: "atomic" },
    name: "SVM_ATOMIC",
    mnemonic: "svm_atomic",
    title: "atomic operation",
    page: "SVM_ATOMIC",
    text: "(P) svm_atomic.{op}{.width} E addresses dst src0 src1",
    file: "exec pred op+width addresses src0 src1 dst",
    operands: {
      op: atomicOps,
      width: atomicWidth("16", "32", "64"),
      addresses,
      dst: rawDst(),
      src0: rawSrc(),
      src1: rawSrc(),
    },
    sizes,
  }),
  svm({
    sub: 6,
    action: { kind: "channels" },
    name: "SVM_GATHER4_SCALED",
    mnemonic: "svm_gather4scaled",
    title: "load of up to four dwords per lane",
    page: "SVM_GATHER4_SCALED",
    text: "(P) svm_gather4scaled.{channels} E address offsets dst",
    file: "exec pred channels zero:u16 address offsets dst",
    operands: { channels, address, offsets: rawSrc("uq"), dst: rawDst("ud", "d", "f") },
    sizes,
  }),
  svm({
    sub: 7,
    action: { kind: "channels" },
    name: "SVM_SCATTER4_SCALED",
    mnemonic: "svm_scatter4scaled",
    title: "store of up to four dwords per lane",
    page: "SVM_SCATTER4_SCALED",
    text: "(P) svm_scatter4scaled.{channels} E address offsets src",
    file: "exec pred channels zero:u16 address offsets src",
    operands: { channels, address, offsets: rawSrc("uq"), src: rawSrc("ud", "d", "f") },
    sizes,
  }),
];
