import { type FileTarget, windows } from "../../ir/index.ts";
import { allLanes, elementOf, type Lanes, maskOf, strideOf } from "../../ir/region.ts";
import { isScalarName, scalarIndex } from "../../machine/state/specials.ts";
import { nan32, nan64 } from "../../numeric/float-pattern.ts";
import {
  type Expr,
  type IndirectLeaf,
  type PrimName,
  primOf,
  type Region,
  type RegionLeaf,
  type Value,
} from "../../semantics/index.ts";
import type { Assignment, ExprCompiler, FunctionContext, LaneFunction, Run } from "./expr-compiler.ts";
import { isUniform } from "./region-hazard.ts";
import type { Slot } from "./register-file.ts";

/*
 * Why text and `new Function`: a closure that serves all expressions calls the primitives through one megamorphic site.
 * A loop of its own for each *shape* of expression has its own type feedback, so that V8 inlines the primitives into
 * it: 1 to 3 ns a lane instead of 20. Register numbers and most constants are parameters, so a program has few shapes.
 */

type Maker<F> = (...operands: readonly (number | bigint)[]) => F;
const makers = new Map<string, Maker<unknown>>();

function make<F>(emitter: Emitter, text: string): F {
  const prims = [...emitter.prims.keys()];
  const source = `return (${emitter.operands.map((_, i) => `k${i}`).join(",")}) => ${text}`;
  const key = `${prims.join(" ")}\n${source}`;
  let maker = makers.get(key);
  if (maker === undefined) {
    maker = new Function(...prims.map((_, i) => `p${i}`), source)(
      ...prims.map((p) => primOf(p).eval),
    ) as Maker<unknown>;
    makers.set(key, maker);
  }
  return maker(...emitter.operands) as F;
}

/** Whether the host allows code from text; a page's content security policy may forbid it. */
export function canGenerate(): boolean {
  try {
    return new Function("return true")() === true;
  } catch {
    return false;
  }
}

/** The loop over the lanes of a mask, with and without gaps. `body` uses the lane number `i`. */
export function laneLoop(body: string, lanes: Lanes | null): string {
  const { first, count } = lanes ?? allLanes;
  if (count === 1) return `do { const i = ${first}; ${body} } while (false);`;
  const whole = `for (let i = ${first}; i < ${first + count}; i++) { ${body} }`;
  return (
    `if (mask === ${maskOf({ first, count })}) { ${whole} } ` +
    `else { for (let m = mask; m !== 0; m &= m - 1) { const i = 31 - Math.clz32(m & -m); ${body} } }`
  );
}

const views = "const I = x.i32, F = x.f32, L = x.i64, D = x.f64;";

export const loopCompiler: ExprCompiler = {
  assign: (context, assignments, lanes) => {
    const emitter = new Emitter(context, lanes);
    const values = assignments.map((a) => emitter.target(a));
    const body = [...emitter.lines, ...values].join(" ");
    const [before, after] = [emitter.prologue.join(" "), emitter.epilogue.join(" ")];
    return make<Run>(emitter, `(x, mask) => { ${views} ${before} ${laneLoop(body, lanes)} ${after} }`);
  },
  lane: (context, expr, lanes) => {
    const emitter = new Emitter(context, lanes);
    const value = emitter.value(expr);
    const statements = [...emitter.prologue, ...emitter.lines].join(" ");
    return make<LaneFunction>(emitter, `(x, i, old) => { ${views} ${statements} return ${value}; }`);
  },
};

/** The name of a DataView's element type: signed, unless the element is extended as unsigned. */
function dataName(bits: number, signed: boolean, ty: Expr["ty"]): string {
  if (bits === 64) return ty === "f64" ? "Float64" : "BigInt64";
  return ty === "f32" ? "Float32" : `${signed || bits === 32 ? "Int" : "Uint"}${bits}`;
}

const dataGet = (data: string, at: string, bits: number, signed: boolean, ty: Expr["ty"]): string =>
  `${data}.get${dataName(bits, signed, ty)}(${at}, true)`;

/** Writes an element; a computed NaN is written as the canonical one. */
function dataSet(data: string, at: string, bits: number, ty: Expr["ty"], value: string): string {
  const write = `${data}.set${dataName(bits, true, ty)}(${at}, ${value}, true);`;
  if (ty === "f32") return `if (${value} === ${value}) ${write} else ${data}.setInt32(${at}, ${nan32}, true);`;
  if (ty === "f64") return `if (${value} === ${value}) ${write} else ${data}.setBigInt64(${at}, ${nan64}n, true);`;
  return write;
}

