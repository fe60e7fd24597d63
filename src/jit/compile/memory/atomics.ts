import { type Access, awaitsPhase, type Instruction, type Op } from "../../../ir/index.ts";
import type { Expr, Ty } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { classOf, elementInRegister } from "../lanes/element.ts";
import { fitted } from "../lanes/register-class.ts";
import { bothMasks, type Mask } from "../lanes/mask.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import { folded } from "../lanes/lane-fold.ts";
import { isWide, type Vector, vectorIn, vectorOf } from "../lanes/value.ts";
import { scalarLoad } from "../module/access-helpers.ts";
import { writeArrivals } from "./arrivals.ts";
import { AtomicOperands } from "./atomic-operands.ts";
import type { AtomicPlaces, LanePlaces } from "./atomic-places.ts";
import { type FoldedUpdate, foldedUpdate } from "./folded-updates.ts";
import { atomicLoad, extendSign } from "./scalar-moves.ts";
import { updatesByQuads, writeQuadUpdate } from "./quad-updates.ts";
import { argumentOf, atomicOp, modification } from "./read-modify-write.ts";
import type { VectorMoves } from "./vector-moves.ts";

type AtomicOp = Extract<Op, { kind: "atomic" }>;

/** By lane, which problem it has (0: none), and the mask of those that have one. */
export interface AtomicProblems {
  readonly numbers: Vector;
  readonly lanes: readonly Wasm[];
  /** Gives the locals back in which the numbers are. */
  readonly release: () => void;
}

/** The lanes in which a number is not 0. */
const isSet = ({ quads }: Vector): Vector => ({
  kind: "vector",
  ty: "pred",
  quads: quads.map(([q]) => [wasm.op("i32x4.ne", q!, wasm.i32x4(0))]),
});

const wordOf = ({ bits }: Access): "i32" | "i64" => (bits === 64 ? "i64" : "i32");

/** Atomic operations, performed lane by lane in ascending order. */
export class AtomicOperations {
  readonly #chunk: Chunk;
  readonly #places: AtomicPlaces;
  readonly #moves: VectorMoves;
  /** Whether other host threads may access the same memory. */
  readonly #isShared: boolean;

  constructor(chunk: Chunk, places: AtomicPlaces, moves: VectorMoves, isShared: boolean) {
    this.#chunk = chunk;
    this.#places = places;
    this.#moves = moves;
    this.#isShared = isShared;
  }

