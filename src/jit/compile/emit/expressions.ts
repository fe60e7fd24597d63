import { directConversion } from "../../../semantics/direct-conversion.ts";
import type { Emission, Expr, Ty } from "../../../semantics/index.ts";
import type { RowSteps, Shape } from "../../../ir/uniformity/shape.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { KnownLanes } from "../analysis/values/known-lanes.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { NarrowRegisters } from "../analysis/values/narrow-registers.ts";
import { LaneConstants } from "./lane-constants.ts";
import { NarrowExpressions } from "./narrow-expressions.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { widened, widenedMask, type NarrowBits, type NarrowForm } from "../lanes/narrow.ts";
import {
  applyQuads,
  applyScalar,
  applyVector,
  bitsOfScalar,
  firstOfRow,
  laneOf,
  type Quad,
  scalarIn,
  type Value,
  type Vector,
  vectorIn,
  vectorOf,
} from "../lanes/value.ts";

/** The value of a special register. */
export type SpecialValues = (leaf: Extract<Expr, { kind: "special" }>) => Value;

/** Where the values of leaves come from. */
export interface Sources {
  readonly special: SpecialValues;
  readonly frame: (leaf: Extract<Expr, { kind: "frame" }>) => Wasm;
  readonly locals: (register: number) => readonly number[];
  /** The number of quads. */
  readonly quads: () => number;
  /** Registers that are rematerialized wherever they are read. */
  readonly rematerialized: ReadonlyMap<number, Expr>;
  /** Registers whose values are known, lane by lane. */
  readonly known: KnownLanes["values"];
  /** Which registers are kept in narrow lanes. */
  readonly narrow: NarrowRegisters;
}

/** Turns expressions into values of a chunk, once for each instruction. */
export class Expressions {
  readonly #analysis: UniformityAnalysis;
  readonly #specials: SpecialValues;
  readonly #frame: Sources["frame"];
  readonly #locals: Sources["locals"];
  readonly #quads: Sources["quads"];
  readonly #allQuads: number;
  readonly #rematerialized: Sources["rematerialized"];
  readonly #known: Sources["known"];
  readonly #laneConstants: LaneConstants;
  readonly #plans: NarrowRegisters;
  /** The same values in narrow lanes. */
  readonly narrow: NarrowExpressions;
  /** Uniform registers that also exist as vectors: the local of each. */
  readonly #splats = new Map<number, number>();
  #values = new Map<Expr, Value>();

