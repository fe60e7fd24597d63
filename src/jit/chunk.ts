import { hasAllLanes } from "../ir/flow/accesses.ts";
import type { Destination, FileTarget, Guard, Instruction, IrFunction, LaneRule } from "../ir/index.ts";
import { directConversion } from "../semantics/direct-conversion.ts";
import type { Emission, Expr, Ty } from "../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm, type WasmTy } from "../wasm/index.ts";
import type { Analysis } from "./analysis.ts";
import type { FileAccess } from "./file-access.ts";
import { laneBits } from "./lane-bits.ts";
import { bothMasks, hasLane, isAll, isNone, ruleMask } from "./lane-rule.ts";
import { lateNans } from "./late-nans.ts";
import { canonicalNan, canonicalNans, observedBits } from "./nan.ts";
import { resultsOf } from "./prepare.ts";
import type { Shape } from "./shape.ts";
import { placesOf, type Span } from "./spans.ts";
import {
  applyQuads,
  applyScalar,
  applyVector,
  isWide,
  laneOf,
  type Quad,
  scalarTy,
  splat,
  type Value,
  type Vector,
  vectorOf,
  widenMask,
} from "./value.ts";

/** A mask of the chunk's lanes, a v128 for each four; null: all of them. */
export type Mask = readonly Wasm[] | null;

/** The mask that has all lanes. */
export const allLanes = ({ active }: Chunk): readonly Wasm[] => active.map(() => wasm.i32x4(-1));

/** What a function reads that is neither register nor memory. */
export type SpecialValues = (leaf: Extract<Expr, { kind: "special" }>) => Value;

/** How registers share locals. */
export interface Sharing {
  /** By register, the blocks that need it. */
  readonly spans: readonly Span[];
  /** Registers that have locals of their own. */
  readonly apart: ReadonlySet<number>;
}

/**
 * The lanes of one function while it is written: where their registers are, what expressions become, and how results are
 * written to lanes that are active.
 */
export class Chunk {
  readonly writer: FunctionWriter;
  readonly analysis: Analysis;
  /** How many times four lanes. */
  #quads: number;
  readonly #active: readonly number[];
  readonly #registers: readonly (readonly number[])[];
  readonly #specials: SpecialValues;
  readonly #frame: (leaf: Extract<Expr, { kind: "frame" }>) => Wasm;
  readonly #observed: ReadonlySet<number>;
  /** Registers whose NaNs are replaced where they are stored, and what is in them. */
  readonly #late: ReadonlyMap<number, "f32" | "f64">;
  /** Predicates that are not kept, but computed wherever one is read. */
  readonly recalled: ReadonlyMap<number, Expr>;
  /** Vectors of registers that are the same in all lanes. */
  readonly #splats = new Map<number, number>();
  /** Whether all lanes are active, and none is elsewhere, in what is being written. */
  inStep = false;
  /** What is done with results in locals before a NaN is looked for among them. */
  beforeCheck: (locals: readonly number[]) => void = () => {};
  /** Where what is left of a byte file lies. */
  file: FileAccess | null = null;
  #values = new Map<Expr, Value>();
  /** Which lanes the instruction is for, where not for all. */
  #rule: LaneRule | null = null;
  /** The lanes for which a part is written that some go through between others in step. */
  #parted: Mask = null;

  constructor(
    writer: FunctionWriter,
    analysis: Analysis,
    quads: number,
    specials: SpecialValues,
    frame: (leaf: Extract<Expr, { kind: "frame" }>) => Wasm,
    sharing: Sharing | null = null,
    recalled: ReadonlyMap<number, Expr> = new Map(),
  ) {
    this.writer = writer;
    this.analysis = analysis;
    this.#quads = quads;
    this.#specials = specials;
    this.#frame = frame;
    this.recalled = recalled;
    this.#active = Array.from({ length: quads }, () => writer.local("v128"));
    const { ir, instructions, graph } = analysis.code;
    const results = resultsOf(ir);
    this.#observed = observedBits(instructions, results);
    this.#late = lateNans(instructions, graph, results);
    this.#registers = this.#localsOf(
      ir.registers.map((_, r) => this.#localTypes(ir, r)),
      sharing,
    );
  }

