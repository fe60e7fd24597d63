import { hasAllLanes } from "../../../ir/flow/accesses.ts";
import type { Destination, FileTarget, Guard, Instruction, IrFunction, LaneRule } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Assignment, type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { resultsOf } from "../analysis/code/prepared-code.ts";
import { deferredNans } from "../analysis/values/deferred-nans.ts";
import { observedBits } from "../analysis/values/observed-bits.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import { canonicalNan, canonicalNans } from "../lanes/canonical-nan.ts";
import { bothMasks, hasLane, isAll, isNone, type Mask, ruleMask } from "../lanes/mask.ts";
import { laneOf, scalarTy, splat, type Value, type Vector, vectorOf, widenMask } from "../lanes/value.ts";
import { bitsOfScalar, Expressions, indexParts, type SpecialValues } from "./expressions.ts";
import { RegisterLocals, type Sharing } from "./register-locals.ts";

/** The mask that has all lanes. */
export const allLanes = ({ active }: Chunk): readonly Wasm[] => active.map(() => wasm.i32x4(-1));

/** What a chunk needs of the byte file of its routine (vISA). */
export interface ByteFilePort {
  /** The byte of memory where the file begins. */
  readonly base: Wasm;
  /** Brings what an instruction reads into locals, until `finish`. */
  read(instruction: Instruction): void;
  finish(): void;
  /** A value in locals of its own, to be stored once others have been written. */
  kept(value: Value): Value;
  /** Stores a value in the lanes of a mask. */
  store(target: FileTarget, value: Value, mask: Mask): void;
}

/**
 * The lanes of one function while it is written: where their registers are, what expressions become, and how results are
 * written to lanes that are active.
 */
export class Chunk {
  readonly writer: FunctionWriter;
  readonly analysis: UniformityAnalysis;
  /** How many times four lanes. */
  #quads: number;
  readonly #active: readonly number[];
  readonly #registers: RegisterLocals;
  readonly #values: Expressions;
  /** Registers whose bits are looked at: found when a number is first written that may be a NaN. */
  #observed: ReadonlySet<number> | null = null;
  /** Registers whose NaNs are replaced where they are stored, and what is in them. */
  readonly #late: ReadonlyMap<number, "f32" | "f64">;
  /** Predicates that are not kept, but computed wherever one is read. */
  readonly recalled: ReadonlyMap<number, Expr>;
  #converged = false;
  /** What is done with results in locals before a NaN is looked for among them. */
  beforeCheck: (locals: readonly number[]) => void = () => {};
  /** Where what is left of a byte file lies. */
  file: ByteFilePort | null = null;
  /** Which lanes the instruction is for, where not for all. */
  #rule: LaneRule | null = null;
  /** The lanes for which a part is written that some go through between others in step. */
  #parted: Mask = null;