  /** Writes an atomic operation. Returns the number of the problem that each lane has; null if there can be none. */
  write(block: number, index: number, instruction: Instruction, op: AtomicOp): AtomicProblems | null {
    const chunk = this.#chunk;
    const { dst, guard } = instruction;
    const [answer] = dst;
    const isShared = typeof answer === "number" && chunk.analysis.register(answer).kind === "uniform";
    if (isShared && awaitsPhase(op)) return this.#ask(block, index, instruction, op);
    const { writer } = chunk;
    const { access, combine } = op;
    const guardMask = guard === null ? null : chunk.guardMask(guard);
    const active = chunk.activeMask(block);
    const mask = bothMasks(guardMask, active);
    const isAtomic = this.#isShared && access.space !== "shared";
    const isArrival = op.arrivals !== undefined && !isAtomic;
    const fold = dst.every((to) => to === null) ? foldedUpdate(chunk, op) : null;
    const exactly = isAtomic || isArrival || awaitsPhase(op) || fold !== null;
    const offsets = this.#places.of(index, op, active, mask, exactly);
    const { results: returned, problem } = op;
    const read = [...combine, ...(returned ?? []), ...(problem === undefined ? [] : [problem.number])];
    const operands = new AtomicOperands(chunk, read);
    if (awaitsPhase(op) && offsets.quads === null) {
      return this.#askForEach(block, instruction, op, { mask, offsets, operands });
    }
    if (fold !== null && offsets.quads === null) {
      this.#updateTogether(op, mask, fold, { offsets, operands, isAtomic });
      return null;
    }
    const at = writer.local("i32");
    const olds = combine.map(() => writer.local(wordOf(access)));
    const results = combine.map((_, e) =>
      dst[e] == null ? null : this.#resultLocals(returned?.[e]?.ty ?? wordOf(access)),
    );
    const problems = problem === undefined ? null : this.#resultLocals("i32");
    // A lane that does nothing has no problem.
    if (problems !== null) writer.assign(problems.map((local) => ({ local, value: wasm.i32x4(0) })));
    const one = { i32: writer.local("i32"), i64: writer.local("i64") };
    const update = (lane: number): void => {
      writer.assign([{ local: at, value: offsets.of(lane) }]);
      const fresh = combine.map((expr) => operands.fresh(expr, lane, olds));
      if (isAtomic) this.#updateShared(access, at, combine, fresh, olds);
      else this.#update(access, at, fresh, olds);
      results.forEach((locals, e) => {
        if (locals === null) return;
        const expr = returned?.[e];
        if (expr === undefined) this.#putLane(wordOf(access) === "i64", locals, lane, olds[e]!);
        else this.#putValue(operands.fresh(expr, lane, olds), locals, lane, one);
      });
      if (problems !== null) this.#putValue(operands.fresh(problem!.number, lane, olds), problems, lane, one);
    };
    const byQuads =
      !isAtomic &&
      offsets.quads !== null &&
      problem === undefined &&
      returned === undefined &&
      updatesByQuads(access, combine);
    const old = byQuads && results[0] === null ? writer.local("v128") : null;
    const eachLane = (): void =>
      this.#eachLane(
        mask,
        exactly,
        update,
        byQuads
          ? (quad, oneByOne) => {
              const [expr, places] = [combine[0]!, wasm.local("v128", offsets.quads![quad]!)];
              writeQuadUpdate(
                writer,
                { places, quad, expr, operands: operands.values, old: old ?? results[0]![quad]! },
                oneByOne,
              );
            }
          : null,
      );
    if (!isArrival || offsets.quads !== null) eachLane();
    else {
      const last = chunk.lanes - 1;
      const word = olds[0]!;
      const arrival = { arrivals: op.arrivals!, place: offsets.of(0), word, states: results[0]! };
      const arriveLast = (): void => {
        this.#moves.scalars.storeOne(access, arrival.place, 0, [operands.fresh(combine[0]!, last, olds)]);
        this.#putValue(operands.fresh(problem!.number, last, olds), problems!, last, one);
      };
      writeArrivals(chunk, mask, arrival, arriveLast, eachLane);
    }
    if (old !== null) writer.release(old);
    for (const local of [...olds, ...operands.locals, ...offsets.locals, at, one.i32, one.i64]) writer.release(local);
    chunk.write(block, dst, this.#valuesOf(instruction, op, results), guardMask);
    for (const locals of results) for (const local of locals ?? []) writer.release(local);
    if (problems === null) return null;
    const release = (): void => {
      for (const local of problems) writer.release(local);
    };
    return { ...this.#raised(vectorIn("i32", problems), mask), release };
  }

  /** One update for all lanes of a mask. */
  #updateTogether(
    { access, combine }: AtomicOp,
    mask: Mask,
    { operation, operand }: FoldedUpdate,
    { offsets, operands, isAtomic }: { offsets: LanePlaces; operands: AtomicOperands; isAtomic: boolean },
  ): void {
    const { writer, quads } = this.#chunk;
    const [at, total, old] = [writer.local("i32"), writer.local("i32"), writer.local("i32")];
    const update = (): void => {
      const words = vectorOf(operands.values.get(operand)!, quads).quads.flat();
      writer.assign([{ local: at, value: offsets.of(0) }]);
      writer.assign([{ local: total, value: folded(operation, words, mask) }]);
      const fresh = [operands.together(combine[0]!, wasm.local("i32", total), [old])];
      if (isAtomic) this.#updateShared(access, at, combine, fresh, [old]);
      else this.#update(access, at, fresh, [old]);
    };
    if (mask === null) update();
    else {
      writer.value(anyOf(mask));
      writer.if(update);
    }
    for (const local of [at, total, old, ...operands.locals, ...offsets.locals]) writer.release(local);
  }

