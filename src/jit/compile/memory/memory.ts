import { laneAddressOf } from "../../../ir/access.ts";
import type { Access, Destination, Instruction, Op } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { Unsupported } from "../../abi/refusal.ts";
import type { Chunk } from "../emit/chunk.ts";
import { classOf, elementInRegister, elementToStore } from "../lanes/element.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import { bothMasks, type Mask } from "../lanes/mask.ts";
import { narrowParts, type NarrowBits, type NarrowForm } from "../lanes/narrow.ts";
import { type Value, vectorIn, vectorOf } from "../lanes/value.ts";
import { gatherName, scatterName } from "../module/access-helpers.ts";
import type { FunctionContext } from "../module/function-context.ts";
import { AccessChecks } from "./access-checks.ts";
import { bitsOf } from "./address-lookup.ts";
import { AtomicPlaces } from "./atomic-places.ts";
import { AtomicOperations, type AtomicProblems } from "./atomics.ts";
import { type CheckedAccess, either, type OffsetFinder } from "./checked-access.ts";
import type { ExpectedObjects } from "./expected-objects.ts";
import { ForwardedLoads } from "./forwarded-loads.ts";
import { type AccessOffsets, LaneOffsets } from "./lane-offsets.ts";
import { inLocals, NarrowAccesses } from "./narrow-accesses.ts";
import { RowMoveWriter } from "./row-moves.ts";
import { SurfaceAccess } from "./surface-access.ts";
import { VectorMoves } from "./vector-moves.ts";
import { WideLoads } from "./wide-loads.ts";

type LoadOp = Extract<Op, { kind: "load" }>;
type StoreOp = Extract<Op, { kind: "store" }>;
type AtomicOp = Extract<Op, { kind: "atomic" }>;
type Uniform = Extract<Value, { kind: "uniform" }>;

/**
 * The number of instructions from which a block is so long that its results are better computed at once than again in
 * each version of a store.
 */
const longBlock = 200;

/**
 * Loads, stores and atomic operations. Elements within the expected object are accessed at once; others are looked up
 * lane by lane, in the object that the instruction found last, then by the launcher.
 */
export class Memory {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  readonly accessChecks: AccessChecks;
  readonly #moves: VectorMoves;
  readonly #atomics: AtomicOperations;
  readonly rows: RowMoveWriter;
  readonly #wideLoads: WideLoads;
  readonly #narrow: NarrowAccesses;
  readonly #forwarded: ForwardedLoads;

  constructor(chunk: Chunk, context: FunctionContext, objects: ExpectedObjects) {
    const isShared = context.isShared;
    this.#chunk = chunk;
    this.#context = context;
    this.accessChecks = new AccessChecks(chunk, context, objects);
    const spare = wasm.op("i32.add", wasm.local("i32", context.context), wasm.i32(context.layout.values));
    const laneOffsets = new LaneOffsets(chunk, spare);
    this.#moves = new VectorMoves(
      chunk,
      laneOffsets,
      isShared,
      context.unit.recordHelpers,
      context.unit.isTerse ? context.unit.accessHelpers : null,
    );
    this.#wideLoads = new WideLoads(chunk, this.#moves, this.accessChecks);
    this.#forwarded = new ForwardedLoads(chunk, this.#moves, laneOffsets);
    this.#narrow = new NarrowAccesses(chunk, this.#moves);
    this.rows = new RowMoveWriter(chunk, context, this.accessChecks, laneOffsets);
    const places = new AtomicPlaces(chunk, (op) => this.#checksOf(op), laneOffsets);
    this.#atomics = new AtomicOperations(chunk, places, this.#moves, isShared);
  }

  #checksOf(op: LoadOp | StoreOp | AtomicOp): AccessChecks | SurfaceAccess {
    if (op.place.kind === "address") return this.accessChecks;
    if (op.kind === "atomic" && op.access.count > 1) throw new Unsupported("atomic operations on parts of a surface");
    return new SurfaceAccess(this.#chunk, this.#context, this.accessChecks, op);
  }

