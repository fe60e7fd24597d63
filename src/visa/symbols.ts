import type { Instruction, Name, Routine, VisaFile } from "./tree.ts";
import type { Platform } from "./isa/row.ts";
import type { DataType, VariableKind } from "./types.ts";
import type { Diagnostic, Span } from "../source/index.ts";

/** A declared or predefined variable of a routine. */
export interface Variable {
  /** General, address, predicate, sampler or surface. */
  readonly kind: VariableKind;
  readonly name: string;
  /**
   * Its number in a CISA file: predefined general variables from 0, declared ones from 32; predicates from 1; surfaces
   * from 6; address variables and samplers from 0.
   */
  readonly index: number;
  /** Whether every routine has it without declaring it. */
  readonly predefined: boolean;
  /** Type of its elements: `ud` for address variables, samplers and surfaces, `bool` for predicates. */
  readonly type: DataType;
  readonly elements: number;
  /** Size in bytes; 0 for predicates. */
  readonly bytes: number;
  /** Alignment in bytes. */
  readonly align: number;
  /** The variable whose storage it shares, and the offset in it, in bytes; null if it has storage of its own. */
  readonly alias: { readonly of: Variable; readonly offset: number } | null;
  /**
   * The variable at the end of the chain of aliases, which owns the storage; the variable itself if it is not an alias.
   */
  readonly root: Variable;
  /** Offset in `root`, in bytes. */
  readonly rootOffset: number;
  /** The declaration's `attrs`; null for one without a value. */
  readonly attributes: ReadonlyMap<string, number | string | null>;
  /** The name in its declaration; empty for predefined variables. */
  readonly span: Span;
}

/** With fields that may be assigned. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A variable with storage of its own. Written out, as V8 takes long to extend a copy of an object. */
export function unaliased(parts: Omit<Variable, "alias" | "root" | "rootOffset">): Mutable<Variable> {
  const { kind, name, index, predefined, type, elements, bytes, align, attributes, span } = parts;
  const variable = {
    kind,
    name,
    index,
    predefined,
    type,
    elements,
    bytes,
    align,
    attributes,
    span,
    alias: null,
    root: null as Variable | null,
    rootOffset: 0,
  } as Mutable<Variable>;
  variable.root = variable;
  return variable;
}

/** A label of a routine. */
export interface BoundLabel {
  readonly name: string;
  /** A subroutine's entry is the label after a `.function` directive other than the routine's first. */
  readonly kind: "block" | "subroutine";
  /** Index in `BoundRoutine.instructions` of the instruction that follows. */
  readonly at: number;
  readonly span: Span;
}

/** An `.input` of a kernel, with what the text leaves out filled in. */
export interface BoundInput {
  readonly variable: Variable;
  /** Offset in bytes from the start of the payload, r0 included (divided by the GRF size: the register). */
  readonly offset: number;
  /** Size in bytes. */
  readonly size: number;
  /** "" for `.input`, the part after `.implicit_` for an implicit argument. */
  readonly implicit: string;
  readonly span: Span;
}

/**
 * A kernel or function with its names resolved: what the checker, the lowering and the writer of CISA files work on.
 */
export interface BoundRoutine {
  /** The file that it is in. */
  readonly file: VisaFile;
  /** Its node in the tree. */
  readonly routine: Routine;
  readonly kind: "kernel" | "function";
  readonly name: string;
  /** Bytes of a register: the platform's, or inferred from the text where none is given. */
  readonly grfBytes: 32 | 64;
  /** Null if none was given to `bindVisa` or `checkVisa`. */
  readonly platform: Platform | null;
  /** Predefined variables first, then in order of declaration. Scopes may repeat a name. */
  readonly variables: readonly Variable[];
  /**
   * The variable that a name in an operand, an input, an alias or a predicate refers to. Names that were reported as
   * unknown are absent. Labels and routines are looked up by text.
   */
  readonly variableOf: ReadonlyMap<Name, Variable>;
  /** By name. */
  readonly labels: ReadonlyMap<string, BoundLabel>;
  /** In the order of the text. */
  readonly inputs: readonly BoundInput[];
  /** The values of `.kernel_attr`, by name; null for one without a value. */
  readonly attributes: ReadonlyMap<string, number | string | null>;
  /** Lanes of a thread: the attribute `SimdSize`, or 1 if it is absent. */
  readonly simd: number;
  /** Registers of %arg that a function takes (the attribute `ArgSize`); null if absent. */
  readonly argSize: number | null;
  /** Registers of %retval that a function returns (the attribute `RetValSize`); null if absent. */
  readonly retvalSize: number | null;
  /** All instructions in the order of the text; scopes are flattened. */
  readonly instructions: readonly Instruction[];
  /** The routine's errors and warnings, in the order in which they were found. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Whether IGC's vector compiler wrote a routine: its threads have one work item, and all their channels are active. */
export const isVectorCompiled = ({ attributes }: Pick<BoundRoutine, "attributes">): boolean =>
  attributes.get("Target") === "cm";
