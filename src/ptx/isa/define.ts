import type { Op } from "../../ir/index.ts";
import type { Expr, Kit } from "../../semantics/index.ts";
import { type Modifier, type Mods, type OperandSlot, parseForm, type Rules, type Sources } from "./template.ts";

/**
 * Since which version and on which targets something exists. `target` is the least, as in "sm_80"; "sm_90a" that
 * architecture alone; "sm_100f" its family; a list means any of these. `until`: removed from this version on, for targets
 * from `untilTarget` on.
 */
export interface Gate {
  readonly since?: string;
  readonly target?: string | readonly string[];
  readonly until?: string;
  readonly untilTarget?: string;
}

/** How the rows' functions read an instruction's operands beyond single expressions. */
export interface OperandAccess {
  /** The elements of a vector operand (one element for a scalar; for one of 128 bits two `i64`, the low half first). */
  vector(name: string): readonly Expr[];
  /** The same with null for each element that is written `_`. */
  present(name: string): readonly (Expr | null)[];
  /** Whether an optional operand is there. */
  has(name: string): boolean;
  /** The value of an immediate, or null. */
  constant(name: string): number | bigint | null;
  /** The declared width of the register in a destination operand (its first element), in bits. */
  width(name: string): number;
  /** How many elements a destination has (1 for a scalar). */
  count(name: string): number;
  /** The part of an operand that was selected, as in `a.b0`, `b.h32` or the mask `d.b210`: "b0", ...; null for the whole. */
  selector(name: string): string | null;
  /** Whether a `{-}a` operand was written with its minus. The source's expression is the operand without it. */
  negated(name: string): boolean;
  /** The condition-code register CC.CF (9.7.2). A row that writes it returns it under the name `carry`. */
  readonly carry: Expr;
}

/**
 * Destination name to value; a list for a vector destination, and for one of 128 bits (two `i64`, the low half first). A
 * single expression is the value of the first. The type of an expression is that of the destination's rule: `i32` for up
 * to 32 bits (the low bits count), `f32`, `i64`, `f64`, `pred`; the `i32` pattern of an f32 and the `i64` pattern of an
 * f64 will do as well.
 */
export type Results = Expr | Readonly<Record<string, Expr | readonly Expr[]>>;

/**
 * The sources by name, in the type of their rule: `i32` for integers up to 32 bits (those of 8 and 16 bits sign- or
 * zero-extended as the type says), for f16, bf16, tf32, fp8 and packed types the bits in an `i32` (`i64` for f32x2);
 * `i64`, `f32`, `f64`, `pred` for the rest. An address is an `i64` (or `i32` with 32-bit addresses) with the offset added.
 */
type Source<F extends string> = Readonly<Record<Sources<F>, Expr>>;

/**
 * What an operand may be, in a small language (default: `type`):
 *
 * - `type`, or the name of any class in the form: a register or immediate of the chosen type
 * - `u32`, `pred`, ...: of this type
 * - `wide X`, `half X`: of the type of X's kind with twice or half its size
 * - `bits X`: the untyped type of the same size as X
 * - `split X[1,2,4]`: a scalar of type X, or a vector whose elements share X's bits (`mov.b64 d, {lo, hi}`)
 * - `X[n]`: a vector of n elements; `X[1,2,4]`: any of these; `X[vec]`: as many as the class `vec` says (absent: a scalar;
 *   with `X[vec?]` one that may have braces)
 * - prefix `sinks`: elements of a vector of sources may be `_`
 * - prefix `reg`: no immediate; prefix `imm`: only an immediate; `imm u32 0..255`: in this range; `imm u32 4|8`: one of these
 * - `address`: what brackets mean by default; `address shared`: in this space, where it is not the opcode's; `address any`; `name`: a symbol that is checked elsewhere (labels, functions, lists,
 *   textures); `any`: anything the syntax allows, unchecked
 *
 * A function of the chosen modifiers may return any of these.
 */
export type OperandSpec<M = never> = string | ((m: M) => string);

