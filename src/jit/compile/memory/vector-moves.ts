import type { Access } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { loadElements } from "../emit/memory-ops.ts";
import { transposed } from "../lanes/interleave.ts";
import { allBits, laneBits } from "../lanes/mask-bits.ts";
import { isNone, type Mask } from "../lanes/mask.ts";
import { type AccessHelpers, fetchName, putName } from "../module/access-helpers.ts";
import type { RecordCount, RecordHelpers } from "../module/record-helpers.ts";
import type { ByteOffsets } from "./bounds-check.ts";
import type { LaneOffsets, PushOffset, AccessOffsets } from "./lane-offsets.ts";
import { loadNarrowLane, storeNarrowLanes } from "./narrow-moves.ts";
import { loadPacked, packedAccess, storePacked } from "./packed-moves.ts";
import { areAll, elementOf, ScalarMoves } from "./scalar-moves.ts";
import { loadSpaced, loadWords } from "./spaced-loads.ts";
import { storeRun } from "./stored-runs.ts";

type Element = readonly number[];

/**
 * Moves elements between memory and locals. An element of all lanes is a list of v128 locals, one for each quad or, for
 * 64 bits, for each two lanes; elements of 8 and 16 bits are extended to 32.
 */
export class VectorMoves {
  readonly #chunk: Chunk;
  readonly #laneOffsets: LaneOffsets;
  /** Whether other host threads may write next to what a lane writes. */
  readonly #isShared: boolean;
  /** If code should be short rather than fast: helpers that move elements from and to any offsets. */
  readonly #helpers: AccessHelpers | null;
  readonly #records: RecordHelpers;
  /** Moves of single elements, as wasm numbers. */
  readonly scalars: ScalarMoves;

  constructor(
    chunk: Chunk,
    laneOffsets: LaneOffsets,
    isShared: boolean,
    records: RecordHelpers,
    helpers: AccessHelpers | null,
  ) {
    this.#chunk = chunk;
    this.#records = records;
    this.#helpers = helpers;
    this.#laneOffsets = laneOffsets;
    this.#isShared = isShared;
    this.scalars = new ScalarMoves(chunk.writer, isShared);
  }

