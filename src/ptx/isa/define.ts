import type { Destination, Op } from "../../ir/index.ts";
import type { Expr, Kit } from "../../semantics/index.ts";
import { type Modifier, type Mods, type OperandSlot, parseForm, type Rules, type Sources } from "./template.ts";

/**
 * The PTX ISA versions and targets that have a form or a modifier, from the section's "PTX ISA Notes" and "Target ISA
 * Notes".
 */
export interface Gate {
  /** The PTX ISA version that introduced it, such as "7.0". */
  readonly since?: string;
  /**
   * The lowest target, such as "sm_80"; "sm_90a" means this architecture only, "sm_100f" its family; a list, any of
   * these.
   */
  readonly target?: string | readonly string[];
  /** The PTX ISA version that removed it. */
  readonly until?: string;
  /** The lowest target that it was removed for; all by default. */
  readonly untilTarget?: string;
}

/** A register that only the steps of one instruction use. */
export interface Temporary {
  readonly register: number;
  readonly value: Expr;
}

/** One of the operations that an instruction consists of. */
export interface Step {
  /** A `branch` goes back to the first step: its target is 0. */
  readonly op: Op;
  /** Where the results go; the destinations of the instruction by default. */
  readonly dst?: readonly Destination[];
  /** The lanes that execute it, of those that the instruction is for: a predicate. */
  readonly where?: Expr;
}

/** The operations of an instruction whose row has given one, or several. */
export const stepsOf = (effect: Op | readonly Step[]): readonly Step[] =>
  Array.isArray(effect) ? (effect as readonly Step[]) : [{ op: effect as Op }];

/** Gives a row's functions what they need to know about an instruction's operands beyond single expressions. */
export interface OperandAccess {
  /** The elements of a source operand: one for a scalar, and two `i64`, low half first, for each 128-bit element. */
  vector(name: string): readonly Expr[];
  /** The elements of a destination as they are before the instruction: registers of 32 bits. */
  previous(name: string): readonly Expr[];
  /** The elements of a vector operand, with null for each that is written `_`. */
  present(name: string): readonly (Expr | null)[];
  /** Whether an optional operand is present. */
  has(name: string): boolean;
  /** The value of an immediate, or null if the operand is not one. */
  constant(name: string): number | bigint | null;
  /** The registers of a destination, for steps that write some of them. */
  destinations(name: string): readonly Destination[];
  /** The declared width in bits of a destination's register, or of its first element. */
  width(name: string): number;
  /** The number of elements of a destination: 1 for a scalar. */
  count(name: string): number;
  /**
   * The selected part of an operand, without the dot, as in `a.b0`, `b.h32` or the mask `d.b210`; null for the whole
   * operand.
   */
  selector(name: string): string | null;
  /**
   * A register of 32 bits that keeps a value between the steps of the instruction: the one with this number, from 0.
   */
  temporary(index: number): Temporary;
  /** The number of the module's target: 90 for sm_90a. */
  readonly sm: number;
  /** Whether a `{-}a` operand was written with its minus sign. The source's expression does not include it. */
  negated(name: string): boolean;
  /** The carry flag CC.CF (9.7.2). A row that writes it returns it under the name `carry`. */
  readonly carry: Expr;
}

/**
 * The values of the destinations by name: a list for a vector, and for a 128-bit destination (two `i64`, low half
 * first). A single expression is the value of the first destination. The type of an expression follows from the
 * destination's rule: `i32` for up to 32 bits (of which the low ones are used), `f32`, `i64`, `f64` or `pred`. An f32
 * may also be given as its `i32` pattern, an f64 as its `i64` pattern.
 */
export type Results = Expr | Readonly<Record<string, Expr | readonly Expr[]>>;

/**
 * The sources by name, with the type of their rule: `i32` for integers of up to 32 bits (those of 8 and 16 bits sign-
 * or zero-extended according to the type) and for the bits of f16, bf16, tf32, fp8 and packed types (`i64` for f32x2);
 * `i64`, `f32`, `f64` or `pred` for the rest. An address is an `i64` (or an `i32` with 32-bit addresses) that includes
 * the offset.
 */
export type Source<F extends string> = Readonly<Record<Sources<F>, Expr>>;

