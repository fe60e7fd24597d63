import type { Expr } from "../../../semantics/index.ts";
import { wasm } from "../../../wasm/index.ts";
import type { AccessGroup } from "../analysis/access/access-groups.ts";
import type { LanePattern, LanePatterns } from "../analysis/access/lane-patterns.ts";
import type { Chunk } from "../emit/chunk.ts";
import { both, plus, times } from "../lanes/scalar.ts";
import type { FunctionContext } from "../module/function-context.ts";
import type { ByteOffsets, CheckResult, ExpectedObject } from "./bounds-check.ts";

/** An address as a sum of what follows from thread numbers and what all lanes share. */
interface Counted {
  readonly start: Expr;
  readonly counter: Expr;
}

/**
 * Places of accesses to shared memory whose addresses follow from thread numbers: all lanes' are known from the number
 * of the chunk's first thread, so that it does not matter which lanes are active.
 */
export class PatternPlaces {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  readonly #patterns: LanePatterns;

  constructor(chunk: Chunk, context: FunctionContext, patterns: LanePatterns) {
    this.#chunk = chunk;
    this.#context = context;
    this.#patterns = patterns;
  }

  /**
   * Whether the addresses of all threads that may execute one of some instructions (null: of all threads) follow from
   * their numbers, and each lies in one of some objects. Those of shared memory have the same offsets.
   */
  areWithin(
    { address, range }: AccessGroup,
    targets: readonly ExpectedObject[],
    instructions: readonly number[] | null,
  ): boolean {
    if (range.offset % range.align !== 0) return false;
    const places = targets.flatMap(({ object: { from, bytes } }) => {
      if (from.kind !== "const" || bytes.kind !== "const") return [];
      const start = Number(from.value) - range.offset;
      return [{ start, end: start + Number(bytes.value) - range.size }];
    });
    return this.#patterns.isWithin(address.base, instructions, places, range.align);
  }

  /** The offsets of a group in a pattern, if the addresses of all threads are good; else null. */
  of(group: AccessGroup, instructions: readonly number[], target: ExpectedObject, pattern: LanePattern) {
    if (!this.#areMoves(instructions) || target.object.lane !== undefined) return null;
    return this.areWithin(group, [target], null) ? this.#offsets(group, target, pattern) : null;
  }

  /**
   * The offsets of a group whose pattern moves on as all lanes count, and the test whether the addresses of all threads
   * are good there; null for others.
   */
  counted(group: AccessGroup, instructions: readonly number[], target: ExpectedObject): CheckResult | null {
    const { from, bytes, lane } = target.object;
    if (!this.#areMoves(instructions) || lane !== undefined || from.kind !== "const" || bytes.kind !== "const") {
      return null;
    }
    const parts = this.#countedOf(group.address.base);
    const pattern = parts === null ? null : this.#patterns.of(parts.start, this.#chunk.lanes);
    if (parts === null || pattern === null) return null;
    const { offset, size, align } = group.range;
    const starts = this.#patterns.rangeOf(parts.start)!;
    const room = Number(bytes.value) - (starts.max - starts.min) - size;
    if (room < 0 || offset % align !== 0 || starts.align % align !== 0) return null;
    const counter = this.#chunk.value(parts.counter);
    if (counter.kind !== "uniform") return null;
    const offsets = this.#offsets(group, target, pattern, counter.scalar);
    if (offsets === null) return null;
    const distance = plus(counter.scalar, wasm.i32(starts.min + offset - Number(from.value)));
    const isIn = wasm.op("i32.le_u", distance, wasm.i32(room));
    const isAligned = wasm.op("i32.eqz", wasm.op("i32.and", counter.scalar, wasm.i32(align - 1)));
    return { offsets, ok: align === 1 ? isIn : both(isIn, isAligned), fallback: null };
  }

  #countedOf(address: Expr): Counted | null {
    if (address.kind !== "prim" || address.prim !== "i32.add") return null;
    const [start, counter] = address.args as [Expr, Expr];
    const { analysis } = this.#chunk;
    const isCounted = start.kind === "reg" && counter.kind === "reg" && analysis.shape(counter).kind === "uniform";
    return isCounted && analysis.shape(start).kind === "vector" ? { start, counter } : null;
  }

  #offsets(
    { range }: AccessGroup,
    { object }: ExpectedObject,
    { distances, places }: LanePattern,
    counter = wasm.i32(0),
  ): ByteOffsets | null {
    const { first } = this.#context;
    if (places === null || first === null) return null;
    const thread = wasm.local("i32", first);
    const { start, step, threads } = places;
    const isEven = step % threads === 0;
    const chunk = isEven ? thread : wasm.op("i32.div_u", thread, wasm.i32(threads));
    const beyond = step === 0 ? wasm.i32(0) : times(chunk, isEven ? step / threads : step);
    const at = plus(plus(plus(object.delta, wasm.i32(start + range.offset)), beyond), counter);
    return { kind: "pattern", at, distances };
  }

  #areMoves(instructions: readonly number[]): boolean {
    const { code } = this.#chunk.analysis;
    return instructions.every((i) => /^(load|store)$/.test(code.instructions[i]!.op.kind));
  }
}
