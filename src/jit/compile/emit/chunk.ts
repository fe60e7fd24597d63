import { hasAllLanes } from "../../../ir/flow/accesses.ts";
import type { Destination, FileTarget, Guard, Instruction, IrFunction, LaneRule } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Assignment, type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { LaunchShape } from "../../abi/launch-shape.ts";
import type { Invariants } from "../analysis/values/invariant-code.ts";
import { type KnownLanes, noKnownLanes } from "../analysis/values/known-lanes.ts";
import { NarrowRegisters } from "../analysis/values/narrow-registers.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import { canonicalNan, canonicalNans } from "../lanes/canonical-nan.ts";
import { truncated } from "../lanes/register-class.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import { bothMasks, hasLane, isAll, isNone, type Mask, ruleMask } from "../lanes/mask.ts";
import { type Narrow, type NarrowBits, narrowedMask, wholeLanes } from "../lanes/narrow.ts";
import { bitsOfScalar, laneOf, scalarTy, splat, type Value, type Vector, vectorOf, widenMask } from "../lanes/value.ts";
import type { ByteFilePort } from "./byte-file-port.ts";
import { baseOf, Expressions, partsOf, type SpecialValues } from "./expressions.ts";
import { LoadScheduling } from "./load-scheduling.ts";
import { NanRegisters } from "./nan-registers.ts";
import { narrowAssignments, narrowPartsOf } from "./narrow-writes.ts";
import { type Place, RegisterLocals, type RegisterMemory, type Sharing } from "./register-locals.ts";

/** The parts from which a chunk is made. */
export interface ChunkOptions {
  readonly writer: FunctionWriter;
  readonly analysis: UniformityAnalysis;
  readonly shape: Pick<LaunchShape, "quads" | "scalar">;
  readonly special: SpecialValues;
  /** The address of a variable in the frame. */
  readonly frame: (leaf: Extract<Expr, { kind: "frame" }>) => Wasm;
  /** How registers share locals; null: not at all. */
  readonly sharing: Sharing | null;
  /** The registers that lie in memory; null: none. */
  readonly memory: RegisterMemory | null;
  /** Of a kernel: what is computed once for many chunks, or known; null for a function that it calls. */
  readonly invariants: Invariants | null;
  /** Creates the byte file of the chunk's routine (vISA); null for PTX. */
  readonly byteFile: ((chunk: Chunk) => ByteFilePort) | null;
}

/**
 * The lanes of a function while its code is written: where their registers are, what expressions become, and how
 * results are written in the active lanes.
 */
export class Chunk {
  readonly writer: FunctionWriter;
  readonly analysis: UniformityAnalysis;
  /** The number of quads that code is written for. */
  #quads: number;
  readonly #scalar: boolean;
  readonly #active: readonly number[];
  readonly #registers: RegisterLocals;
  readonly #values: Expressions;
  readonly #nans: NanRegisters;
  readonly invariants: Invariants | null;
  /** What the lanes of every chunk are known to hold; of a function that is called: nothing. */
  readonly known: KnownLanes;
  /** Registers that are rematerialized wherever they are read. */
  readonly rematerialized: ReadonlyMap<number, Expr>;
  readonly scheduling: LoadScheduling;
  /** Which registers are kept in narrow lanes. */
  readonly narrow: NarrowRegisters;
  /** The byte file of the chunk's routine (vISA); null for PTX. */
  readonly file: ByteFilePort | null;
  #converged = false;
  /** The block whose other instructions have all lanes, since its first one requires them. */
  #whole: number | null = null;
  /** The lanes that the current instruction is for; null: all. */
  #rule: LaneRule | null = null;
  /** The mask of an if-converted block while it is written; null elsewhere. */
  #subset: Mask = null;