  /** What the registers get of results that lie in locals. */
  #valuesOf({ dst }: Instruction, { access, results: returned }: AtomicOp, results: readonly (number[] | null)[]) {
    const chunk = this.#chunk;
    return results.map((locals, e) => {
      if (locals === null) return null;
      const c = classOf(dst[e]!, chunk.function);
      const ty = returned?.[e]?.ty;
      if (ty === "pred") return isSet(vectorIn("i32", locals));
      if (ty !== undefined) return fitted(vectorIn(ty, locals), c, chunk.quads);
      return elementInRegister(vectorIn(wordOf(access), locals), access, c, chunk.quads);
    });
  }

  /** All lanes ask for the same phase of one mbarrier, which changes nothing: one question answers them all. */
  #ask(block: number, index: number, { dst }: Instruction, op: AtomicOp): AtomicProblems {
    const { writer, quads } = this.#chunk;
    const { access } = op;
    const active = this.#chunk.activeMask(block);
    const offset = this.#places.of(index, op, active, active, true);
    const asked = [op.results![0]!, op.problem!.number];
    const operands = new AtomicOperands(this.#chunk, asked);
    const old = writer.local(wordOf(access));
    const [answer, number] = [writer.local("i32"), writer.local("i32")];
    const locals = [answer, number];
    const ask = (): void => {
      writer.value(offset.of(0));
      writer.memory(this.#isShared ? atomicLoad(access) : scalarLoad(access), access.bits / 8);
      writer.set(old);
      writer.assign(asked.map((expr, i) => ({ local: locals[i]!, value: operands.fresh(expr, 0, [old]) })));
    };
    if (active === null) ask();
    else {
      writer.assign(locals.map((local) => ({ local, value: wasm.i32(0) })));
      writer.value(anyOf(active));
      writer.if(ask);
    }
    this.#chunk.write(block, dst, [{ kind: "uniform", ty: "pred", scalar: wasm.local("i32", answer) }], null);
    for (const local of [old, answer, ...operands.locals, ...offset.locals]) writer.release(local);
    const all = wasm.op("i32x4.splat", wasm.local("i32", number));
    const numbers: Vector = { kind: "vector", ty: "i32", quads: Array.from({ length: quads }, () => [all]) };
    return { ...this.#raised(numbers, active), release: () => writer.release(number) };
  }

  /** All lanes ask one mbarrier, each for a phase of its own: it is loaded once. */
  #askForEach(
    block: number,
    { dst, guard }: Instruction,
    op: AtomicOp,
    { mask, offsets, operands }: { mask: Mask; offsets: LanePlaces; operands: AtomicOperands },
  ): AtomicProblems {
    const { writer } = this.#chunk;
    const { access } = op;
    const old = writer.local(wordOf(access));
    const load = (): void => {
      writer.value(offsets.of(0));
      writer.memory(this.#isShared ? atomicLoad(access) : scalarLoad(access), access.bits / 8);
      writer.set(old);
    };
    if (mask === null) load();
    else {
      writer.assign([{ local: old, value: wasm.i64(0n) }]);
      writer.value(anyOf(mask));
      writer.if(load);
    }
    const [answers, numbers] = [op.results![0]!, op.problem!.number].map((e) => operands.learned(e, [old]));
    this.#chunk.write(block, dst, [answers!], guard === null ? null : this.#chunk.guardMask(guard));
    const release = (): void => {
      for (const local of [old, ...operands.locals, ...offsets.locals]) writer.release(local);
    };
    return { ...this.#raised(numbers!, mask), release };
  }

  /** The problems of the lanes of a mask. */
  #raised(numbers: Vector, mask: Mask): Omit<AtomicProblems, "release"> {
    const { quads } = isSet(numbers);
    return { numbers, lanes: quads.map(([q], i) => (mask === null ? q! : wasm.op("v128.and", q!, mask[i]!))) };
  }

  /**
   * Writes an update for each lane, in order. `exactly`: for lanes of the mask alone; otherwise inactive lanes of a
   * quad with active ones may take part, with offsets where they do no harm. `byQuads` writes the updates of a quad at
   * once where it can.
   */
  #eachLane(
    mask: Mask,
    exactly: boolean,
    write: (lane: number) => void,
    byQuads: ((quad: number, oneByOne: () => void) => void) | null,
  ): void {
    const { writer, quads } = this.#chunk;
    for (let q = 0; q < quads; q++) {
      const oneByOne = (): void => {
        for (let lane = 4 * q; lane < 4 * q + 4; lane++) {
          if (mask === null || !exactly) write(lane);
          else {
            writer.value(wasm.lane("i32x4.extract_lane", lane & 3, mask[q]!));
            writer.if(() => write(lane));
          }
        }
      };
      const four = byQuads === null ? oneByOne : (): void => byQuads(q, oneByOne);
      if (mask === null) four();
      else {
        writer.value(wasm.op("v128.any_true", mask[q]!));
        writer.if(four);
      }
    }
  }

  #resultLocals(ty: Ty): number[] {
    const { writer, quads } = this.#chunk;
    return Array.from({ length: isWide(ty) ? 2 * quads : quads }, () => writer.local("v128"));
  }

  /** Keeps the value of one lane, by way of one of two locals. */
  #putValue(value: Wasm, locals: readonly number[], lane: number, one: Readonly<Record<"i32" | "i64", number>>): void {
    const isLong = value.ty === "i64";
    const local = isLong ? one.i64 : one.i32;
    this.#chunk.writer.assign([{ local, value }]);
    this.#putLane(isLong, locals, lane, local);
  }

  #putLane(wide: boolean, locals: readonly number[], lane: number, value: number): void {
    const { writer } = this.#chunk;
    const local = locals[wide ? lane >> 1 : lane >> 2]!;
    writer.get(local);
    writer.get(value);
    writer.op(wide ? "i64x2.replace_lane" : "i32x4.replace_lane", [wide ? lane & 1 : lane & 3]);
    writer.set(local);
  }

  #update(access: Access, at: number, fresh: readonly Wasm[], olds: readonly number[]): void {
    const { writer } = this.#chunk;
    const bytes = access.bits / 8;
    olds.forEach((old, e) => {
      writer.get(at);
      writer.memory(scalarLoad(access), bytes, e * bytes);
      writer.set(old);
    });
    this.#moves.scalars.storeOne(access, wasm.local("i32", at), 0, fresh);
  }

  /** Updates memory that other host threads update, too: each element by itself. */
  #updateShared(
    access: Access,
    at: number,
    combine: readonly Expr[],
    fresh: readonly Wasm[],
    olds: readonly number[],
  ): void {
    const { writer } = this.#chunk;
    // Two elements of 64 bits are one value of 128. Vectors, whose elements are atomic one by one, have smaller ones.
    if (access.bits === 64 && combine.length > 1) {
      this.#locked(() => this.#update(access, at, fresh, olds));
      return;
    }
    combine.forEach((expr, e) => {
      const immediate = (e * access.bits) / 8;
      const operation = modification(expr);
      if (operation === null) this.#exchange(access, at, immediate, fresh[e]!, olds[e]!);
      else {
        writer.get(at);
        writer.value(operation.operand === null ? fresh[e]! : argumentOf(fresh[e]!, operation.operand));
        writer.memory(atomicOp(access, operation.name), access.bits / 8, immediate);
        this.#setOld(access, olds[e]!);
      }
    });
  }

  /** Performs an update that no wasm instruction can do atomically, under a lock of all host threads. */
  #locked(update: () => void): void {
    const { writer } = this.#chunk;
    writer.loop((again) => {
      writer.values([wasm.i32(lockAt), wasm.i32(0), wasm.i32(1)]);
      writer.memory("i32.atomic.rmw.cmpxchg", 4);
      writer.brIf(again);
    });
    update();
    writer.values([wasm.i32(lockAt), wasm.i32(0)]);
    writer.memory("i32.atomic.store", 4);
  }

  /** Repeats a compare-and-exchange until no other thread has interfered. */
  #exchange(access: Access, at: number, immediate: number, fresh: Wasm, old: number): void {
    const { writer } = this.#chunk;
    const ty = wordOf(access);
    const bytes = access.bits / 8;
    const [expected, seen] = [writer.local(ty), writer.local(ty)];
    writer.get(at);
    writer.memory(atomicLoad(access), bytes, immediate);
    writer.set(seen);
    writer.loop((again) => {
      writer.get(seen);
      writer.tee(expected);
      this.#setOld(access, old);
      writer.get(at);
      writer.get(expected);
      writer.value(fresh);
      writer.memory(atomicOp(access, "cmpxchg"), bytes, immediate);
      writer.tee(seen);
      writer.get(expected);
      writer.op(`${ty}.ne`);
      writer.brIf(again);
    });
    writer.release(expected);
    writer.release(seen);
  }

  /** Keeps the old element, which is on the stack, extended as the access says. */
  #setOld(access: Access, old: number): void {
    const { writer } = this.#chunk;
    extendSign(writer, access);
    writer.set(old);
  }
}

/** The lock: a word of the device's memory in no allocation. It is 1 while a host thread updates 128 bits. */
const lockAt = 64;