  /** Loads the elements of all lanes, or of those of a mask if only these have valid offsets. */
  load(access: Access, where: AccessOffsets, into: readonly Element[], mask: Mask): void {
    const { offsets, immediate } = where;
    const packed = this.scalars.isStrong(access) ? null : packedAccess(access);
    if (packed !== null) {
      loadPacked(this.#chunk.writer, access, packed, into, (words) => this.load(packed, where, words, mask));
      return;
    }
    if (this.#helpers !== null && offsets.kind === "each" && this.#isPlain(access)) {
      this.#callHelper(fetchName(access), this.#laneOffsets.allOf(offsets, immediate, mask), []);
      for (const local of into[0]!.toReversed()) this.#chunk.writer.set(local);
      return;
    }
    const mayRun = this.#isDense(access) && !this.scalars.isStrong(access);
    const bytes = bytesOf(access);
    if (mask === null && mayRun && offsets.kind === "run") {
      if (Math.abs(offsets.stride) === bytes) {
        this.#loadRun(access, offsets, immediate, into);
        return;
      }
      if (loadSpaced(this.#chunk.writer, access, { ...offsets, immediate }, into[0]!)) return;
    }
    const isWord = mayRun && access.bits === 32 && access.count === 1;
    if (isWord && offsets.kind === "pattern") {
      into[0]!.forEach((local, q) => {
        if (mask !== null && isNone(mask[q]!)) return;
        loadWords(this.#chunk.writer, offsets.at, immediate, offsets.distances.slice(4 * q, 4 * q + 4), local);
      });
      return;
    }
    const count = mayRun ? this.#helpedRecord(access) : null;
    if (mask === null && isWord && where.pattern !== null) {
      const { pattern } = where;
      into[0]!.forEach((local, q) => {
        const at = this.#laneOffsets.offsetIn(pattern, offsets, 4 * q);
        loadWords(this.#chunk.writer, at, immediate, pattern.distances.slice(4 * q, 4 * q + 4), local);
      });
      return;
    }
    this.#laneOffsets.eachQuad(where, mask, {
      places:
        count === null
          ? null
          : (q, places) => {
              const { writer } = this.#chunk;
              writer.value(places);
              writer.call(this.#records.load(count));
              for (const [local] of this.#quadOf(into, q).toReversed()) writer.set(local!);
            },
      lanes: (q, push) => {
        if (mayRun && access.count > 1) this.#loadRecords(access, push, q, this.#quadOf(into, q));
        else for (let lane = 4 * q; lane < 4 * q + 4; lane++) this.#loadLane(access, push, into, lane);
      },
      lane: (lane, push) => this.#loadLane(access, push, into, lane),
      adjoining:
        !mayRun || count !== null
          ? null
          : {
              bytes,
              move: (q, at, plus) =>
                this.#loadRun(access, { at, stride: bytes }, immediate + plus, this.#quadOf(into, q)),
            },
    });
  }

  /** Loads records that begin at any multiple of a word, where the offsets of all lanes follow from one. */
  loadInPattern(access: Access, offsets: ByteOffsets, immediate: number, into: readonly Element[]): void {
    const push = this.#laneOffsets.pushOffset(offsets, immediate);
    for (let q = 0; q < this.#chunk.quads; q++) this.#loadRecords(access, push, q, this.#quadOf(into, q));
  }

  /** Stores the elements of the lanes of a mask; null: nothing is stored for that element. */
  store(access: Access, where: AccessOffsets, mask: Mask, elements: readonly (Element | null)[]): void {
    const { offsets, immediate } = where;
    const [element = null] = elements;
    const packed = this.scalars.isStrong(access) ? null : packedAccess(access);
    if (packed !== null && areAll(elements)) {
      storePacked(this.#chunk.writer, access, packed, elements, (words) => this.store(packed, where, mask, words));
      return;
    }
    if (this.#helpers !== null && offsets.kind === "each" && this.#isPlain(access) && element !== null) {
      this.#callHelper(putName(access), this.#laneOffsets.allOf(offsets, immediate, mask), element);
      return;
    }
    const storeLanes = (): void => this.#storeEach(access, where, mask, elements);
    if (!this.#mayRun(access, elements) || offsets.kind !== "run" || offsets.stride !== bytesOf(access)) {
      storeLanes();
      return;
    }
    const store = (lanes: Mask): void =>
      storeRun(this.#chunk.writer, access, { at: offsets.at, immediate }, lanes, elements as Element[]);
    this.#inVersions(access, mask, store, storeLanes);
  }

  #mayRun(access: Access, elements: readonly (Element | null)[]): boolean {
    return elements.every((e) => e !== null) && this.#isDense(access) && !this.scalars.isStrong(access);
  }

  /** Stores elements quad by quad, and most often lane by lane. */
  #storeEach(access: Access, where: AccessOffsets, mask: Mask, elements: readonly (Element | null)[]): void {
    const mayRun = this.#mayRun(access, elements);
    const bytes = bytesOf(access);
    const { immediate } = where;
    // Between the load and the store of a blend, another thread could write what is not stored here.
    const mayBlend = this.#mayBlend(access);
    const count = mayRun ? this.#helpedRecord(access) : null;
    this.#laneOffsets.eachQuad(where, mask, {
      places:
        count === null
          ? null
          : (q, places) => {
              const { writer } = this.#chunk;
              writer.value(places);
              for (const [local] of this.#quadOf(elements as Element[], q)) writer.get(local!);
              writer.call(this.#records.store(count));
            },
      lanes: (q, push) => {
        for (let lane = 4 * q; lane < 4 * q + 4; lane++) this.#storeLane(access, push, elements, lane);
      },
      lane: (lane, push) => this.#storeLane(access, push, elements, lane),
      adjoining:
        !mayRun || count !== null || !(mask === null || mayBlend)
          ? null
          : {
              bytes,
              move: (q, at, plus) =>
                storeRun(
                  this.#chunk.writer,
                  access,
                  { at, immediate: immediate + plus },
                  mask && [mask[q]!],
                  this.#quadOf(elements as Element[], q),
                ),
            },
    });
  }

  /** Whether a store of single elements that nothing else orders is a run of them. */
  storesRun(access: Access, { offsets }: AccessOffsets): boolean {
    return !this.scalars.isStrong(access) && offsets.kind === "run" && offsets.stride === bytesOf(access);
  }

  /** Stores such a run from narrow lanes. `asWords`: provides them as words, where they are stored lane by lane. */
  storeNarrow(
    access: Access,
    where: AccessOffsets,
    mask: Mask,
    values: Element,
    asWords: (store: (words: Element) => void) => void,
  ): void {
    const { writer, lanes } = this.#chunk;
    const { at } = where.offsets as Extract<ByteOffsets, { kind: "run" }>;
    const parts = values.map((local) => wasm.local("v128", local));
    const store = (active: Mask): void =>
      storeNarrowLanes(writer, access, { at, immediate: where.immediate }, active, parts, lanes);
    this.#inVersions(access, mask, store, () => asWords((words) => this.#storeEach(access, where, mask, [words])));
  }

  /** Writes versions of a store: of all lanes, and of those of a mask. */
  #inVersions(access: Access, mask: Mask, store: (lanes: Mask) => void, storeLanes: () => void): void {
    const mayBlend = this.#mayBlend(access);
    if (mask === null) store(null);
    else if (this.#chunk.isConverted && mayBlend) store(mask);
    else {
      // Usually all lanes are active.
      const { writer, lanes } = this.#chunk;
      writer.value(wasm.op("i32.eq", laneBits(mask), allBits(lanes)));
      writer.expect(true);
      writer.if(() => store(null), mayBlend ? () => store(mask) : storeLanes);
    }
  }

  /** Whether bytes between those that are stored may be, too: another thread could write them meanwhile. */
  #mayBlend({ space }: Access): boolean {
    return !this.#isShared || space === "shared" || space === "local";
  }

  /** The elements of records that helpers move: in chunks of 32 lanes such moves would be most of the code. */
  #helpedRecord({ bits, count }: Access): RecordCount | null {
    return this.#chunk.quads === 8 && bits === 32 && (count === 2 || count === 4) ? count : null;
  }

  /** Whether an access is a single element with no atomicity required. */
  #isPlain(access: Access): boolean {
    return access.count === 1 && !this.scalars.isStrong(access);
  }

  #callHelper(name: string, at: ReturnType<LaneOffsets["allOf"]>, values: Element): void {
    const { writer, lanes } = this.#chunk;
    writer.i32(at.immediate);
    writer.values(at.quads);
    for (const local of values) writer.get(local);
    writer.call(this.#helpers!.named(name, lanes));
  }

  /** The parts of elements that belong to a quad. */
  #quadOf(elements: readonly Element[], q: number): readonly Element[] {
    const { quads } = this.#chunk;
    return elements.map((e) => e.slice((q * e.length) / quads, ((q + 1) * e.length) / quads));
  }

  /** Whether contiguous elements can be moved as whole vectors. */
  #isDense({ bits, count }: Access): boolean {
    if (count === 1) return true;
    return (bits === 32 && (count === 2 || count === 4)) || (bits === 64 && count === 2);
  }

  /** Loads contiguous elements, ascending or descending over the lanes. */
  #loadRun(
    access: Access,
    { at, stride }: Pick<Extract<ByteOffsets, { kind: "run" }>, "at" | "stride">,
    immediate: number,
    into: readonly Element[],
  ): void {
    const { writer } = this.#chunk;
    const { count } = access;
    const backwards = stride < 0;
    const [first] = into;
    const parts = into.length * first!.length;
    const memory = (part: number): void => {
      writer.value(at);
      // A part has four elements, or two of 64 bits.
      loadElements(writer, access, access.bits / 8, immediate + part * Math.min(16, access.bits / 2));
    };
    if (count === 1) {
      first!.forEach((local, part) => {
        memory(backwards ? parts - 1 - part : part);
        writer.set(local);
        if (backwards) {
          const turned = access.bits === 64 ? ([2, 3, 0, 1] as const) : ([3, 2, 1, 0] as const);
          const value = wasm.local("v128", local);
          writer.assign([{ local, value: wasm.shuffle32(value, value, turned) }]);
        }
      });
      return;
    }
    // As many vectors as a record has elements are transposed into one for each element.
    const groups = first!.length;
    for (let g = 0; g < groups; g++) {
      const locals = into.map((element) => element[g]!);
      const source = backwards ? groups - 1 - g : g;
      locals.forEach((local, i) => {
        memory(source * count + i);
        writer.set(local);
      });
      const values = transposed(
        locals.map((l) => wasm.local("v128", l)),
        access.bits,
      );
      const turn = (value: Wasm): Wasm =>
        wasm.shuffle32(value, value, access.bits === 64 ? [2, 3, 0, 1] : [3, 2, 1, 0]);
      writer.assign(locals.map((local, i) => ({ local, value: backwards ? turn(values[i]!) : values[i]! })));
    }
  }