  constructor({ writer, analysis, shape, special, frame, sharing, memory, invariants, byteFile }: ChunkOptions) {
    const { quads } = shape;
    this.writer = writer;
    this.analysis = analysis;
    this.#quads = quads;
    this.#scalar = shape.scalar;
    this.invariants = invariants;
    this.known = invariants?.known ?? noKnownLanes;
    this.rematerialized = invariants?.rematerialized ?? new Map();
    this.#active = Array.from({ length: quads }, () => writer.local("v128"));
    this.#nans = new NanRegisters(analysis.code);
    const unwritten = this.known.registers;
    const isOrdinary = (r: number): boolean =>
      quads > 1 && !unwritten.has(r) && !this.rematerialized.has(r) && (memory?.matrices.of(r) ?? null) === null;
    this.narrow = new NarrowRegisters(analysis, isOrdinary);
    this.#registers = new RegisterLocals(writer, analysis, quads, { sharing, memory, unwritten, narrow: this.narrow });
    this.#values = new Expressions(analysis, {
      special,
      frame,
      rematerialized: this.rematerialized,
      known: this.known.values,
      narrow: this.narrow,
      locals: this.locals,
      quads: () => this.#quads,
    });
    this.scheduling = new LoadScheduling(writer, this.locals);
    this.file = byteFile?.(this) ?? null;
  }

  get function(): IrFunction {
    return this.analysis.code.ir;
  }

  /** The number of quads that code is written for. */
  get quads(): number {
    return this.#quads;
  }

  get lanes(): number {
    return this.#scalar ? 1 : 4 * this.#quads;
  }

  /** Locals that hold the mask of active lanes. */
  get active(): readonly number[] {
    return this.#active.slice(0, this.#quads);
  }

  /** The locals that hold a register; other registers may have them at other times. */
  readonly locals = (register: number): readonly number[] => this.#registers.of(register, this.#quads);

  /** Where the registers of a fragment lie in memory, one after the other; null if they do not. */
  fragment(registers: readonly number[]): Place | null {
    return this.#registers.fragment(registers);
  }

  /** Whether an instruction of a block, without a guard, writes a register in all lanes. */
  writesAll(block: number, register: number): boolean {
    return this.#writeMask(block, register, null) === null;
  }

  /** Writes code for the first quads of the chunk alone. */
  narrowed(quads: number, write: () => void): void {
    this.#quads = quads;
    this.begin();
    write();
    this.#quads = this.#active.length;
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

  /** Writes the first instruction of a block, after which all lanes are there. */
  requireAll(block: number, write: () => void): void {
    this.#whole = null;
    write();
    this.#whole = block;
  }

  /** Within code for converged lanes, writes a part for those of a mask; the others wait at its end. */
  forSome(mask: readonly Wasm[], write: () => void): void {
    this.#converged = false;
    this.#subset = mask;
    write();
    this.#subset = null;
    this.#converged = true;
  }

  /** Whether such a part is being written: most often some lanes wait. */
  get isConverted(): boolean {
    return this.#subset !== null;
  }

  /** Broadcasts a uniform register that will not change into a local, for use wherever a vector is needed. */
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

  /** Begins an instruction: registers may have changed since the last one. */
  begin({ lanes }: Pick<Instruction, "lanes"> = {}): void {
    this.#values.forget();
    this.#rule = lanes ?? null;
  }

  /** Provides the value of a leaf that has been loaded for the current instruction. */
  provide(leaf: Expr, value: Value): void {
    this.#values.provide(leaf, value);
  }

  /** The mask of the lanes in which an instruction of a block is executed, its guard not considered. */
  activeMask(block: number): Mask {
    const isPartial = !this.#converged && block !== this.#whole && this.analysis.isPartial(block);
    const active = this.#subset ?? (isPartial ? this.active.map((local) => wasm.local("v128", local)) : null);
    if (this.#rule === null) return active;
    const channels = ruleMask(this.#rule, this.quads);
    return this.#rule.noMask ? channels : bothMasks(active, channels);
  }

  /** The active lanes of a block in which a guard holds. `guard`: its mask; null if it is the same in all lanes. */
  maskOf(block: number, guard: Mask): Mask {
    return bothMasks(this.activeMask(block), guard);
  }

  /** Assigns registers in all lanes, active or not, simultaneously. */
  fill(values: readonly { readonly register: number; readonly value: Value }[]): void {
    this.writer.assign(
      values.flatMap(({ register, value }) => {
        const parts = this.#parts(register, value);
        return this.locals(register).map((local, i) => ({ local, value: parts[i]! }));
      }),
    );
  }

  /** The value of an expression. */
  value(expr: Expr): Value {
    return this.#values.of(expr);
  }

  /** The value of an expression that is stored to memory, where NaNs may first have to be made canonical. */
  stored(expr: Expr): Value {
    return this.value(this.#nans.asStored(expr));
  }

  /** The value of an expression in the form in which a register is assigned it. */
  valueFor(to: Destination, expr: Expr): Value | Narrow {
    const form = typeof to === "number" ? this.narrow.form(to) : null;
    return form === null ? this.value(expr) : this.inNarrow(expr, form.bits);
  }

  /** The low bits of an expression, or a predicate, in narrow lanes. */
  inNarrow(expr: Expr, bits: NarrowBits): Narrow {
    return this.#values.narrow.of(expr, bits);
  }

  /** The value of an expression as a vector. */
  vector(expr: Expr): Vector {
    return vectorOf(this.value(expr), this.quads);
  }

  /** The mask of the lanes in which a guard holds; null if it is uniform. */
  guardMask(guard: Guard): readonly Wasm[] | null {
    const { register, negate, collapse } = guard;
    if (collapse !== undefined) return this.active.map(() => splat("pred", this.#collapsed(guard, collapse)));
    if (this.analysis.register(register).kind === "uniform") return null;
    return this.#values.maskOf(register).map((part) => (negate ? wasm.op("v128.not", part) : part));
  }

  /** The lanes that a branch with this guard moves; null if all active lanes agree. */
  movedMask(guard: Guard | null): Mask {
    const channels = this.#rule === null ? null : ruleMask(this.#rule, this.quads);
    if (channels === null) return guard === null || guard.collapse !== undefined ? null : this.guardMask(guard);
    if (guard === null) return channels;
    return bothMasks(channels, this.guardMask(guard) ?? this.active.map(() => splat("pred", this.guardScalar(guard))));
  }

  /** A uniform guard as 0 or 1. */
  guardScalar(guard: Guard): Wasm {
    const { register, negate, collapse } = guard;
    if (collapse !== undefined) return this.#collapsed(guard, collapse);
    const p = baseOf(this.#values.read(register, "pred"));
    return negate ? wasm.op("i32.eqz", p) : p;
  }

  /** The guard of one lane, active or not, as 0 or 1. */
  guardOfLane(guard: Guard, lane: number): Wasm {
    const { register, negate, collapse } = guard;
    if (collapse !== undefined) return this.#collapsed(guard, collapse);
    const value = this.#values.read(register, "pred");
    const p = value.kind === "uniform" ? value.scalar : laneOf(vectorOf(value, this.quads), lane);
    return negate ? wasm.op("i32.eqz", p) : p;
  }

  /** Whether any, or all, lanes of the current instruction have a predicate: 0 or 1. */
  #collapsed({ register, negate }: Guard, collapse: "any" | "all"): Wasm {
    const rule = this.#rule ?? { first: 0, count: this.lanes };
    const channels = ruleMask(rule, this.quads);
    const bits = this.#values.maskOf(register);
    const asked = collapse === "any" ? bits : bits.map((b) => wasm.op("v128.not", b));
    const found = anyOf(bothMasks(asked, channels)!);
    return (collapse === "all") !== negate ? wasm.op("i32.eqz", found) : found;
  }

  /**
   * Writes results, simultaneously: in the lanes of `guard`, and of these only in the active ones where other lanes
   * still need the old value.
   */
  write(
    block: number,
    dst: readonly Destination[],
    values: readonly (Value | Narrow | null)[],
    guard: readonly Wasm[] | null,
  ): void {
    const nanLocals: number[] = [];
    const stores: { readonly to: FileTarget; readonly value: Value; readonly mask: Mask }[] = [];
    const assignments: Assignment[] = [];
    const isWhole = this.#converged && guard === null;
    values.forEach((value, i) => {
      const to = dst[i];
      if (value === null || to == null) return;
      if (typeof to !== "number") {
        const mask = bothMasks(this.activeMask(block), guard);
        stores.push({ to, value: this.file!.kept(canonicalNan(value as Value)), mask });
      } else if (!isWhole || value.kind !== "vector" || !this.#nans.needCanonical(to, value)) {
        this.#assign(assignments, block, to, value, guard);
      } else {
        const clean = canonicalNans(this.writer, value, this.scheduling.beforeNanCheck);
        nanLocals.push(...clean.locals);
        this.#assign(assignments, block, to, clean.value, guard);
      }
    });
    this.writer.assign(assignments);
    for (const local of nanLocals) this.writer.release(local);
    for (const { to, value, mask } of stores) this.file!.store(to, value, mask);
  }

  /** Appends the assignments that write a value to a register. */
  #assign(to: Assignment[], block: number, register: number, value: Value | Narrow, guard: Mask): void {
    const locals = this.locals(register);
    const form = this.narrow.form(register);
    if (form !== null || value.kind === "narrow") {
      const { bits } = form!;
      const mask = this.#writeMask(block, register, guard);
      const own = this.quads === this.#active.length ? null : wholeLanes(bits, this.quads);
      const masks = [mask && narrowedMask(mask, bits).parts, own];
      to.push(...narrowAssignments(locals, this.#parts(register, value), masks));
      return;
    }
    const { home } = this.function.registers[register]!;
    if (home?.lanes === null) {
      to.push(this.#sharedAssignment(block, register, value, guard));
      return;
    }
    const parts = this.#parts(register, value);
    const mask = this.#writeMask(block, register, guard);
    for (let i = 0; i < locals.length; i++) {
      const local = locals[i]!;
      const part = parts[i]!;
      if (mask === null || this.writer.typeOf(local) !== "v128") {
        to.push({ local, value: part });
        continue;
      }
      // Registers of 64 bits have two locals for each quad.
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

  /** The assignment to a register that all lanes share: the value of the one lane that writes it. */
  #sharedAssignment(block: number, register: number, value: Value, guard: readonly Wasm[] | null): Assignment {
    const lane = this.#rule?.first ?? 0;
    const stored = this.#stored(register, value);
    const scalar = bitsOfScalar(stored.kind === "uniform" ? stored.scalar : laneOf(vectorOf(stored, this.quads), lane));
    const [local] = this.locals(register);
    const condition = this.#rule === null ? null : hasLane(bothMasks(this.activeMask(block), guard), lane);
    const old = wasm.local(scalar.ty, local!);
    return { local: local!, value: condition === null ? scalar : wasm.select(condition, scalar, old) };
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

  /**
   * The value in the form in which a register keeps it: NaNs canonical where bits are observed, truncated to the
   * register's width.
   */
  #stored(register: number, value: Value): Value {
    const { bits } = this.function.registers[register]!;
    const clean = this.#nans.needCanonical(register, value) ? canonicalNan(value) : value;
    return bits >= 32 || bits === 1 ? clean : truncated(clean, bits, this.quads);
  }

  /** The parts of a value, in the order of the register's locals. */
  #parts(register: number, value: Value | Narrow): readonly Wasm[] {
    const form = this.narrow.form(register);
    if (value.kind === "narrow" || form !== null) return narrowPartsOf(value, form!.bits, this.quads);
    return partsOf(this.#stored(register, value), this.analysis.register(register), this.quads);
  }
}