  constructor(
    writer: FunctionWriter,
    analysis: UniformityAnalysis,
    quads: number,
    special: SpecialValues,
    frame: (leaf: Extract<Expr, { kind: "frame" }>) => Wasm,
    sharing: Sharing | null = null,
    recalled: ReadonlyMap<number, Expr> = new Map(),
  ) {
    this.writer = writer;
    this.analysis = analysis;
    this.#quads = quads;
    this.recalled = recalled;
    this.#active = Array.from({ length: quads }, () => writer.local("v128"));
    const { ir, instructions, graph } = analysis.code;
    this.#late = deferredNans(instructions, graph, resultsOf(ir));
    this.#registers = new RegisterLocals(writer, analysis, quads, sharing);
    this.#values = new Expressions(analysis, {
      special,
      frame,
      recalled,
      locals: this.locals,
      quads: () => this.#quads,
    });
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
  readonly locals = (register: number): readonly number[] => this.#registers.of(register, this.#quads);

  /** Writes code that knows of the first so many times four lanes alone. */
  narrowed(quads: number, write: () => void): void {
    const all = this.#quads;
    this.#quads = quads;
    this.begin();
    write();
    this.#quads = all;
    this.begin();
  }

  /** Whether the code being written is for converged lanes: all are active, and none is at another block. */
  get converged(): boolean {
    return this.#converged;
  }

  /** Writes code for converged lanes. */
  whileConverged(write: () => void): void {
    this.#converged = true;
    write();
    this.#converged = false;
  }

  /** Of converged lanes, writes code for those of a mask, while the others wait after it. */
  forSome(mask: readonly Wasm[], write: () => void): void {
    this.#converged = false;
    this.#parted = mask;
    write();
    this.#parted = null;
    this.#converged = true;
  }

  /** Makes a vector of a register that keeps its value, to be used wherever one is needed. */
  keepSplat(register: number): void {
    const { class: c } = this.function.registers[register]!;
    const ty = c === "pred" ? "pred" : c === "b64" ? "i64" : "i32";
    const local = this.writer.local("v128");
    this.writer.assign([{ local, value: splat(ty, wasm.local(scalarTy(ty), this.locals(register)[0]!)) }]);
    this.#values.splat(register, local);
  }

  get rule(): LaneRule | null {
    return this.#rule;
  }

  /** A new instruction begins: registers may have changed. */
  begin({ lanes }: Pick<Instruction, "lanes"> = {}): void {
    this.#values.forget();
    this.#rule = lanes ?? null;
  }

  /** The value of a leaf that has been read for this instruction. */
  provide(leaf: Expr, value: Value): void {
    this.#values.provide(leaf, value);
  }

  /** The mask of the lanes in which an instruction of a block is executed, but for its guard. */
  activeMask(block: number): Mask {
    const isPartial = !this.#converged && this.analysis.isPartial(block);
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
    return this.#values.of(expr);
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
    return this.#values.maskOf(register).map((part) => (negate ? wasm.op("v128.not", part) : part));
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
    const value = this.#values.read(register, "pred");
    const p = value.kind === "uniform" ? value.scalar : laneOf(vectorOf(value, this.quads), lane);
    return negate ? wasm.op("i32.eqz", p) : p;
  }

  /** Whether any or all channels of the instruction have a predicate: 0 or 1. */
  #collapsed({ register, negate }: Guard, collapse: "any" | "all"): Wasm {
    const rule = this.#rule ?? { first: 0, count: this.lanes };
    const channels = ruleMask(rule, this.quads) ?? allLanes(this);
    const bits = this.#values.maskOf(register);
    const asked = collapse === "any" ? bits : bits.map((b) => wasm.op("v128.not", b));
    const found = wasm.op(
      "v128.any_true",
      asked.map((b, q) => wasm.op("v128.and", b, channels[q]!)).reduce((a, b) => wasm.op("v128.or", a, b)),
    );
    return (collapse === "all") !== negate ? wasm.op("i32.eqz", found) : found;
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
    const assignments: Assignment[] = [];
    values.forEach((value, i) => {
      const to = dst[i];
      if (value === null || to == null) return;
      if (typeof to !== "number") {
        const mask = bothMasks(this.activeMask(block), guard);
        stores.push({ to, value: this.file!.kept(canonicalNan(value)), mask });
      } else if (!this.#converged || guard !== null || value.kind !== "vector" || !this.#isSeen(to, value)) {
        this.#assign(assignments, block, to, value, guard);
      } else {
        const clean = canonicalNans(this.writer, value, this.beforeCheck);
        cleaned.push(...clean.locals);
        this.#assign(assignments, block, to, clean.value, guard);
      }
    });
    this.writer.assign(assignments);
    for (const local of cleaned) this.writer.release(local);
    for (const { to, value, mask } of stores) this.file!.store(to, value, mask);
  }

  /** Adds what gives a register its value. */
  #assign(to: Assignment[], block: number, register: number, value: Value, guard: readonly Wasm[] | null): void {
    const locals = this.locals(register);
    const { home } = this.function.registers[register]!;
    if (home?.lanes === null) {
      to.push(this.#sharedAssignment(block, register, value, guard));
      return;
    }
    const parts = this.#parts(register, this.#stored(register, value));
    const mask = this.#writeMask(block, register, guard);
    for (let i = 0; i < locals.length; i++) {
      const local = locals[i]!;
      const part = parts[i]!;
      if (mask === null || this.writer.typeOf(local) !== "v128") {
        to.push({ local, value: part });
        continue;
      }
      // Two locals for each four lanes of 64 bits.
      const wide = locals.length > mask.length;
      const lanes = mask[wide ? i >> 1 : i]!;
      if (isNone(lanes)) continue;
      if (isAll(lanes)) to.push({ local, value: part });
      else {
        const old = wasm.local("v128", local);
        to.push({ local, value: wasm.blend(wide ? widenMask(lanes)[i & 1]! : lanes, part, old) });
      }
    }
  }

  /** A register that all lanes share gets the value of the one lane that writes it. */
  #sharedAssignment(block: number, register: number, value: Value, guard: readonly Wasm[] | null): Assignment {
    const lane = this.#rule?.first ?? 0;
    const stored = this.#stored(register, value);
    const scalar = bitsOfScalar(stored.kind === "uniform" ? stored.scalar : laneOf(vectorOf(stored, this.quads), lane));
    const [local] = this.locals(register);
    const condition = this.#rule === null ? null : hasLane(bothMasks(this.activeMask(block), guard), lane);
    const old = wasm.local(scalar.ty, local!);
    return { local: local!, value: condition === null ? scalar : wasm.select(condition, scalar, old) };
  }

  /** Whether a NaN of a value in a register must be PTX's from the beginning. */
  #isSeen(register: number, { ty }: Value): boolean {
    if (ty !== "f32" && ty !== "f64") return false;
    const { ir, instructions } = this.analysis.code;
    this.#observed ??= observedBits(instructions, resultsOf(ir));
    return this.#observed.has(register) && !this.#late.has(register);
  }

  #writeMask(block: number, register: number, guard: readonly Wasm[] | null): readonly Wasm[] | null {
    const { home } = this.function.registers[register]!;
    if (this.#rule !== null && !(home !== undefined && hasAllLanes(this.#rule, home))) {
      return bothMasks(this.activeMask(block), guard);
    }
    const merges = !this.#converged && this.#rule?.noMask !== true && this.analysis.merges(block, register);
    const active = merges ? this.activeMask(block) : null;
    return bothMasks(active, guard);
  }

  /** The value as the register keeps it: a canonical NaN where bits are looked at, no more bits than it has. */
  #stored(register: number, value: Value): Value {
    const { bits } = this.function.registers[register]!;
    const clean = this.#isSeen(register, value) ? canonicalNan(value) : value;
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
}