  #localsOf(types: readonly (readonly WasmTy[])[], sharing: Sharing | null): readonly (readonly number[])[] {
    const own = (tys: readonly WasmTy[]): readonly number[] => tys.map((ty) => this.writer.local(ty));
    if (sharing === null) return types.map(own);
    /** Registers that may share locals, by the types of these. */
    const alike = new Map<string, number[]>();
    types.forEach((tys, r) => {
      const key = sharing.apart.has(r) ? `${r}` : tys.join();
      const others = alike.get(key);
      if (others === undefined) alike.set(key, [r]);
      else others.push(r);
    });
    const all: (readonly number[])[] = [];
    for (const registers of alike.values()) {
      const locals: (readonly number[])[] = [];
      placesOf(registers.map((r) => sharing.spans[r]!)).forEach((place, i) => {
        const r = registers[i]!;
        all[r] = locals[place] ??= own(types[r]!);
      });
    }
    return all;
  }

  get function(): IrFunction {
    return this.analysis.code.ir;
  }

  /** How many times four lanes. */
  get quads(): number {
    return this.#quads;
  }

  get lanes(): number {
    return 4 * this.#quads;
  }

  /** The active lanes, in locals. */
  get active(): readonly number[] {
    return this.#active.slice(0, this.#quads);
  }

  /** The locals of a register; another may have them elsewhere. */
  readonly locals = (register: number): readonly number[] => {
    const all = this.#registers[register]!;
    const missing = this.#active.length - this.#quads;
    if (missing === 0) return all;
    const { kind } = this.analysis.register(register);
    const vectors = kind === "vector" ? all.length : kind === "indexed" && all.length > 2 ? all.length - 1 : 0;
    return all.slice(0, all.length - (vectors * missing) / this.#active.length);
  };

  /** Writes code that knows of the first so many times four lanes alone. */
  narrowed(quads: number, write: () => void): void {
    const all = this.#quads;
    this.#quads = quads;
    this.begin();
    write();
    this.#quads = all;
    this.begin();
  }

  /** Of lanes in step, writes code for those of a mask, while the others wait behind it. */
  forSome(mask: readonly Wasm[], write: () => void): void {
    this.inStep = false;
    this.#parted = mask;
    write();
    this.#parted = null;
    this.inStep = true;
  }

  /** Makes a vector of a register that keeps its value, to be used wherever one is needed. */
  keepSplat(register: number): void {
    const { class: c } = this.function.registers[register]!;
    const ty = c === "pred" ? "pred" : c === "b64" ? "i64" : "i32";
    const local = this.writer.local("v128");
    this.writer.assign([{ local, value: splat(ty, wasm.local(scalarTy(ty), this.locals(register)[0]!)) }]);
    this.#splats.set(register, local);
  }

  get rule(): LaneRule | null {
    return this.#rule;
  }

  /** A new instruction begins: registers may have changed. */
  begin({ lanes }: Pick<Instruction, "lanes"> = {}): void {
    this.#values = new Map();
    this.#rule = lanes ?? null;
  }

  /** The value of a leaf that has been read for this instruction. */
  provide(leaf: Expr, value: Value): void {
    this.#values.set(leaf, value);
  }

  /** The mask of the lanes in which an instruction of a block is executed, but for its guard. */
  activeMask(block: number): Mask {
    const isPartial = !this.inStep && this.analysis.isPartial(block);
    const active = this.#parted ?? (isPartial ? this.active.map((local) => wasm.local("v128", local)) : null);
    if (this.#rule === null) return active;
    const channels = ruleMask(this.#rule, this.quads);
    return this.#rule.noMask ? channels : bothMasks(active, channels);
  }

  /** The lanes of a block in which a guard (null: none that differs between lanes) holds. */
  maskOf(block: number, guard: Mask): Mask {
    return bothMasks(this.activeMask(block), guard);
  }

  /** Gives registers their values in all lanes, at once. */
  fill(values: readonly { readonly register: number; readonly value: Value }[]): void {
    this.writer.assign(
      values.flatMap(({ register, value }) => {
        const parts = this.#parts(register, this.#stored(register, value));
        return this.locals(register).map((local, i) => ({ local, value: parts[i]! }));
      }),
    );
  }

  /** The value of a bound expression. */
  value(expr: Expr): Value {
    let value = this.#values.get(expr);
    if (value === undefined) this.#values.set(expr, (value = this.#compute(expr)));
    return value;
  }

  /** The value of an expression that is stored. */
  stored(expr: Expr): Value {
    const ty = expr.kind === "reg" ? this.#late.get(expr.reg) : undefined;
    return this.value(ty === undefined ? expr : { ...(expr as Extract<Expr, { kind: "reg" }>), ty });
  }

  /** All lanes of an expression. */
  vector(expr: Expr): Vector {
    return vectorOf(this.value(expr), this.quads);
  }

  /** The lanes in which a guard holds; null where it is the same in all of them. */
  guardMask(guard: Guard): readonly Wasm[] | null {
    const { register, negate, collapse } = guard;
    if (collapse !== undefined) return this.active.map(() => splat("pred", this.#collapsed(guard, collapse)));
    if (this.analysis.register(register).kind === "uniform") return null;
    return this.#maskOf(register).map((part) => (negate ? wasm.op("v128.not", part) : part));
  }

  /** The active lanes that control moves; null where all agree. */
  movedMask(guard: Guard | null): Mask {
    const channels = this.#rule === null ? null : ruleMask(this.#rule, this.quads);
    if (channels === null) return guard === null || guard.collapse !== undefined ? null : this.guardMask(guard);
    if (guard === null) return channels;
    return bothMasks(channels, this.guardMask(guard) ?? this.active.map(() => splat("pred", this.guardScalar(guard))));
  }

  /** The guard of all lanes, 0 or 1. */
  guardScalar(guard: Guard): Wasm {
    const { register, negate, collapse } = guard;
    if (collapse !== undefined) return this.#collapsed(guard, collapse);
    const p = wasm.local("i32", this.locals(register)[0]!);
    return negate ? wasm.op("i32.eqz", p) : p;
  }

  /** The guard that one lane has, active or not: 0 or 1. */
  guardOfLane(guard: Guard, lane: number): Wasm {
    const { register, negate, collapse } = guard;
    if (collapse !== undefined) return this.#collapsed(guard, collapse);
    const value = this.#read(register, "pred");
    const p = value.kind === "uniform" ? value.scalar : laneOf(vectorOf(value, this.quads), lane);
    return negate ? wasm.op("i32.eqz", p) : p;
  }

  /** Whether any or all channels of the instruction have a predicate: 0 or 1. */
  #collapsed({ register, negate }: Guard, collapse: "any" | "all"): Wasm {
    const rule = this.#rule ?? { first: 0, count: this.lanes };
    const channels = ruleMask(rule, this.quads) ?? allLanes(this);
    const bits = this.#maskOf(register);
    const asked = collapse === "any" ? bits : bits.map((b) => wasm.op("v128.not", b));
    const found = wasm.op(
      "v128.any_true",
      asked.map((b, q) => wasm.op("v128.and", b, channels[q]!)).reduce((a, b) => wasm.op("v128.or", a, b)),
    );
    return (collapse === "all") !== negate ? wasm.op("i32.eqz", found) : found;
  }

  /** The lanes that have a predicate. */
  #maskOf(register: number): readonly Wasm[] {
    return vectorOf(this.#read(register, "pred"), this.quads).quads.map(([quad]) => quad!);
  }

  /**
   * Writes values to registers, all at once, in the lanes that matter: those of `guard`, and where others are elsewhere who
   * still need theirs, in the active ones.
   */
  write(
    block: number,
    dst: readonly Destination[],
    values: readonly (Value | null)[],
    guard: readonly Wasm[] | null,
  ): void {
    const cleaned: number[] = [];
    const stores: { readonly to: FileTarget; readonly value: Value; readonly mask: Mask }[] = [];
    const assignments = values.flatMap((value, i) => {
      const to = dst[i];
      if (value === null || to == null) return [];
      if (typeof to === "number") {
        if (!this.inStep || guard !== null || value.kind !== "vector" || !this.#isSeen(to)) {
          return this.#assignment(block, to, value, guard);
        }
        const clean = canonicalNans(this.writer, value, this.beforeCheck);
        cleaned.push(...clean.locals);
        return this.#assignment(block, to, clean.value, guard);
      }
      const mask = bothMasks(this.activeMask(block), guard);
      stores.push({ to, value: this.file!.kept(canonicalNan(value)), mask });
      return [];
    });
    this.writer.assign(assignments);
    for (const local of cleaned) this.writer.release(local);
    for (const { to, value, mask } of stores) this.file!.store(to, value, mask);
  }

  #assignment(block: number, register: number, value: Value, guard: readonly Wasm[] | null) {
    const locals = this.locals(register);
    const { home } = this.function.registers[register]!;
    if (home?.lanes === null) return this.#sharedAssignment(block, register, value, guard);
    const parts = this.#parts(register, this.#stored(register, value));
    const mask = this.#writeMask(block, register, guard);
    return locals.flatMap((local, i) => {
      const part = parts[i]!;
      if (mask === null || this.writer.typeOf(local) !== "v128") return { local, value: part };
      // Two locals for each four lanes of 64 bits.
      const wide = locals.length > mask.length;
      const lanes = mask[wide ? i >> 1 : i]!;
      if (isNone(lanes)) return [];
      if (isAll(lanes)) return { local, value: part };
      const old = wasm.local("v128", local);
      return { local, value: wasm.blend(wide ? widenMask(lanes)[i & 1]! : lanes, part, old) };
    });
  }

  /** A register that all lanes share gets the value of the one lane that writes it. */
  #sharedAssignment(block: number, register: number, value: Value, guard: readonly Wasm[] | null) {
    const lane = this.#rule?.first ?? 0;
    const stored = this.#stored(register, value);
    const scalar = bitsOfScalar(stored.kind === "uniform" ? stored.scalar : laneOf(vectorOf(stored, this.quads), lane));
    const [local] = this.locals(register);
    const condition = this.#rule === null ? null : hasLane(bothMasks(this.activeMask(block), guard), lane);
    const old = wasm.local(scalar.ty, local!);
    return [{ local: local!, value: condition === null ? scalar : wasm.select(condition, scalar, old) }];
  }

  /** Whether a NaN in a register must be PTX's from the beginning. */
  #isSeen(register: number): boolean {
    return this.#observed.has(register) && !this.#late.has(register);
  }

  #writeMask(block: number, register: number, guard: readonly Wasm[] | null): readonly Wasm[] | null {
    const { home } = this.function.registers[register]!;
    if (this.#rule !== null && !(home !== undefined && hasAllLanes(this.#rule, home))) {
      return bothMasks(this.activeMask(block), guard);
    }
    const merges = !this.inStep && this.#rule?.noMask !== true && this.analysis.merges(block, register);
    const active = merges ? this.activeMask(block) : null;
    return bothMasks(active, guard);
  }

  /** The value as the register keeps it: a canonical NaN where bits are looked at, no more bits than it has. */
  #stored(register: number, value: Value): Value {
    const { bits } = this.function.registers[register]!;
    const seen = value.ty === "f32" || value.ty === "f64" ? this.#isSeen(register) : false;
    const clean = seen ? canonicalNan(value) : value;
    if (bits >= 32 || bits === 1) return clean;
    const keep = 2 ** bits - 1;
    if (clean.kind === "uniform") return { ...clean, scalar: wasm.op("i32.and", clean.scalar, wasm.i32(keep)) };
    const { quads } = vectorOf(clean, this.quads);
    return { kind: "vector", ty: "i32", quads: quads.map(([q]) => [wasm.op("v128.and", q!, wasm.i32x4(keep))]) };
  }

  /** The parts of a value in the order of the register's locals. */
  #parts(register: number, value: Value): readonly Wasm[] {
    const shape = this.analysis.register(register);
    if (shape.kind === "vector" || value.kind === "vector") return vectorOf(value, this.quads).quads.flat();
    switch (value.kind) {
      case "uniform":
        return [bitsOfScalar(value.scalar)];
      case "affine":
        return [value.base];
      case "indexed":
        return [value.base, ...indexParts(value.index)];
    }
  }

  #localTypes({ registers }: IrFunction, register: number): WasmTy[] {
    const { class: c } = registers[register]!;
    const shape: Shape = this.analysis.register(register);
    const word = c === "b64" ? "i64" : "i32";
    switch (shape.kind) {
      case "uniform":
      case "affine":
        return [word];
      case "indexed":
        return shape.stride === null ? ["i64", ...this.#vectorTypes(1)] : ["i64", "i32"];
      case "vector":
        return this.#vectorTypes(c === "b64" ? 2 : 1);
    }
  }

  #vectorTypes(perQuad: number): WasmTy[] {
    return Array.from({ length: perQuad * this.quads }, () => "v128");
  }

  #compute(expr: Expr): Value {
    switch (expr.kind) {
      case "const":
        return { kind: "uniform", ty: expr.ty, scalar: constant(expr) };
      case "reg":
        return this.#read(expr.reg, expr.ty);
      case "special":
        return this.#narrow(this.#specials(expr));
      case "frame":
        return { kind: "uniform", ty: expr.ty, scalar: this.#frame(expr) };
      case "prim":
        return this.#prim(expr);
      case "lane-word":
        return { kind: "uniform", ty: "i32", scalar: laneBits(this.#maskOf(expr.reg)) };
      default:
        throw new Error(`an expression of kind ${expr.kind} has no value of its own`);
    }
  }

  #narrow(value: Value): Value {
    return value.kind === "vector" ? { ...value, quads: value.quads.slice(0, this.#quads) } : value;
  }

  #prim(expr: Extract<Expr, { kind: "prim" }>): Value {
    const direct = directConversion(expr);
    if (direct !== null) return this.#convert(expr.ty, direct.emission, this.value(direct.operand));
    const shape = this.analysis.shape(expr);
    const args = expr.args.map((a) => this.value(a));
    switch (shape.kind) {
      case "uniform":
        return { kind: "uniform", ty: expr.ty, scalar: applyScalar(expr.prim, args.map(baseOf)) };
      case "affine":
        return {
          kind: "affine",
          ty: expr.ty as "i32" | "i64",
          base: args[0]!.kind === "indexed" ? lowHalf(args[0]!) : applyScalar(expr.prim, args.map(baseOf)),
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
      case "vector":
        return applyVector(
          expr.prim,
          args.map((a) => vectorOf(a, this.quads)),
          this.quads,
        );
    }
  }

  #convert(ty: Ty, { scalar, quad }: Emission, operand: Value): Value {
    if (operand.kind === "uniform") return { kind: "uniform", ty, scalar: scalar!(operand.scalar) };
    return applyQuads(ty, quad!, [vectorOf(operand, this.quads)], this.quads);
  }

  #read(register: number, ty: Ty): Value {
    const recalled = this.recalled.get(register);
    if (recalled !== undefined) return this.value(recalled);
    const shape = this.analysis.register(register);
    const locals = this.locals(register);
    switch (shape.kind) {
      case "uniform": {
        const all = this.#splats.get(register);
        const kept = all === undefined ? {} : { all: wasm.local("v128", all) };
        return { kind: "uniform", ty, scalar: scalarOf(ty, locals[0]!), ...kept };
      }
      case "affine": {
        const word = ty === "i64" ? "i64" : "i32";
        const value: Value = { kind: "affine", ty: word, base: wasm.local(word, locals[0]!), stride: shape.stride };
        return ty === word ? value : { ...vectorOf(value, this.quads), ty };
      }
      case "indexed": {
        const [base, ...rest] = locals;
        const index: Value =
          shape.stride === null
            ? { kind: "vector", ty: "i32", quads: rest.map((l): Quad => [wasm.local("v128", l)]) }
            : { kind: "affine", ty: "i32", base: wasm.local("i32", rest[0]!), stride: shape.stride };
        const { scale, signed } = shape;
        const value: Value = { kind: "indexed", ty: "i64", base: wasm.local("i64", base!), index, scale, signed };
        return ty === "i64" ? value : { ...vectorOf(value, this.quads), ty };
      }
      case "vector":
        return { kind: "vector", ty, quads: this.#quadsOf(locals, ty) };
    }
  }

  #quadsOf(locals: readonly number[], ty: Ty): Quad[] {
    const nodes = locals.map((l) => wasm.local("v128", l));
    if (!isWide(ty)) return nodes.map((n) => [n]);
    return Array.from({ length: this.quads }, (_, q) => [nodes[2 * q]!, nodes[2 * q + 1]!]);
  }
}