/**
 * What an operand may be, in a small language (the default is `type`):
 *
 * - `type`, or the name of any class in the form: a register or immediate of the chosen type
 * - `u32`, `pred` and so on: a register or immediate of this type
 * - `wide X`, `half X`: the type of X's kind with twice or half its size
 * - `bits X`: the untyped type of the same size as X
 * - `split X[1,2,4]`: a scalar of type X, or a vector whose elements share X's bits (`mov.b64 d, {lo, hi}`)
 * - `X[n]`: a vector of n elements; `X[1,2,4]`: of any of these numbers; `X[vec]`: of as many as the class `vec` says.
 *   Without `vec` it is a scalar, which `X[vec?]` allows to be in braces; `X[?]` is a scalar that may be in braces
 * - prefix `sinks`: elements of a vector of sources may be `_`
 * - prefix `sink`: a result that cannot be kept, `_`
 * - prefix `reg`: not an immediate; prefix `imm`: only an immediate; `imm u32 0..255`: in this range; `imm u32 4|8`:
 *   one of these; `u32 multiple 16`: if it is an immediate, a multiple of this
 * - `address`, the default for operands in brackets: an address in the opcode's state space; `address shared`: in this
 *   space; `address any`: in any space; `address tensor`: in tensor memory; `address handle`: a texture or a surface
 * - `name`: a symbol that is checked elsewhere (labels, functions, lists, textures)
 * - `any`: anything that the syntax allows, unchecked
 *
 * A function of the chosen modifiers may return any of these.
 */
export type OperandSpec<M = never> = string | ((m: M) => string);

/** The fields that the specifications of all rows have. */
export interface FormBase<F extends string, R extends Rules> extends Gate {
  /** The classes of modifiers in the text, each with its choices. */
  readonly where?: R;
  /** The operands that the default spec does not describe. */
  readonly operands?: Readonly<Record<string, OperandSpec<Mods<F, R>>>>;
  /** The operands of which a part may be selected (`a.b0`), with the texts that may follow the dot. */
  readonly selectors?: Readonly<Record<string, RegExp>>;
  readonly since: string;
  /**
   * Gates of single choices or optional modifiers by name, as in `{ rz: { target: "sm_20" } }`. `a+b` applies if both
   * are written, `!c` if the optional modifier or class `c` is left out.
   */
  readonly gates?: Readonly<Record<string, Gate>>;
  /**
   * The modifiers may be written in any order, except that types keep theirs, as the manual's examples and real
   * programs do.
   */
  readonly anyOrder?: true;
  /** Optional operands that are present exactly if an optional modifier is, by operand. */
  readonly paired?: Readonly<Record<string, string>>;
  /** Why the chosen modifiers cannot be combined, or null; for rules that the classes cannot express. */
  readonly invalid?: (m: Mods<F, R>) => string | null;
  /** One sentence for `lanewise isa`. */
  readonly note?: string;
  /** The cases that the manual leaves undefined: the condition by report code. */
  readonly undefinedCases?: Readonly<Record<string, (k: Kit, src: Source<F>, m: Mods<F, R>) => Expr>>;
}

/**
 * How an instruction moves control. `exit` ends the thread, `stop` the grid; both have an `effect`, the others are
 * lowered by kind, since their operands are names.
 */
export type ControlKind = "branch" | "branch-indexed" | "call" | "return" | "exit" | "stop";

/**
 * A row's specification, with exactly one of `sem` (computes results from sources), `effect` (operations on memory or
 * the warp), `control` (control flow) and `unimplemented` (the reason why running it is refused).
 */
export type FormSpec<F extends string, R extends Rules> = FormBase<F, R> &
  (
    | {
        /** Builds the values of the destinations as expressions over the sources. */
        readonly sem: (k: Kit, src: Source<F>, m: Mods<F, R>, ops: OperandAccess) => Results;
        readonly effect?: never;
        readonly unimplemented?: never;
      }
    | {
        /** Builds the operation of the lane IR, or those that the instruction consists of, in their order. */
        readonly effect: (k: Kit, src: Source<F>, m: Mods<F, R>, ops: OperandAccess) => Op | readonly Step[];
        readonly control?: Extract<ControlKind, "exit" | "stop">;
        readonly sem?: never;
        readonly unimplemented?: never;
      }
    /** Control flow, whose operands are names. Lowered by its kind, not through the row. */
    | {
        readonly control: Exclude<ControlKind, "exit" | "stop">;
        readonly sem?: never;
        readonly effect?: never;
        readonly unimplemented?: never;
      }
    | { readonly unimplemented: string; readonly sem?: never; readonly effect?: never }
  );

/** The chosen modifiers of an instruction: a text by class, whether it is written by optional modifier. */
export type Untyped = Readonly<Record<string, string | boolean | undefined>>;

/**
 * A form of an instruction: a row of the table, with the types of its functions erased. See `FormSpec` for the fields.
 */