interface FormBase<F extends string, R extends Rules> extends Gate {
  /** The classes of modifiers in the text, with their choices. */
  readonly where?: R;
  readonly operands?: Readonly<Record<string, OperandSpec<Mods<F, R>>>>;
  /** Operands of which a part may be selected (`a.b0`), with the texts allowed behind the dot. */
  readonly selectors?: Readonly<Record<string, RegExp>>;
  readonly since: string;
  /**
   * Gates of single choices or optional modifiers, by their name, as in `{ rz: { target: "sm_20" } }`. `a+b`: where both
   * are written; `!c`: where the optional modifier or class `c` is left out.
   */
  readonly gates?: Readonly<Record<string, Gate>>;
  /** The modifiers may be written in any order, types in their own, as the manual's examples and real programs do. */
  readonly anyOrder?: true;
  /** Optional operands that are there exactly when an optional modifier is: operand to modifier. */
  readonly paired?: Readonly<Record<string, string>>;
  /** What the table cannot say: a reason why these modifiers do not go together, or null. */
  readonly invalid?: (m: Mods<F, R>) => string | null;
  /** One sentence for `lanewise isa`. */
  readonly note?: string;
  /** Cases that the manual leaves undefined: report code to the condition. */
  readonly undefinedCases?: Readonly<Record<string, (k: Kit, src: Source<F>, m: Mods<F, R>) => Expr>>;
}

/** Exactly one of: `sem` (computes results from sources), `effect` (memory, warp, control), `unimplemented` (with the reason). */
export type FormSpec<F extends string, R extends Rules> = FormBase<F, R> &
  (
    | {
        readonly sem: (k: Kit, src: Source<F>, m: Mods<F, R>, ops: OperandAccess) => Results;
        readonly effect?: never;
        readonly unimplemented?: never;
      }
    | {
        readonly effect: (k: Kit, src: Source<F>, m: Mods<F, R>, ops: OperandAccess) => Op;
        readonly sem?: never;
        readonly unimplemented?: never;
      }
    /** Control flow, whose operands are names: lowered by the module that owns it. */
    | { readonly control: true; readonly sem?: never; readonly effect?: never; readonly unimplemented?: never }
    | { readonly unimplemented: string; readonly sem?: never; readonly effect?: never }
  );

type Untyped = Readonly<Record<string, string | boolean | undefined>>;

/** A row of the table, with its types forgotten. */
export interface Form extends Gate {
  readonly text: string;
  readonly rules: Rules;
  readonly modifiers: readonly Modifier[];
  readonly operands: readonly OperandSlot[];
  readonly specs: Readonly<Record<string, OperandSpec<Untyped>>>;
  readonly selectors: Readonly<Record<string, RegExp>>;
  readonly since: string;
  readonly gates: Readonly<Record<string, Gate>>;
  readonly anyOrder: boolean;
  readonly paired: Readonly<Record<string, string>>;
  readonly invalid: ((m: Untyped) => string | null) | null;
  readonly note: string | null;
  readonly undefinedCases: Readonly<Record<string, (k: Kit, src: Readonly<Record<string, Expr>>, m: Untyped) => Expr>>;
  readonly sem: ((k: Kit, src: Readonly<Record<string, Expr>>, m: Untyped, ops: OperandAccess) => Results) | null;
  readonly effect: ((k: Kit, src: Readonly<Record<string, Expr>>, m: Untyped, ops: OperandAccess) => Op) | null;
  readonly control: boolean;
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

  // Parsed on first use: a program needs a few dozen of the table's rows, and start-up time is dear.
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
    return "control" in this.#spec;
  }
  get unimplemented() {
    return this.#spec.unimplemented ?? null;
  }
}

/**
 * A row of the table. Its text gives the types of its own functions and is forgotten afterwards: all rows are called alike,
 * with what `resolve` has found in an opcode by the same text, hence the cast.
 */
export const form = <const F extends string, const R extends Rules = Record<never, never>>(
  text: F,
  spec: FormSpec<F, R>,
): Form => new Row(text, spec as unknown as FormSpec<string, Rules>);

export interface Instruction<N extends string = string> {
  /** The manual's name, as in "add", "cp.async.bulk", "bar". */
  readonly name: N;
  readonly summary: string;
  /** The manual's section, as in "9.7.1.1". */
  readonly section: string;
  readonly forms: readonly Form[];
}

export const instruction = <const N extends string>(
  name: N,
  spec: { readonly summary: string; readonly section: string; readonly forms: readonly Form[] },
): Instruction<N> => ({ name, ...spec });