/** The scalar from which a structured value counts. */
const baseOf = (value: Value): Wasm => {
  if (value.kind === "vector") throw new Error("a vector has no base");
  return value.kind === "uniform" ? value.scalar : value.base;
};

/** The low halves of what is `base + index * scale`, where the index is affine. */
function lowHalf({ base, index, scale }: Extract<Value, { kind: "indexed" }>): Wasm {
  const offset = wasm.op("i32.mul", baseOf(index), wasm.i32(scale));
  return wasm.op("i32.add", wasm.op("i32.wrap_i64", base), offset);
}

const indexParts = (index: Value): readonly Wasm[] => (index.kind === "vector" ? index.quads.flat() : [baseOf(index)]);

function scalarOf(ty: Ty, local: number): Wasm {
  switch (ty) {
    case "f32":
      return wasm.op("f32.reinterpret_i32", wasm.local("i32", local));
    case "f64":
      return wasm.op("f64.reinterpret_i64", wasm.local("i64", local));
    default:
      return wasm.local(scalarTy(ty), local);
  }
}

/** A scalar as registers keep it. */
function bitsOfScalar(scalar: Wasm): Wasm {
  if (scalar.ty === "f32") return wasm.op("i32.reinterpret_f32", scalar);
  return scalar.ty === "f64" ? wasm.op("i64.reinterpret_f64", scalar) : scalar;
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