type Halves = readonly [low: string, high: string];

/** Writes a 64-bit element by its number. */
const writeHalves = (index: string, [low, high]: Halves): string =>
  `I[2 * (${index})] = ${low}; I[2 * (${index}) + 1] = ${high};`;

class Emitter {
  readonly operands: (number | bigint)[] = [];
  readonly prims = new Map<PrimName, string>();
  /** Statements before all lanes, for each lane before anything is written, and after all lanes. */
  readonly prologue: string[] = [];
  readonly lines: string[] = [];
  readonly epilogue: string[] = [];
  readonly #context: FunctionContext;
  readonly #lanes: Lanes;
  readonly #uniform = new Map<Expr, boolean>();
  readonly #known = new Map<Expr, string>();
  readonly #named = new Map<string, string>();
  #names = 0;

  constructor(context: FunctionContext, lanes: Lanes | null) {
    this.#context = context;
    this.#lanes = lanes ?? allLanes;
  }

  /** Emits the computation of a value, and returns the statement that writes it. */
  target({ value: expr, to }: Assignment): string {
    if ("kind" in to) return to.kind === "region" ? this.#toRegion(expr, to) : this.#toAddress(expr, to);
    if (to.class === "pred") {
      const word = this.#name("w");
      const p = this.value(expr);
      const base = this.#operand(`word ${to.base}`, to.base);
      this.prologue.push(`let ${word} = 0;`);
      this.epilogue.push(`I[${base}] = I[${base}] & ~mask | ${word};`);
      return `if (${p}) ${word} |= 1 << i;`;
    }
    const d = this.#slot(to);
    const halves = this.#halves(expr);
    if (halves !== null) return writeHalves(`${d} + i`, halves);
    const v = this.value(expr);
    switch (expr.ty) {
      case "i32":
        return `I[${d} + i] = ${to.bits < 32 ? `${v} & ${2 ** to.bits - 1}` : v};`;
      case "f32":
        return `if (${v} === ${v}) F[${d} + i] = ${v}; else I[${d} + i] = ${nan32};`;
      case "i64":
        return `L[${d} + i] = ${v};`;
      case "f64":
        return `if (${v} === ${v}) D[${d} + i] = ${v}; else L[${d} + i] = ${nan64}n;`;
      default:
        throw new Error("a predicate has no place in a data register");
    }
  }

  value(expr: Expr): string {
    const known = this.#known.get(expr);
    if (known !== undefined) return known;
    const text = expr.kind === "const" ? this.#constant(expr.value) : this.#line(expr);
    this.#known.set(expr, text);
    return text;
  }

