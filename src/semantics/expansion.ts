import { type Features, type LibraryFunction, type Wasm, type WasmTy, wasm } from "../wasm/index.ts";
import { type Form, halfForm, quadForm, scalarForm } from "./form.ts";
import type { Emission, Evaluation, Prim } from "./prim.ts";
import type { Ty } from "./types.ts";

/** Code for a primitive that is too long to be inlined at each use. */
export interface Expansion {
  readonly expand: (form: Form, ...operands: Wasm[]) => Wasm;
  /**
   * Returns an `i32`: whether the expansion gives the same bits as `eval` for all lanes of these operands. If not,
   * `eval` is called.
   */
  readonly applies?: (form: Form, ...operands: Wasm[]) => Wasm;
  /** The shorter code for a machine with a feature. */
  readonly native?: { readonly feature: keyof Features; readonly body: (form: Form, ...operands: Wasm[]) => Wasm };
}

const isLong = (ty: Ty): boolean => ty === "i64" || ty === "f64";
const scalarTy = (ty: Ty): WasmTy => (ty === "pred" ? "i32" : ty);
const tyIn = (form: Form, ty: Ty): WasmTy => (form.count === 1 ? scalarTy(ty) : "v128");
/** The vector form of primitives with these types. */
const vectorForm = (types: readonly Ty[]): Form => (types.some(isLong) ? halfForm : quadForm);

/** One lane of an operand, as a scalar. */
function extracted(form: Form, ty: Ty, operand: Wasm, lane: number): Wasm {
  if (ty === "i64" || ty === "f64") return wasm.lane(`${ty}x2.extract_lane`, lane, operand);
  if (ty === "pred") {
    const word = wasm.lane("i32x4.extract_lane", (lane * 4) / form.count, operand);
    return wasm.op("i32.and", word, wasm.i32(1));
  }
  return wasm.lane(`${ty}x4.extract_lane`, lane, operand);
}

/** A vector from scalars, one for each lane. */
function assembled(form: Form, ty: Ty, values: readonly Wasm[]): Wasm {
  if (ty === "pred") {
    const words = values.map((p) => wasm.op("i32.sub", wasm.i32(0), p));
    const each = form.count === 4 ? words : words.flatMap((word) => [word, word]);
    return assembled(form, "i32", each);
  }
  const shape = isLong(ty) ? (`${ty}x2` as "i64x2" | "f64x2") : (`${ty}x4` as "i32x4" | "f32x4");
  return values
    .slice(1)
    .reduce(
      (v, value, i) => wasm.lane(`${shape}.replace_lane`, i + 1, v, value),
      wasm.op(`${shape}.splat`, values[0]!),
    );
}

/** Returns a vector form that applies the scalar form lane by lane. */
export function laneByLane(
  params: readonly Ty[],
  result: Ty,
  scalar: (...operands: Wasm[]) => Wasm,
): Omit<Emission, "scalar"> {
  const form = vectorForm([...params, result]);
  const vector = (...operands: Wasm[]): Wasm => {
    const lane = (_: unknown, i: number): Wasm => scalar(...operands.map((o, p) => extracted(form, params[p]!, o, i)));
    return assembled(form, result, Array.from({ length: form.count }, lane));
  };
  return { [form.name]: vector };
}

/** The name by which modules import the `eval` of a primitive. Predicates are passed as 0 or 1. */
export const evalImport = (name: string): string => `prim:${name}`;

/** The fallback emission that every primitive has: a call of its `eval` for each lane. */
export function evaluated(name: string, params: readonly Ty[], result: Ty): Emission {
  const scalar = (...operands: Wasm[]): Wasm => wasm.import(evalImport(name), scalarTy(result), ...operands);
  return { scalar, ...laneByLane(params, result, scalar) };
}

/**
 * A table row whose expansion becomes a library function, one for scalars and one for vectors. `named` turns it into a
 * primitive.
 */
interface Expanded {
  readonly params: readonly Ty[];
  readonly result: Ty;
  readonly eval: Prim["eval"];
  readonly expansion: Expansion;
}

/** Returns a table row for a primitive with an expansion; the operand types of `evaluate` follow from the signature. */
export const expanded = <const P extends readonly Ty[], R extends Ty>(
  params: P,
  result: R,
  evaluate: Evaluation<P, R>,
  expansion: Expansion,
): Expanded => ({ params, result, eval: evaluate as unknown as Prim["eval"], expansion });

function emissionOf(name: string, { params, result, expansion }: Expanded): Emission {
  const { expand, applies, native } = expansion;
  const inForm = (form: Form) => {
    const types = { params: params.map((ty) => tyIn(form, ty)), result: tyIn(form, result) };
    const slow: LibraryFunction = {
      ...types,
      name: `${name} by eval, ${form.name}`,
      body: (...operands) => evaluated(name, params, result)[form.name]!(...operands),
    };
    const fast: LibraryFunction = {
      ...types,
      name: `${name}, ${form.name}`,
      body: (...operands) => {
        const value = expand(form, ...operands);
        return applies === undefined ? value : wasm.if(applies(form, ...operands), value, wasm.call(slow, ...operands));
      },
      ...(native && { native: { feature: native.feature, body: (...args: Wasm[]) => native.body(form, ...args) } }),
    };
    return (...operands: Wasm[]): Wasm => wasm.call(fast, ...operands);
  };
  const vector = vectorForm([...params, result]);
  return { scalar: inForm(scalarForm), [vector.name]: inForm(vector) };
}

/** Names the expansions in a table after their rows, which makes every row a primitive. */
export function named<T extends Readonly<Record<string, Prim | Expanded>>>(rows: T): { readonly [K in keyof T]: Prim } {
  const primOf = (name: string, row: Prim | Expanded): Prim =>
    "wasm" in row ? row : { params: row.params, result: row.result, eval: row.eval, wasm: emissionOf(name, row) };
  const prims = Object.entries(rows).map(([name, row]) => [name, primOf(name, row)]);
  return Object.fromEntries(prims) as { [K in keyof T]: Prim };
}