export interface Form extends Gate {
  /** The row's text in the manual's notation, as in "add{.sat}.s32 d, a, b". */
  readonly text: string;
  /** The classes of modifiers, each with its choices. */
  readonly rules: Rules;
  /** The modifiers in the order of the text. */
  readonly modifiers: readonly Modifier[];
  /** The operands in the order of the text. */
  readonly operands: readonly OperandSlot[];
  /** The operands that the default spec does not describe. */
  readonly specs: Readonly<Record<string, OperandSpec<Untyped>>>;
  readonly selectors: Readonly<Record<string, RegExp>>;
  readonly since: string;
  readonly gates: Readonly<Record<string, Gate>>;
  readonly anyOrder: boolean;
  readonly paired: Readonly<Record<string, string>>;
  /** Says why the chosen modifiers cannot be combined; null if they can. */
  readonly invalid: ((m: Untyped) => string | null) | null;
  readonly note: string | null;
  /** The cases that the manual leaves undefined: the condition by report code. */
  readonly undefinedCases: Readonly<Record<string, (k: Kit, src: Readonly<Record<string, Expr>>, m: Untyped) => Expr>>;
  /** Builds the values of the destinations as expressions over the sources. */
  readonly sem: ((k: Kit, src: Readonly<Record<string, Expr>>, m: Untyped, ops: OperandAccess) => Results) | null;
  /** Builds the operation of the lane IR. */
  readonly effect:
    | ((k: Kit, src: Readonly<Record<string, Expr>>, m: Untyped, ops: OperandAccess) => Op | readonly Step[])
    | null;
  readonly control: ControlKind | null;
  readonly unimplemented: string | null;
}

class Row implements Form {
  readonly text: string;
  readonly rules: Rules;
  readonly #spec: FormSpec<string, Rules>;
  #parsed: ReturnType<typeof parseForm> | null = null;

  constructor(text: string, spec: FormSpec<string, Rules>) {
    this.text = text;
    this.#spec = spec;
    this.rules = spec.where ?? {};
  }

  // Parsed on first use to keep start-up short: a program needs only a few dozen rows of the table.
  get #form() {
    this.#parsed ??= parseForm(this.text, this.rules);
    return this.#parsed;
  }
  get modifiers() {
    return this.#form.modifiers;
  }
  get operands() {
    return this.#form.operands;
  }
  get specs() {
    return (this.#spec.operands ?? {}) as Form["specs"];
  }
  get selectors() {
    return this.#spec.selectors ?? {};
  }
  get since() {
    return this.#spec.since;
  }
  get target() {
    return this.#spec.target as string | readonly string[];
  }
  get until() {
    return this.#spec.until as string;
  }
  get untilTarget() {
    return this.#spec.untilTarget as string;
  }
  get gates() {
    return this.#spec.gates ?? {};
  }
  get anyOrder() {
    return this.#spec.anyOrder ?? false;
  }
  get paired() {
    return this.#spec.paired ?? {};
  }
  get invalid() {
    return (this.#spec.invalid ?? null) as Form["invalid"];
  }
  get note() {
    return this.#spec.note ?? null;
  }
  get undefinedCases() {
    return (this.#spec.undefinedCases ?? {}) as Form["undefinedCases"];
  }
  get sem() {
    return (this.#spec.sem ?? null) as Form["sem"];
  }
  get effect() {
    return (this.#spec.effect ?? null) as Form["effect"];
  }
  get control() {
    return "control" in this.#spec ? (this.#spec.control ?? null) : null;
  }
  get unimplemented() {
    return this.#spec.unimplemented ?? null;
  }
}

/** The effect of an instruction that changes nothing a program can see. */
export const nothing = (): Op => ({ kind: "nothing" });

/**
 * Makes a row of the table. The text determines the types of the row's own functions. These types are then erased,
 * because all rows are called alike, with the modifiers that `resolve` matched against the same text; hence the cast.
 */
export const form = <const F extends string, const R extends Rules = Record<never, never>>(
  text: F,
  spec: FormSpec<F, R>,
): Form => new Row(text, spec as unknown as FormSpec<string, Rules>);

/** An instruction of PTX with its forms. */
export interface Instruction<N extends string = string> {
  /** The manual's name, as in "add", "cp.async.bulk", "bar". */
  readonly name: N;
  /** What it does, in one line that continues "the instruction ...". */
  readonly summary: string;
  /** The manual's section, as in "9.7.1.1". */
  readonly section: string;
  readonly forms: readonly Form[];
}

/** Makes an instruction of the table. `name`: as in the manual. */
export const instruction = <const N extends string>(
  name: N,
  spec: { readonly summary: string; readonly section: string; readonly forms: readonly Form[] },
): Instruction<N> => ({ name, ...spec });
