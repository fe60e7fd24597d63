import { dword } from "./memory-operands.ts";
import { type Row, row } from "./row.ts";

const execution = { kind: "memory", action: { kind: "nothing" } } as const;

const file = (mnemonic: string): Row =>
  row({
    opcode: 0x51,
    name: "FILE",
    mnemonic,
    title: "source file of the following instructions",
    page: "FILE",
    text: `${mnemonic} path`,
    file: "path",
    operands: { path: { class: "string" } },
    sizes: null,
    execution,
  });

const line = (mnemonic: string): Row =>
  row({
    opcode: 0x52,
    name: "LOC",
    mnemonic,
    title: "source line of the following instructions",
    page: "LOC",
    text: `${mnemonic} line`,
    file: "line:u32",
    operands: { line: dword },
    sizes: null,
    execution,
  });

const lifetime = (mnemonic: string, bit: number): Row =>
  row({
    opcode: 0x7b,
    name: "LIFETIME",
    mnemonic,
    title: bit === 0 ? "start of a variable's lifetime: its old value is not needed" : "end of a variable's lifetime",
    page: "LIFETIME",
    text: `${mnemonic} variable`,
    file: `#${bit}+variable.class variable:u32`,
    operands: { variable: { class: "variable" } },
    sizes: null,
    execution,
  });

/** Marks for debuggers and compilers. */
export const miscRows: readonly Row[] = [
  file(".file"),
  file("FILE"),
  line(".loc"),
  line("LOC"),
  lifetime("lifetime.start", 0),
  lifetime("lifetime.end", 1),
  row({
    opcode: 0x94,
    name: "BREAKPOINT",
    mnemonic: "breakpoint",
    title: "stop for a debugger",
    page: null,
    text: "breakpoint",
    file: null,
    operands: {},
    sizes: null,
    execution: { kind: "none", reason: "there is no debugger to stop for" },
  }),
];
