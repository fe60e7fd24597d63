import type { ControlKind, Execution } from "./execution.ts";
import { type OperandSpec, type Row, row } from "./row.ts";

/** Every execution size. */
export const anySize: readonly number[] = [1, 2, 4, 8, 16, 32];

const flow = (control: ControlKind): Execution => ({ kind: "flow", control });
const block: OperandSpec = { class: "label", of: "block" };
/** A number of registers. */
const byte: OperandSpec = { class: "number", from: 0, to: 255 };
const functionAddress: OperandSpec = {
  class: "vector",
  role: "src",
  forms: ["general", "indirect", "immediate"],
  types: ["ud", "uq"],
  scalar: true,
  modifiers: "none",
};

/** Control flow: branches, subroutines and functions (section 3.4 of the execution model). */
export const flowRows: readonly Row[] = [
  row({
    opcode: 0x32,
    name: "JMP",
    mnemonic: "jmp",
    title: "uniform jump",
    page: "JMP",
    text: "(P) jmp E target",
    file: "exec pred target",
    operands: { target: block },
    sizes: anySize,
    execution: flow("branch"),
  }),
  row({
    opcode: 0x33,
    name: "CALL",
    mnemonic: "call",
    title: "call of a subroutine",
    page: "CALL",
    text: "(P) call E target",
    file: "exec pred target",
    operands: { target: { class: "label", of: "subroutine" } },
    sizes: anySize,
    execution: flow("call"),
  }),
  row({
    opcode: 0x34,
    name: "RET",
    mnemonic: "ret",
    title: "return from a subroutine, or end of a kernel",
    page: "RET",
    text: "(P) ret E",
    file: "exec pred",
    operands: {},
    sizes: anySize,
    execution: flow("return"),
  }),
  row({
    opcode: 0x4f,
    name: "IFCALL",
    mnemonic: "ifcall",
    title: "indirect call of a function",
    page: "IFCALL",
    text: "(P) ifcall{.hint} E address argSize returnSize",
    file: "exec pred address argSize returnSize",
    operands: {
      hint: { class: "option", choices: { uniform: 1, noreturn: 2, "uniform.noreturn": 3 } },
      address: functionAddress,
      argSize: byte,
      returnSize: byte,
    },
    sizes: anySize,
    execution: flow("file-call-indirect"),
  }),
  row({
    opcode: 0x50,
    name: "FADDR",
    mnemonic: "faddr",
    title: "address of a function",
    page: "FADDR",
    text: "faddr routine dst",
    file: "routine dst",
    operands: {
      routine: { class: "routine" },
      dst: { class: "vector", role: "dst", forms: ["general", "indirect"], types: ["ud", "uq"], scalar: true },
    },
    sizes: null,
    execution: flow("address"),
  }),
  row({
    opcode: 0x67,
    name: "FCALL",
    mnemonic: "fcall",
    title: "direct call of a function",
    page: "FCALL",
    text: "(P) fcall E routine argSize returnSize",
    file: "exec pred routine argSize returnSize",
    operands: { routine: { class: "routine" }, argSize: byte, returnSize: byte },
    sizes: anySize,
    execution: flow("file-call"),
  }),
  row({
    opcode: 0x68,
    name: "FRET",
    mnemonic: "fret",
    title: "return from a function",
    page: "FRET",
    text: "(P) fret E",
    file: "exec pred",
    operands: {},
    sizes: anySize,
    execution: flow("file-return"),
  }),
  row({
    opcode: 0x69,
    name: "SWITCHJMP",
    mnemonic: "switchjmp",
    title: "uniform jump through a table",
    page: "SWITCHJMP",
    text: "switchjmp E index targets",
    file: "exec targets.count:u8 index targets",
    operands: {
      index: {
        class: "vector",
        role: "src",
        forms: ["general", "indirect", "immediate"],
        types: ["ub"],
        scalar: true,
        modifiers: "none",
      },
      targets: { class: "labels" },
    },
    sizes: anySize,
    execution: flow("branch-indexed"),
  }),
  row({
    opcode: 0x6c,
    name: "GOTO",
    mnemonic: "goto",
    title: "branch, lane by lane",
    page: "GOTO",
    text: "(P) goto E target",
    file: "exec pred target",
    operands: { target: block },
    sizes: anySize,
    execution: flow("branch"),
  }),
];
