import type { Instruction, Name, Routine, VisaFile } from "./tree.ts";
import type { Platform } from "./isa/row.ts";
import type { DataType, VariableKind } from "./types.ts";
import type { Diagnostic, Span } from "../source/index.ts";

/** A declared or predefined variable of a routine. */
export interface Variable {
  readonly kind: VariableKind;
  readonly name: string;
  /** As files number it: predefined general variables from 0, declared ones from 32; predicates from 1; surfaces from 6; the rest from 0. */
  readonly index: number;
  readonly predefined: boolean;
  /** `ud` of address variables and surfaces, `bool` of predicates. */
  readonly type: DataType;
  readonly elements: number;
  /** Bytes; 0 for predicates. */
  readonly bytes: number;
  /** Bytes. */
  readonly align: number;
  /** The variable whose storage it shares, at a byte of it; `root` follows the aliases to their end, `rootOffset` adds them up. */
  readonly alias: { readonly of: Variable; readonly offset: number } | null;
  readonly root: Variable;
  readonly rootOffset: number;
  readonly attributes: ReadonlyMap<string, number | string | null>;
  readonly span: Span;
}

export interface BoundLabel {
  readonly name: string;
  /** A subroutine's entry is the label behind a `.function` directive. */
  readonly kind: "block" | "subroutine";
  /** The index of the instruction that follows, in the routine's flat list. */
  readonly at: number;
  readonly span: Span;
}

export interface BoundInput {
  readonly variable: Variable;
  /** Bytes from the start of the payload, r0 included (in registers: divide by the GRF size). */
  readonly offset: number;
  readonly size: number;
  readonly implicit: string;
  readonly span: Span;
}

/** A routine with its names resolved: what the checker, the lowering and the writer of files work on. */
export interface BoundRoutine {
  readonly file: VisaFile;
  readonly routine: Routine;
  readonly kind: "kernel" | "function";
  readonly name: string;
  /** 32 or 64: bytes of a register on the platform. */
  readonly grfBytes: 32 | 64;
  readonly platform: Platform | null;
  /** Predefined ones first, then as declared; scopes may repeat a name. */
  readonly variables: readonly Variable[];
  /** What a name in an operand, an input, an alias or a predicate refers to. Labels and routines are looked up by text. */
  readonly variableOf: ReadonlyMap<Name, Variable>;
  readonly labels: ReadonlyMap<string, BoundLabel>;
  readonly inputs: readonly BoundInput[];
  readonly attributes: ReadonlyMap<string, number | string | null>;
  /** `SimdSize`; 1 where the routine does not say. */
  readonly simd: number;
  /** `ArgSize` and `RetValSize` of a function, in registers; null where it does not say. */
  readonly argSize: number | null;
  readonly retvalSize: number | null;
  /** In order, without the scopes around them. */
  readonly instructions: readonly Instruction[];
  readonly diagnostics: readonly Diagnostic[];
}
