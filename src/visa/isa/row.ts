import type { DataType } from "../types.ts";
import type { ControlKind, Execution } from "./execution.ts";

/** Which forms a vector operand may have. */
export type VectorForm = "general" | "indirect" | "immediate" | "address" | "address-of" | "predicate" | "state";

/** What an operand is: how it is written and read, and what the checker allows. */
export type OperandSpec =
  /** `role: "dst"` or `"src"`. `types`: the element types allowed. `scalar`: its region must be one element. */
  | {
      readonly class: "vector";
      readonly role: "dst" | "src";
      readonly forms: readonly VectorForm[];
      readonly types: readonly DataType[];
      readonly scalar?: boolean;
      /** Source modifiers: those of arithmetic (-, abs), of logic (~), or none. */
      readonly modifiers?: "arithmetic" | "logic" | "none";
      /** Written without its region, which is `<1;1,0>`. */
      readonly plain?: true;
      /** How many elements from its first on an instruction of so many channels takes, whatever the region. */
      readonly reach?: (channels: number) => number;
    }
  /** `V.0`, or `%null.0`. `bare`: written as `V` where the offset is 0 (LSC). */
  | { readonly class: "raw"; readonly role: "dst" | "src"; readonly types?: readonly DataType[]; readonly bare?: true }
  /** All that follow, raw operands and (render target writes) vector operands; in a file their number (u8) goes before them. */
  | { readonly class: "list" }
  /** A predicate variable as a value (not as what guards an instruction). */
  | { readonly class: "predicate"; readonly role: "dst" | "src" }
  | { readonly class: "surface" }
  | { readonly class: "sampler" }
  | { readonly class: "label"; readonly of: "block" | "subroutine" }
  /** A jump table. */
  | { readonly class: "labels" }
  /** A kernel's function, by name. */
  | { readonly class: "routine" }
  /** Any variable, by name (`lifetime`). */
  | { readonly class: "variable" }
  | { readonly class: "string" }
  /** `radix` 16: a reader wants it in hexadecimal. */
  | { readonly class: "number"; readonly from: number; readonly to: number; readonly radix?: 16 }
  /**
   * One of these; the number is what a file holds. `byDefault`: what leaving it out means, 0 in a file otherwise. Behind a
   * dot the letters may be of either case; "" stands for the dot alone.
   */
  | { readonly class: "option"; readonly choices: Readonly<Record<string, number>>; readonly byDefault?: string }
  | { readonly class: "lsc-address" }
  /** `shape`: how its size goes on: `x2t` (or nothing), `.xyzw`, `.2x32x16nn`, or without a size `64x2`. */
  | {
      readonly class: "lsc-data";
      readonly role: "dst" | "src";
      readonly shape: "vector" | "channels" | "block" | "typed-block";
    };

/** From which version of vISA on, and on which platforms; absent: all. */
export interface Gate {
  /** As in "3.6". */
  readonly since?: string;
  /** The first platform that has it, and the first that no longer does (`platforms.ts` has their order). */
  readonly from?: Platform;
  readonly until?: Platform;
  /** The only ones that have it. */
  readonly only?: readonly Platform[];
}

/** IGC's names, oldest first. */
export const platforms = [
  "bdw",
  "skl",
  "bxt",
  "icllp",
  "tgllp",
  "xehp",
  "dg2",
  "mtl",
  "arl",
  "pvc",
  "pvcxt",
  "bmg",
  "lnl",
  "ptl",
] as const;
export type Platform = (typeof platforms)[number];

/**
 * One instruction: how it is written, how it lies in a file, what its operands may be, where it exists, and what it does.
 * Everything else derives from rows: the parser, the printer, the reader and writer of files, the checker, `lanewise isa`
 * and the lowering.
 *
 * `text` is a template of words: `(P)` a predicate may stand here; the mnemonic, with `{.sat}` where saturation is allowed,
 * `.{name}` for an option or number operand that follows a dot, `{.name}` for one that may be left out (`{.a.b}`: both or
 * neither); `E` the execution size; `({name})` a number or option in parentheses, `({a},{b})` several operands; `a/b` an
 * operand and a number behind a slash; `[name]` an operand that may be left out; anything else the name of an operand.
 * Where several rows share a mnemonic, the first that fits (suffixes, then operands) is meant.
 *
 *     (P) add{.sat} E dst src0 src1
 *     cmp.{relation} E dst src0 src1
 *     (P) svm_gather.{block}.{count} E addresses dst
 *     (P) ifcall{.uniform} E address argSize returnSize
 *
 * `file` lists what follows the opcode (and sub-opcode) byte, in order: `exec`, `pred`, the names of operands, `#n` for a
 * constant byte; `name:u8` (u16, u32, i32) where a number or option is not one byte; `name.part:u8` for a part of an
 * operand; `zero:u16` for what is reserved; `null` for a raw operand that is %null; `a+#1+b` for one field with several
 * things in it; `execElements` for an execution size in the form of gather. Where several rows share opcode and
 * sub-opcode, constants and packed fields tell them apart.
 *
 * Parts of an LSC address: `model`, `scale`, `offset`, `size`, `surface` (a vector operand; the immediate 0:ud for none),
 * `base0` to `base5` (raw or vector operand as the row's text has them; %null for what is missing) and `pitch` (`base1` as
 * a vector operand). Of LSC data: `size`, `order`, `elements`, `channels`, `register`, and of blocks `blocks`, `width`,
 * `height`, `vnni`. Of a variable: `class` (0 general, 0x10 address, 0x20 predicate). Of a list of
 * labels: `count`. Of a render target write: `mode.flags`, and `values.outputs`, which follow from them.
 */
export interface Row extends Gate {
  /** 0x01 to 0x9c; see `sub` for SVM, LSC and VA. */
  readonly opcode: number;
  /** The byte that follows the opcode and chooses among the rows of one opcode; null for the rest. */
  readonly sub: number | null;
  /** As the documents call it, as in "IFCALL". */
  readonly name: string;
  readonly mnemonic: string;
  /** One line. */
  readonly title: string;
  /** The page of the instruction's manual, or null where there is none. */
  readonly page: string | null;
  readonly text: string;
  /** Null: the text form is known and the layout in a file is not. */
  readonly file: string | null;
  readonly operands: Readonly<Record<string, OperandSpec>>;
  /** Channels that it may have; null: no execution size. */
  readonly sizes: readonly number[] | null;
  readonly execution: Execution;
}

/** How an instruction moves control; null for most. */
export const controlOf = ({ execution }: Row): ControlKind | null =>
  execution.kind === "flow" ? execution.control : null;

/** Whether control goes elsewhere or out of the routine in the lanes that execute an instruction, and not on. */
export function leavesOrder(row: Row): boolean {
  const control = controlOf(row);
  return control === "branch" || control === "branch-indexed" || control === "return" || control === "file-return";
}

/** All rows that can be meant by a mnemonic share its first word; see `table.ts`. */
export const row = (r: Omit<Row, "sub"> & { readonly sub?: number }): Row => ({ sub: null, ...r });