  /** Loads the records (8 or 16 bytes) of a quad, each as a whole. */
  #loadRecords({ bits, count }: Access, push: PushOffset, q: number, into: readonly Element[]): void {
    const { writer } = this.#chunk;
    const perVector = 128 / (bits * count);
    const vectors = Array.from({ length: 4 / perVector }, (_, v) => {
      const local = writer.local("v128");
      for (let l = 0; l < perVector; l++) {
        if (l > 0) {
          // The address goes below the vector on the stack.
          const at = push(4 * q + v * perVector + l);
          writer.get(local);
          writer.memory("v128.load64_lane", bits / 8, at, l);
        } else {
          const at = push(4 * q + v * perVector);
          writer.memory(perVector === 1 ? "v128.load" : "v128.load64_zero", bits / 8, at);
        }
        writer.set(local);
      }
      return local;
    });
    // As many vectors as a record has elements make one vector of each element.
    for (let from = 0; from < vectors.length; from += count) {
      const records = vectors.slice(from, from + count).map((local) => wasm.local("v128", local));
      const values = transposed(records, bits);
      writer.assign(into.map((element, e) => ({ local: element[from / count]!, value: values[e]! })));
    }
    for (const local of vectors) writer.release(local);
  }

  /** Loads a lane's elements; the first lane of a vector clears the others. */
  #loadLane(access: Access, push: PushOffset, into: readonly Element[], lane: number): void {
    const { writer } = this.#chunk;
    const bytes = access.bits / 8;
    const wide = access.bits === 64;
    const l = wide ? lane & 1 : lane & 3;
    if (this.scalars.isWhole(access)) {
      const vector = this.scalars.loadWhole(access, push(lane));
      into.forEach((element, e) => {
        const local = element[wide ? lane >> 1 : lane >> 2]!;
        writer.get(local);
        writer.value(elementOf(access, vector, e));
        writer.op(wide ? "i64x2.replace_lane" : "i32x4.replace_lane", [l]);
        writer.set(local);
      });
      writer.release(vector);
      return;
    }
    into.forEach((element, e) => {
      const local = element[wide ? lane >> 1 : lane >> 2]!;
      if (access.bits < 32 && !this.scalars.isStrong(access)) {
        loadNarrowLane(writer, access, push(lane) + e * bytes, local, l);
        return;
      }
      if (this.scalars.isStrong(access)) {
        writer.get(local);
        const at = push(lane) + e * bytes;
        this.scalars.load(access, at);
        writer.op(wide ? "i64x2.replace_lane" : "i32x4.replace_lane", [l]);
      } else if (l === 0) {
        writer.memory(wide ? "v128.load64_zero" : "v128.load32_zero", bytes, push(lane) + e * bytes);
      } else {
        const at = push(lane) + e * bytes;
        writer.get(local);
        writer.memory(wide ? "v128.load64_lane" : "v128.load32_lane", bytes, at, l);
      }
      writer.set(local);
    });
  }

  #storeLane(access: Access, push: PushOffset, elements: readonly (Element | null)[], lane: number): void {
    const { writer } = this.#chunk;
    const bytes = access.bits / 8;
    const wide = access.bits === 64;
    const l = wide ? lane & 1 : lane & 3;
    const numberOf = (element: Element): Wasm => elementOf(access, element[wide ? lane >> 1 : lane >> 2]!, l);
    if (this.scalars.isWhole(access) && areAll(elements)) {
      const at = push(lane);
      this.scalars.storeWhole(access, at, elements.map(numberOf));
      return;
    }
    elements.forEach((element, e) => {
      if (element === null) return;
      const at = push(lane) + e * bytes;
      const value = wasm.local("v128", element[wide ? lane >> 1 : lane >> 2]!);
      if (this.scalars.isStrong(access)) {
        writer.value(numberOf(element));
        this.scalars.store(access, at);
      } else {
        writer.value(value);
        writer.memory(`v128.store${access.bits}_lane`, Math.min(access.align, bytes), at, wide ? l : (l * 4) / bytes);
      }
    });
  }
}

const bytesOf = ({ bits, count }: Access): number => (bits / 8) * count;
