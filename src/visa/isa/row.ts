import type { DataType } from "../types.ts";
import type { ControlKind, Execution } from "./execution.ts";

/**
 * The forms of a vector operand: a general variable with a region, an indirect operand, an immediate, elements of an
 * address variable, the address of a variable, a predicate, the state of a surface or sampler.
 */
export type VectorForm = "general" | "indirect" | "immediate" | "address" | "address-of" | "predicate" | "state";

/** The specification of an operand: how it is written and read, and what the checker allows. */
export type OperandSpec =
  /** A vector operand. `types`: the element types allowed. `scalar`: only its first element is used. */
  | {
      readonly class: "vector";
      readonly role: "dst" | "src";
      readonly forms: readonly VectorForm[];
      readonly types: readonly DataType[];
      readonly scalar?: boolean;
      /** Allowed source modifiers: those of arithmetic (-, abs), of logic (~), or none. */
      readonly modifiers?: "arithmetic" | "logic" | "none";
      /** Written without its region, which is `<1;1,0>`. */
      readonly plain?: true;
      /** How many elements, from the first on, an instruction with this many channels uses, whatever the region. */
      readonly reach?: (channels: number) => number;
    }
  /**
   * A raw operand: `V.0`, or `%null.0`. `bare`: written as `V` if the offset is 0 (LSC). `types`: the element types
   * allowed.
   */
  | { readonly class: "raw"; readonly role: "dst" | "src"; readonly types?: readonly DataType[]; readonly bare?: true }
  /**
   * All remaining operands: raw ones and, in render-target writes, vector operands. In a file their number (u8)
   * precedes them.
   */
  | { readonly class: "list" }
  /** A predicate variable as an operand, rather than as a guard. */
  | { readonly class: "predicate"; readonly role: "dst" | "src" }
  /** A surface variable. */
  | { readonly class: "surface" }
  /** A sampler variable. */
  | { readonly class: "sampler" }
  /** A label of a block, or of a subroutine. */
  | { readonly class: "label"; readonly of: "block" | "subroutine" }
  /** The name of a kernel of another program. */
  | { readonly class: "kernel" }
  /** The labels of a jump table. */
  | { readonly class: "labels" }
  /** A function of the program, by name. */
  | { readonly class: "routine" }
  /** A variable of any kind, by name (`lifetime`). */
  | { readonly class: "variable" }
  /** A quoted string, or the mode of a render-target write. */
  | { readonly class: "string" }
  /** A number. `radix` 16: other readers require it in hexadecimal. */
  | { readonly class: "number"; readonly from: number; readonly to: number; readonly radix?: 16 }
  /**
   * One of several choices, with their codes in a file. `byDefault`: the choice if the option is left out; without it,
   * a file holds 0. After a dot, letters may be in either case; "" stands for the dot alone.
   */
  | { readonly class: "option"; readonly choices: Readonly<Record<string, number>>; readonly byDefault?: string }
  /** The address of an LSC access. */
  | { readonly class: "lsc-address" }
  /**
   * The data of an LSC access. `shape`: what follows its size: `x2t` or nothing, `.xyzw`, `.2x32x16nn`, or `64x2`
   * without a size.
   */
  | {
      readonly class: "lsc-data";
      readonly role: "dst" | "src";
      readonly shape: "vector" | "channels" | "block" | "typed-block";
    };

/** The versions of vISA and the platforms that have an instruction; all of them where a field is absent. */
export interface Gate {
  /** The first version that has it, as in "3.6". */
  readonly since?: string;
  /** The first platform that has it, in the order of `platforms`. */
  readonly from?: Platform;
  /** The first platform that no longer has it. */
  readonly until?: Platform;
  /** The only platforms that have it. */
  readonly only?: readonly Platform[];
}

/** Platforms by IGC's names, oldest first. */
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
/** One of `platforms`. */
export type Platform = (typeof platforms)[number];

/**
 * One instruction: how it is written, how a file holds it, what its operands may be, where it exists, and what it does.
 * Everything else derives from rows: the parser, the printer, the reader and writer of CISA files, the checker,
 * `lanewise isa` and the lowering.
 *
 * `text` is a template of words: `(P)` where a predicate may be; the mnemonic, with `{.sat}` if it can saturate,
 * `.{name}` for an option or number operand after a dot, `{.name}` for one that may be left out (`{.a.b}`: both or
 * neither); `E` for the execution size; `({name})` for a number or option in parentheses, `({a},{b})` for several;
 * `a/b` for an operand and a number after a slash; `[name]` for an operand that may be left out; any other word is the
 * name of an operand. If several rows share a mnemonic, the first that fits is meant (by suffixes, then by operands).
 *
 *     (P) add{.sat} E dst src0 src1
 *     cmp.{relation} E dst src0 src1
 *     (P) svm_gather.{block}.{count} E addresses dst
 *     (P) ifcall{.uniform} E address argSize returnSize
 *
 * `file` lists the fields after the opcode (and sub-opcode) byte, in order: `exec`, `pred`, the names of operands, `#n`
 * for a constant byte; `name:u8` (u16, u32, i32) where a number or option is not one byte; `name.part:u8` for a part of
 * an operand; `zero:u16` for reserved bytes; `null` for a raw operand that is %null; `a+#1+b` for one field that packs
 * several things; `execElements` for an execution size in the form of gather. If several rows share opcode and
 * sub-opcode, constants and packed fields tell them apart.
 *
 * The parts of an LSC address are `model`, `scale`, `offset`, `size`, `surface` (a vector operand; the immediate 0:ud
 * for none), `base0` to `base5` (raw or vector operands, as in the row's text; %null for those that are missing) and
 * `pitch` (`base1` as a vector operand). Those of LSC data are `size`, `order`, `elements`, `channels`, `register` and,
 * for blocks, `blocks`, `width`, `height`, `vnni`. A variable has `class` (0 general, 0x10 address, 0x20 predicate), a
 * list of labels `count`. A render-target write has `mode.flags`, and `values.outputs`, which follow from them.
 */
export interface Row extends Gate {
  /** The opcode byte, 0x01 to 0x9c. */
  readonly opcode: number;
  /** The byte after the opcode that selects among the rows of one opcode (SVM, LSC, VA); null for the others. */
  readonly sub: number | null;
  /** The name in the documents, such as "IFCALL". */
  readonly name: string;
  /** The name in text, without suffixes, such as "ifcall". */
  readonly mnemonic: string;
  /** One line that says what it does. */
  readonly title: string;
  /** The instruction's page in vISA's manual; null if it has none. */
  readonly page: string | null;
  /** The template of its text form; see above. */
  readonly text: string;
  /** The template of its binary form, see above; null if only the text form is known. */
  readonly file: string | null;
  /** Its operands, by their names in the templates. */
  readonly operands: Readonly<Record<string, OperandSpec>>;
  /** The execution sizes that it may have; null if it has none. */
  readonly sizes: readonly number[] | null;
  /** How it is executed, or why it is not modelled. */
  readonly execution: Execution;
}

/** How an instruction moves control; null for most. */
export const controlOf = ({ execution }: Row): ControlKind | null =>
  execution.kind === "flow" ? execution.control : null;

/** Whether an instruction sends the lanes that execute it elsewhere, or out of the routine, rather than on. */
export function leavesOrder(row: Row): boolean {
  const control = controlOf(row);
  return control === "branch" || control === "branch-indexed" || control === "return" || control === "file-return";
}

/** Fills in the defaults of a row. */
export const row = (r: Omit<Row, "sub"> & { readonly sub?: number }): Row => ({ sub: null, ...r });