  constructor(analysis: UniformityAnalysis, sources: Sources) {
    const { special, frame, locals, quads, rematerialized, known, narrow } = sources;
    this.#analysis = analysis;
    this.#specials = special;
    this.#frame = frame;
    this.#locals = locals;
    this.#quads = quads;
    this.#allQuads = quads();
    this.#rematerialized = rematerialized;
    this.#known = known;
    this.#plans = narrow;
    this.narrow = new NarrowExpressions(narrow, { locals, quads, wide: (expr) => this.of(expr) });
    this.#laneConstants = new LaneConstants({
      lanes: 4 * quads(),
      laneId: special,
      multiple: (leaf) => {
        const shape = analysis.shape(leaf);
        return shape.kind === "affine" ? (shape.width ?? 1) : 1;
      },
    });
  }

  /** Drops all values: registers may have changed. */
  forget(): void {
    if (this.#values.size > 0) this.#values = new Map();
    this.narrow.forget();
  }

  /** Provides the value of a leaf that has been loaded for the current instruction. */
  provide(leaf: Expr, value: Value): void {
    this.#values.set(leaf, value);
  }

  /** Makes known that a local holds the vector of a uniform register. */
  splat(register: number, local: number): void {
    this.#splats.set(register, local);
  }

  /** The value of an expression. */
  of(expr: Expr): Value {
    let value = this.#values.get(expr);
    if (value === undefined) this.#values.set(expr, (value = this.#compute(expr)));
    return value;
  }

  /** The mask of the lanes in which a predicate is true. */
  maskOf(register: number): readonly Wasm[] {
    return vectorOf(this.read(register, "pred"), this.#quads()).quads.map(([quad]) => quad!);
  }

  #compute(expr: Expr): Value {
    switch (expr.kind) {
      case "const":
        return { kind: "uniform", ty: expr.ty, scalar: constant(expr) };
      case "reg":
        return this.read(expr.reg, expr.ty);
      case "special":
        return this.#forQuads(this.#specials(expr));
      case "frame":
        return { kind: "uniform", ty: expr.ty, scalar: this.#frame(expr) };
      case "prim":
        return this.#prim(expr);
      case "lane-word":
        return { kind: "uniform", ty: "i32", scalar: laneBits(this.maskOf(expr.reg)) };
      default:
        throw new Error(`an expression of kind ${expr.kind} has no value of its own`);
    }
  }

  #forQuads(value: Value): Value {
    return value.kind === "vector" ? { ...value, quads: value.quads.slice(0, this.#quads()) } : value;
  }

  #prim(expr: Extract<Expr, { kind: "prim" }>): Value {
    const direct = directConversion(expr);
    if (direct !== null) return this.#convert(expr.ty, direct.emission, this.of(direct.operand));
    const shape = this.#analysis.shape(expr);
    const constant = shape.kind === "vector" ? this.#laneConstants.of(expr, this.#quads()) : null;
    if (constant !== null) return constant;
    const bits = shape.kind === "vector" ? this.#plans.widthOf(expr) : null;
    if (bits !== null) return this.#widened(expr, bits);
    const args = expr.args.map((a) => this.of(a));
    switch (shape.kind) {
      case "uniform":
        return { kind: "uniform", ty: expr.ty, scalar: applyScalar(expr.prim, args.map(baseOf)) };
      case "affine":
        return {
          kind: "affine",
          ty: expr.ty as "i32" | "i64",
          base:
            args[0]!.kind === "indexed"
              ? lowHalf(args[0]!, baseOf(args[0]!.index))
              : applyScalar(expr.prim, args.map(baseOf)),
          stride: shape.stride,
        };
      case "indexed": {
        const { scale, signed } = shape;
        const [first] = args;
        if (first!.ty === "i32") {
          return { kind: "indexed", ty: "i64", base: wasm.i64(0n), index: first!, scale, signed };
        }
        const from = args.find((a) => a.kind === "indexed") as Extract<Value, { kind: "indexed" }>;
        return { ...from, base: applyScalar(expr.prim, args.map(baseOf)), scale };
      }
      case "rows":
        return this.#inRows(expr, shape.rows, args);
      case "vector":
        return applyVector(
          expr.prim,
          args.map((a) => vectorOf(a, this.#quads())),
          this.#quads(),
        );
    }
  }

  /** An expression that is evaluated for the first lane of each row. */
  #inRows({ prim, ty }: Extract<Expr, { kind: "prim" }>, { x, length }: RowSteps, args: readonly Value[]): Value {
    const [first] = args;
    const bases = this.#rowNumbers(length).map((row) =>
      first!.kind === "indexed" && prim === "i32.wrap_i64"
        ? lowHalf(first!, firstOfRow(first!.index, row, length))
        : applyScalar(
            prim,
            args.map((arg) => firstOfRow(arg, row, length)),
          ),
    );
    return { kind: "rows", ty, bases, stride: x, length };
  }

  /** The numbers of the rows of a chunk, of which all are kept, even while code is written for its first lanes. */
  #rowNumbers(length: number): readonly number[] {
    return Array.from({ length: (4 * this.#allQuads) / length }, (_, row) => row);
  }

  /** An expression that fits in narrow lanes, evaluated there. */
  #widened(expr: Expr, bits: NarrowBits, form: Pick<NarrowForm, "signed" | "of"> | null = null): Vector {
    const value = this.narrow.of(expr, bits);
    const quads = this.#quads();
    if (expr.ty === "pred") return { kind: "vector", ty: "pred", quads: widenedMask(value, quads) };
    const signed = form?.signed ?? this.#plans.isSigned(expr, bits);
    const words = widened(value, { signed, of: form?.of ?? 32 }, quads);
    return { kind: "vector", ty: "i32", quads: words, ...(signed ? {} : { bits }) };
  }

  #convert(ty: Ty, { scalar, quad }: Emission, operand: Value): Value {
    if (operand.kind === "uniform") return { kind: "uniform", ty, scalar: scalar!(operand.scalar) };
    return applyQuads(ty, quad!, [vectorOf(operand, this.#quads())], this.#quads());
  }

  read(register: number, ty: Ty): Value {
    const shape = this.#analysis.register(register);
    const known = this.#known.get(register);
    if (known !== undefined) return this.#forQuads(knownValue(shape, ty, known));
    const computed = this.#rematerialized.get(register);
    if (computed !== undefined) return this.of(computed);
    const locals = this.#locals(register);
    switch (shape.kind) {
      case "uniform": {
        const all = this.#splats.get(register);
        const kept = all === undefined ? {} : { all: wasm.local("v128", all) };
        return { kind: "uniform", ty, scalar: scalarIn(ty, locals[0]!), ...kept };
      }
      case "affine": {
        const word = ty === "i64" ? "i64" : "i32";
        const value: Value = { kind: "affine", ty: word, base: wasm.local(word, locals[0]!), stride: shape.stride };
        return ty === word ? value : { ...vectorOf(value, this.#quads()), ty };
      }
      case "indexed": {
        const [base, ...rest] = locals;
        const { rows } = shape;
        const index: Value =
          rows !== undefined
            ? rowsIn("i32", rest, rows)
            : shape.stride === null
              ? { kind: "vector", ty: "i32", quads: rest.map((l): Quad => [wasm.local("v128", l)]) }
              : { kind: "affine", ty: "i32", base: wasm.local("i32", rest[0]!), stride: shape.stride };
        const { scale, signed } = shape;
        const value: Value = { kind: "indexed", ty: "i64", base: wasm.local("i64", base!), index, scale, signed };
        return ty === "i64" ? value : { ...vectorOf(value, this.#quads()), ty };
      }
      case "rows": {
        const isWord = ty === "i32" || ty === "i64" || ty === "pred";
        if (isWord) return rowsIn(ty, locals, shape.rows);
        const word = ty === "f64" ? "i64" : "i32";
        return { ...vectorOf(rowsIn(word, locals, shape.rows), this.#quads()), ty };
      }
      case "vector": {
        const form = this.#plans.form(register);
        if (form === null) return vectorIn(ty, locals);
        return {
          ...this.#widened({ kind: "reg", ty: ty === "pred" ? ty : "i32", reg: register }, form.bits, form),
          ty,
        };
      }
    }
  }
}

/** A value that is known in each lane, in the form in which others are. `lanes`: its bits, by lane. */
export function knownValue(shape: Shape, ty: Ty, lanes: readonly number[]): Value {
  const [first] = lanes;
  if (shape.kind === "affine") {
    const value: Value = { kind: "affine", ty: "i32", base: wasm.i32(first!), stride: shape.stride };
    return ty === "i32" ? value : { ...vectorOf(value, lanes.length / 4), ty };
  }
  if (shape.kind === "uniform") {
    const bits = wasm.i32(first!);
    return { kind: "uniform", ty, scalar: ty === "f32" ? wasm.op("f32.reinterpret_i32", bits) : bits };
  }
  if (shape.kind === "rows") {
    const { x, length } = shape.rows;
    const bases = lanes.filter((_, lane) => lane % length === 0).map((base) => wasm.i32(base));
    const value: Value = { kind: "rows", ty: ty === "pred" ? ty : "i32", bases, stride: x, length };
    return ty === value.ty ? value : { ...vectorOf(value, lanes.length / 4), ty };
  }
  const quads: Quad[] = [];
  for (let lane = 0; lane < lanes.length; lane += 4) {
    const own = lanes.slice(lane, lane + 4);
    const isSame = own.every((bits) => bits === own[0]);
    if (ty === "pred") quads.push([isSame ? wasm.i32x4(-own[0]!) : wasm.lanes(own.map((bits) => -bits))]);
    else quads.push([isSame ? wasm.i32x4(own[0]!) : wasm.lanes(own)]);
  }
  return { kind: "vector", ty, quads };
}

/** The scalar part of a structured value; of a vector, as where rows continue each other, its first lane. */
export const baseOf = (value: Value): Wasm => {
  if (value.kind === "vector") return laneOf(value, 0);
  if (value.kind === "rows") return value.bases[0]!;
  return value.kind === "uniform" ? value.scalar : value.base;
};

/** A value that is kept by rows in locals. */
const rowsIn = (ty: Ty, locals: readonly number[], { x, length }: RowSteps): Value => ({
  ...{ kind: "rows", ty, stride: x, length },
  bases: locals.map((local) => scalarIn(ty, local)),
});

/** The first lanes of the rows of a chunk, of which registers of a shape have so many. */
const firstOfRows = (value: Value, { length }: RowSteps, quads: number): readonly Wasm[] =>
  Array.from({ length: (4 * quads) / length }, (_, row) => bitsOfScalar(firstOfRow(value, row, length)));

/** The low half of `base + index * scale`, for the first lane or that of a row. */
function lowHalf({ base, scale }: Extract<Value, { kind: "indexed" }>, index: Wasm): Wasm {
  const offset = wasm.op("i32.mul", index, wasm.i32(scale));
  return wasm.op("i32.add", wasm.op("i32.wrap_i64", base), offset);
}

/** The parts of a value, as a register of a shape keeps it. */
export function partsOf(value: Value, shape: Shape, quads: number): readonly Wasm[] {
  if (shape.kind === "rows") return firstOfRows(value, shape.rows, quads);
  if (shape.kind === "vector" || value.kind === "vector") return vectorOf(value, quads).quads.flat();
  switch (value.kind) {
    case "uniform":
      return [bitsOfScalar(value.scalar)];
    case "affine":
      return [value.base];
    case "indexed":
      return [value.base, ...indexParts(value.index, shape, quads)];
    case "rows":
      throw new Error("a value that is kept by rows has their shape");
  }
}

/** The parts of an index, as a register of a shape keeps it. */
function indexParts(index: Value, shape: Shape, quads: number): readonly Wasm[] {
  if (shape.kind !== "indexed" || shape.stride !== null) return [baseOf(index)];
  return shape.rows === undefined ? vectorOf(index, quads).quads.flat() : firstOfRows(index, shape.rows, quads);
}

function constant({ ty, value }: Extract<Expr, { kind: "const" }>): Wasm {
  switch (ty) {
    case "pred":
      return wasm.i32(value ? 1 : 0);
    case "i64":
      return wasm.i64(value as bigint);
    default:
      return wasm[ty](value as number);
  }
}