  #compute(expr: Exclude<Expr, { kind: "const" }>): string {
    switch (expr.kind) {
      case "prim":
        return this.#prim(expr.prim, expr.args);
      case "reg":
        return this.#register(this.#context.file.slot(expr.reg), expr.ty);
      case "old":
        return expr.ty === "f32"
          ? `${this.#primName("f32.reinterpret_i32")}(old[${expr.index}])`
          : expr.ty === "f64"
            ? `${this.#primName("f64.reinterpret_i64")}(old[${expr.index}])`
            : `old[${expr.index}]`;
      case "frame":
        return this.#frame(expr);
      case "special":
        return this.#special(expr.name, expr.ty);
      case "symbol":
        throw new Error(`${expr.symbol} has not been bound to its address`);
      case "lane-word":
        return `I[${this.#operandOf(expr.reg)}]`;
      case "region":
        return this.#region(expr);
      case "indirect":
        return this.#indirect(expr);
    }
  }

  #operandOf(predicate: number): string {
    const { base } = this.#context.file.slot(predicate);
    return this.#operand(`word ${base}`, base);
  }

  #region({ region, bits, signed, ty }: RegionLeaf): string {
    const index = this.#index(region, bits);
    if (index === null) return dataGet(this.#data(), this.#byte(region, bits), bits, signed, ty);
    return `${this.#view(bits, signed, ty)}[${index}]`;
  }

  #indirect({ address, bits, signed, ty }: IndirectLeaf): string {
    const { at, limit } = this.#checked(address, bits);
    const nothing = bits === 64 && ty === "i64" ? "0n" : "0";
    const start = this.#operand("file", this.#context.file.byteFileAt);
    return `${at} > ${limit} ? ${nothing} : ${dataGet(this.#data(), `${at} + ${start}`, bits, signed, ty)}`;
  }

  /** The computed byte of an element in the file, and the greatest one at which the element is within the file. */
  #checked(address: Expr, bits: number): { readonly at: string; readonly limit: string } {
    const limit = this.#context.file.byteFileBytes - bits / 8;
    return { at: `(${this.value(address)} >>> 0)`, limit: this.#operand(`limit ${limit}`, limit) };
  }

  #toRegion(expr: Expr, { region, bits }: Extract<FileTarget, { kind: "region" }>): string {
    const index = this.#index(region, bits);
    if (index === null) return dataSet(this.#data(), this.#byte(region, bits), bits, expr.ty, this.value(expr));
    const halves = bits === 64 ? this.#halves(expr) : null;
    if (halves !== null) return writeHalves(index, halves);
    const v = this.value(expr);
    const write = `${this.#view(bits, true, expr.ty)}[${index}] = ${v};`;
    if (expr.ty === "f32") return `if (${v} === ${v}) ${write} else I[${index}] = ${nan32};`;
    if (expr.ty === "f64") return `if (${v} === ${v}) ${write} else L[${index}] = ${nan64}n;`;
    return write;
  }

  /** The halves of a 64-bit value that is made of 32-bit ones: no BigInt is needed to write it. */
  #halves(expr: Expr): Halves | null {
    if (expr.kind !== "prim") return null;
    const { prim, args } = expr;
    if (prim === "i64.from_halves") return [this.value(args[0]!), this.value(args[1]!)];
    if (prim !== "i64.extend_i32_s" && prim !== "i64.extend_i32_u") return null;
    const v = this.value(args[0]!);
    return [v, prim === "i64.extend_i32_s" ? `${v} >> 31` : "0"];
  }

  #toAddress(expr: Expr, { address, bits }: Extract<FileTarget, { kind: "indirect" }>): string {
    const v = this.value(expr);
    const { at, limit } = this.#checked(address, bits);
    const start = this.#operand("file", this.#context.file.byteFileAt);
    return `if (${at} <= ${limit}) { ${dataSet(this.#data(), `${at} + ${start}`, bits, expr.ty, v)} }`;
  }

  /** The lane's element, in elements of its size from the start of the registers; null where they are not aligned. */
  #index(region: Region, bits: number): string | null {
    const at = this.#context.file.byteFileAt + region.at;
    return at % (bits / 8) === 0 ? this.#place(region, bits, at / (bits / 8), 1) : null;
  }

  /** The lane's element, in bytes from the start of the registers. */
  #byte(region: Region, bits: number): string {
    return this.#place(region, bits, this.#context.file.byteFileAt + region.at, bits / 8);
  }

  #place(region: Region, bits: number, start: number, unit: number): string {
    const { first, vertical, width, horizontal } = region;
    const stride = strideOf(region, this.#lanes);
    const at = (place: number): string => this.#operand(`at ${bits} ${unit} ${place}`, place);
    if (stride === 0) {
      return at(start + elementOf(region, this.#lanes.first) * unit);
    }
    if (stride !== null) {
      const base = at(start + (elementOf(region, this.#lanes.first) - this.#lanes.first * stride) * unit);
      return stride * unit === 1 ? `${base} + i` : `${base} + ${stride * unit} * i`;
    }
    const e = first === 0 ? "i" : `(i - ${first})`;
    const row = `(${e} >> ${Math.log2(width)}) * ${vertical * unit}`;
    return `${at(start)} + ${row} + (${e} & ${width - 1}) * ${horizontal * unit}`;
  }

  /** The name of the view of elements of a size. */
  #view(bits: number, signed: boolean, ty: Expr["ty"]): string {
    if (bits === 64) return ty === "f64" ? "D" : "L";
    if (bits === 32) return ty === "f32" ? "F" : "I";
    const name = `${signed ? "i" : "u"}${bits}`;
    return this.#once(`view ${name}`, "v", (variable) => `const ${variable} = x.small.${name};`);
  }

  #data(): string {
    return this.#once("data", "v", (variable) => `const ${variable} = x.small.data;`);
  }

  #prim(prim: PrimName, args: readonly Expr[]): string {
    const first = args[0];
    if (prim === "i32.wrap_i64" && first?.kind === "reg") {
      return `I[2 * (${this.#slot(this.#context.file.slot(first.reg))} + i)]`;
    }
    const values = args.map((a) => this.value(a));
    return `${this.#primName(prim)}(${values.join(", ")})`;
  }

  #register(slot: Slot, ty: Expr["ty"]): string {
    if (slot.class === "pred") {
      const base = this.#operand(`word ${slot.base}`, slot.base);
      const word = this.#once(`read ${base}`, "q", (name) => `const ${name} = I[${base}];`);
      return `(${word} >>> i & 1) !== 0`;
    }
    return `${{ i32: "I", f32: "F", i64: "L", f64: "D", pred: "" }[ty]}[${this.#slot(slot)} + i]`;
  }

  #frame({ ty, variable, offset, generic }: Extract<Expr, { kind: "frame" }>): string {
    const start = windows.local.start + this.#context.frameOffset(variable) + offset;
    const low = this.#operand(`frame ${start}`, start);
    const text =
      ty === "i32"
        ? `x.base + ${low} | 0`
        : `BigInt(x.base + ${low})${generic ? ` + ${this.#operand("window", this.#context.window)}` : ""}`;
    return this.#once(`frame ${ty} ${low} ${generic}`, "a", (name) => `const ${name} = ${text};`);
  }

  #special(special: string, ty: Expr["ty"]): string {
    const tid = ["tid.x", "tid.y", "tid.z"].indexOf(special);
    const narrow =
      special === "laneid"
        ? "i"
        : tid >= 0
          ? `${this.#once("tid", "T", (name) => `const ${name} = x.warp.tid;`)}[${tid * 32} + i]`
          : special === "warpid"
            ? "x.warp.index"
            : isScalarName(special)
              ? this.#once(special, "s", (name) => `const ${name} = x.warp.cta.scalars[${scalarIndex(special)}];`)
              : null;
    if (narrow !== null) return ty === "i64" ? `BigInt(${narrow} >>> 0)` : narrow;
    // The clocks.
    const now = this.#once("clock", "c", (name) => `const ${name} = x.warp.cta.grid.clock();`);
    const shifted = special.endsWith("_hi") ? `${now} >> 32n` : now;
    return ty === "i64" ? shifted : `Number(BigInt.asIntN(32, ${shifted}))`;
  }

  #constant(value: Value): string {
    if (typeof value === "boolean") return String(value);
    // Small numbers are mostly shift counts and masks, which V8 makes better code for when they are literals.
    if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) <= 64 && !Object.is(value, -0)) {
      return value < 0 ? `(${value})` : String(value);
    }
    return this.#operand(`const ${typeof value} ${Object.is(value, -0) ? "-0" : value}`, value);
  }

  #slot(slot: Slot): string {
    return this.#operand(`slot ${slot.class} ${slot.base}`, slot.base);
  }

  #operand(key: string, value: number | bigint): string {
    let name = this.#named.get(key);
    if (name === undefined) {
      name = `k${this.operands.push(value) - 1}`;
      this.#named.set(key, name);
    }
    return name;
  }

  #once(key: string, letter: string, statement: (name: string) => string): string {
    let name = this.#named.get(key);
    if (name === undefined) {
      name = this.#name(letter);
      this.#named.set(key, name);
      this.prologue.push(statement(name));
    }
    return name;
  }

  #primName(prim: PrimName): string {
    let name = this.prims.get(prim);
    if (name === undefined) this.prims.set(prim, (name = `p${this.prims.size}`));
    return name;
  }

  /**
   * Names the value of an expression. In vISA, values that are the same in all lanes are computed once, before the
   * loop.
   */
  #line(expr: Exclude<Expr, { kind: "const" }>): string {
    const once = this.#context.file.byteFileAt >= 0 && isUniform(expr, this.#lanes, this.#uniform);
    const text = this.#compute(expr);
    const name = this.#name("t");
    (once ? this.prologue : this.lines).push(`const ${name} = ${text};`);
    return name;
  }

  #name(letter: string): string {
    return `${letter}${this.#names++}`;
  }
}