  /** Looks up an access lane by lane: all elements at once or, in a surface, one after the other. */
  #lookUpElements(
    checks: AccessChecks | SurfaceAccess,
    { access, place }: LoadOp | StoreOp,
    move: (by: OffsetFinder, part: Access, from: number) => void,
  ): void {
    const isInSurface = place.kind === "surface" || place.surface !== undefined;
    if (!isInSurface || access.count === 1) move(checks, access, 0);
    else for (let e = 0; e < access.count; e++) move(checks.ofElement(e), { ...access, count: 1 }, e);
  }

  load(block: number, index: number, { dst, guard }: Instruction, op: LoadOp): void {
    const { access } = op;
    const address = laneAddressOf(op.place);
    const chunk = this.#chunk;
    const { writer } = chunk;
    const guardMask = guard === null ? null : chunk.guardMask(guard);
    const active = chunk.activeMask(block);
    const mask = bothMasks(guardMask, active);
    this.#beforeLoad(index);
    const checks = this.#checksOf(op);
    const checked = checks.check(index, active, mask);
    const { offsets, immediate } = checked;
    let elements: Value[];
    if (offsets.kind === "one") {
      const ty = access.bits === 64 ? "i64" : "i32";
      const locals = Array.from({ length: access.count }, () => writer.local(ty));
      either(
        writer,
        checked,
        () => {
          if (checked.wideLoad === null) this.#moves.scalars.loadOne(access, offsets.at, immediate, locals);
          else this.#wideLoads.loadOne(index, access, checked, offsets.at, locals[0]!);
        },
        () =>
          this.#lookUpElements(checks, op, (by, part, from) => {
            by.lookUp(index, part, address, mask);
            const at = writer.local("i32");
            by.loadFirstOffset(mask, at);
            this.#moves.scalars.loadOne(part, wasm.local("i32", at), 0, locals.slice(from, from + part.count));
            writer.release(at);
          }),
      );
      elements = locals.map((local) => ({ kind: "uniform", ty, scalar: wasm.local(ty, local) }));
    } else if (this.#narrow.isOne(access, this.#narrowDestination(dst))) {
      const inParts = mask !== null;
      const locals = this.#vectorLocals(narrowParts(access.bits as NarrowBits, chunk.quads), inParts);
      const move = (where: AccessOffsets, lanes: Mask): void => this.#narrow.load(access, where, locals, lanes);
      const asWords = (load: (words: readonly number[]) => void): void => this.#narrow.asWords(access, locals, load);
      either(
        writer,
        checked,
        () => {
          const lanes = offsets.kind === "each" ? mask : null;
          if (checked.wideLoad === null || this.#wideLoads.areFewerAlone(access, checked)) move(checked, lanes);
          else asWords((words) => this.#wideLoads.load(index, access, checked, words, lanes));
        },
        () =>
          this.#lookUpElements(checks, op, (by, part) => {
            by.lookUp(index, part, address, mask);
            asWords((words) => this.#gather(part, [words]));
          }),
        () => move(checked, checked.inactiveMayAccess ? null : mask),
        (where) => move(where, null),
      );
      checked.release();
      chunk.write(block, dst, [inLocals(access.bits as NarrowBits, locals)], guardMask);
      for (const local of locals) writer.release(local);
      return;
    } else {
      const inParts = mask !== null;
      const count = chunk.quads * (access.bits === 64 ? 2 : 1);
      const locals = Array.from({ length: access.count }, () => this.#vectorLocals(count, inParts));
      const isForwarded = this.#forwarded.load(op, checked, locals[0]!, mask);
      // If each lane has an address of its own, only those of active lanes were checked.
      const lanes = offsets.kind === "each" ? mask : null;
      const ofActive = checked.inactiveMayAccess ? null : mask;
      const load = (of: Mask) => (): void => this.#moves.load(access, checked, locals, of);
      const whole = load(lanes);
      if (!isForwarded)
        either(
          writer,
          checked,
          checked.wideLoad === null ? whole : () => this.#wideLoads.load(index, access, checked, locals[0]!, lanes),
          () =>
            this.#lookUpElements(checks, op, (by, part, from) => {
              by.lookUp(index, part, address, mask);
              this.#gather(part, locals.slice(from, from + part.count));
            }),
          lanes === ofActive ? whole : load(ofActive),
          (where) => this.#moves.load(access, where, locals, null),
        );
      const bits = access.bits < 32 && !access.signed ? { bits: access.bits } : {};
      elements = locals.map((list) => ({ ...vectorIn(access.bits === 64 ? "i64" : "i32", list), ...bits }));
    }
    checked.release();
    const values = elements.map((value, e) => {
      const to = dst[e];
      return to == null ? null : elementInRegister(value, access, classOf(to, chunk.function), chunk.quads);
    });
    chunk.write(block, dst, values, guardMask);
    this.#release(elements);
  }

  #narrowDestination([to]: readonly Destination[]): NarrowForm | null {
    return typeof to === "number" ? this.#chunk.narrow.form(to) : null;
  }

  /** The value of an instruction that puts a word together from loaded bytes, where the word itself was loaded. */
  assembledWord(index: number): Value | null {
    return this.#wideLoads.assembled(index);
  }

  store(block: number, index: number, { guard }: Instruction, op: StoreOp): void {
    const { access, values } = op;
    const address = laneAddressOf(op.place);
    const chunk = this.#chunk;
    const { writer } = chunk;
    const active = chunk.activeMask(block);
    const mask = bothMasks(guard === null ? null : chunk.guardMask(guard), active);
    const checks = this.#checksOf(op);
    const checked = checks.check(index, active, mask);
    const { offsets, immediate } = checked;
    if (offsets.kind !== "one" && this.#storeNarrow(op, index, { checks, checked, mask })) {
      checked.release();
      return;
    }
    const elements = values.map((v) => (v === null ? null : elementToStore(chunk.stored(v), access, chunk.quads)));
    if (offsets.kind === "one" && elements.every((v): v is Uniform | null => v === null || v.kind === "uniform")) {
      const scalars = elements.map((v) => v?.scalar ?? null);
      const store = (at: Wasm, plus: number, part = access, from = 0): void => {
        const move = (): void => this.#moves.scalars.storeOne(part, at, plus, scalars.slice(from, from + part.count));
        if (mask === null) move();
        else {
          writer.value(anyOf(mask));
          writer.if(move);
        }
      };
      either(
        writer,
        checked,
        () => store(offsets.at, immediate),
        () =>
          this.#lookUpElements(checks, op, (by, part, from) => {
            by.lookUp(index, part, address, mask);
            const at = writer.local("i32");
            by.loadFirstOffset(mask, at);
            store(wasm.local("i32", at), 0, part, from);
            writer.release(at);
          }),
      );
    } else {
      const locals = elements.map((value) => {
        if (value === null) return null;
        const parts = vectorOf(value, chunk.quads).quads.flat();
        const list = parts.map((part) => (part.kind === "local" ? part.local : writer.local("v128")));
        const fresh = parts.flatMap((part, i) => (part.kind === "local" ? [] : [{ local: list[i]!, value: part }]));
        writer.assign(fresh);
        return { list, fresh };
      });
      const lists = locals.map((l) => l?.list ?? null);
      if (this.#isLong(block)) this.#compute(lists.flatMap((list) => list ?? []));
      either(
        writer,
        checked,
        () => this.#moves.store(access, checked, mask, lists),
        () =>
          this.#lookUpElements(checks, op, (by, part, from) => {
            by.lookUp(index, part, address, mask);
            this.#scatter(part, mask, lists.slice(from, from + part.count));
          }),
        undefined,
        (where) => this.#moves.store(access, where, mask, lists),
      );
      for (const l of locals) for (const { local } of l?.fresh ?? []) writer.release(local);
    }
    checked.release();
  }

  /** Stores elements of 8 or 16 bits that are computed in narrow lanes; false if they are not. */
  #storeNarrow(
    op: StoreOp,
    index: number,
    {
      checks,
      checked,
      mask,
    }: {
      readonly checks: AccessChecks | SurfaceAccess;
      readonly checked: CheckedAccess;
      readonly mask: Mask;
    },
  ): boolean {
    const { access } = op;
    const [value] = op.values;
    const { writer, narrow: registers } = this.#chunk;
    const bits = access.bits as NarrowBits;
    if (access.bits >= 32 || access.count !== 1 || value == null || registers.planOf(value, bits) === null)
      return false;
    const { parts } = this.#chunk.inNarrow(value, bits);
    const list = parts.map((part) => (part.kind === "local" ? part.local : writer.local("v128")));
    const fresh = parts.flatMap((part, i) => (part.kind === "local" ? [] : [{ local: list[i]!, value: part }]));
    writer.assign(fresh);
    const asWords = (store: (words: readonly number[]) => void): void => {
      const words = this.#narrow.words(access, list);
      store(words.list);
      words.release();
    };
    const move = (where: AccessOffsets): void => {
      if (this.#moves.storesRun(access, where)) this.#moves.storeNarrow(access, where, mask, list, asWords);
      else asWords((words) => this.#moves.store(access, where, mask, [words]));
    };
    either(
      writer,
      checked,
      () => move(checked),
      () =>
        this.#lookUpElements(checks, op, (by, part) => {
          by.lookUp(index, part, laneAddressOf(op.place), mask);
          asWords((words) => this.#scatter(part, mask, [words]));
        }),
      undefined,
      move,
    );
    for (const { local } of fresh) writer.release(local);
    return true;
  }

  /** Makes V8 compute sums of what has been loaded before the branches of a load, if it has any. */
  #beforeLoad(index: number): void {
    if (!this.accessChecks.isChecked(index)) this.#compute(this.#chunk.scheduling.beforeBranch());
  }

  #isLong(block: number): boolean {
    const { start, end } = this.#chunk.analysis.code.graph.blocks[block]!;
    return end - start > longBlock;
  }

  /**
   * Makes V8 compute values here, by storing them in the context. It would sink them into the branches that use them,
   * and duplicate all that they are computed from. Of many, the last ones stay there.
   */
  #compute(vectors: readonly number[]): void {
    const { writer } = this.#chunk;
    const { context, layout } = this.#context;
    vectors.forEach((local, i) => {
      writer.get(context);
      writer.get(local);
      writer.memory("v128.store", 16, layout.values + 16 * (i % (8 * this.#chunk.quads)));
    });
  }

  atomic(block: number, index: number, instruction: Instruction, op: AtomicOp): AtomicProblems | null {
    return this.#atomics.write(block, index, instruction, op);
  }

  /** `inParts`: they are not always written as a whole. */
  #vectorLocals(count: number, inParts: boolean): number[] {
    const { writer } = this.#chunk;
    return Array.from({ length: count }, () => (inParts ? writer.cleared("v128") : writer.local("v128")));
  }

  /** Loads elements from the offsets that were looked up. */
  #gather(access: Access, into: readonly (readonly number[])[]): void {
    const { writer, lanes } = this.#chunk;
    const { context, unit } = this.#context;
    into.forEach((locals, e) => {
      writer.get(context);
      writer.i32((e * access.bits) / 8);
      writer.call(unit.accessHelpers.named(gatherName(access), lanes));
      for (const local of locals.toReversed()) writer.set(local);
    });
  }

  /** Stores elements at the offsets that were looked up, in the lanes of a mask. */
  #scatter(access: Access, mask: Mask, elements: readonly (readonly number[] | null)[]): void {
    const { writer, lanes } = this.#chunk;
    const { context, unit } = this.#context;
    elements.forEach((locals, e) => {
      if (locals === null) return;
      writer.get(context);
      writer.i32((e * access.bits) / 8);
      writer.value(bitsOf(mask, lanes));
      for (const local of locals) writer.get(local);
      writer.call(unit.accessHelpers.named(scatterName(access), lanes));
    });
  }

  #release(values: readonly Value[]): void {
    const { writer } = this.#chunk;
    const release = (node: Wasm): void => {
      if (node.kind === "local") writer.release(node.local);
    };
    for (const value of values) {
      if (value.kind === "uniform") release(value.scalar);
      if (value.kind === "vector") for (const quad of value.quads) quad.forEach(release);
    }
  }
}
