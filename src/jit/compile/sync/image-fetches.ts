import { coordinatesOf, type Destination, type Expr, type ImageFetch } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { fetchedGeometries, fetchNumber, imageWords, imageWordsAt, levelRegisters } from "../../abi/image-words.ts";
import type { Chunk } from "../emit/chunk.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { fitted } from "../lanes/register-class.ts";
import { vectorOf } from "../lanes/value.ts";
import type { FunctionContext } from "../module/function-context.ts";
import { callHost, importHost } from "../module/host-calls.ts";
import { eachHandle, type GroupAccess } from "./handle-groups.ts";
import type { FetchKind } from "../module/fetch-kind.ts";

/** The operands of a fetch: the level has 32 bits, or is the base level. */
interface FetchPlace {
  /** The lanes that have the handle, where others may have another one. */
  readonly group: readonly Wasm[] | null;
  readonly handle: Wasm;
  /** Null: the texture's own. */
  readonly sampler: Wasm | null;
  readonly lod: Wasm | null;
  /** Coordinates, offsets and the depth that is compared: four lanes each. */
  readonly vectors: readonly (readonly Wasm[])[];
}

/** A fetch, and the lanes for which it is. */
interface FetchInstruction {
  readonly operands: readonly Expr[];
  readonly dst: readonly Destination[];
  /** The instruction's index in its function. */
  readonly index: number;
  readonly lanes: readonly Wasm[];
  /** Two halves in a result. */
  readonly isPacked: boolean;
}

/** A half and the next one, in one element. */
const packedPair = (halves: readonly Wasm[], first: number): Wasm =>
  wasm.op("v128.or", halves[first]!, wasm.op("i32x4.shl", halves[first + 1]!, wasm.i32(16)));

const bitsOf = (scalar: Wasm): Wasm => (scalar.ty === "f32" ? wasm.op("i32.reinterpret_f32", scalar) : scalar);

/**
 * Writes fetches from textures. Whether compiled code can fetch from one is known only when its handle is: if not, the
 * launcher does it, as any other fetch.
 */
export class ImageFetches {
  readonly #chunk: Chunk;
  readonly #at: FunctionContext;
  readonly #storeOperands: (operands: readonly Expr[], to: number) => void;

  /** `storeOperands`: stores operands as the launcher finds them, so many bytes from the beginning of the context. */
  constructor(chunk: Chunk, at: FunctionContext, storeOperands: (operands: readonly Expr[], to: number) => void) {
    this.#chunk = chunk;
    this.#at = at;
    this.#storeOperands = storeOperands;
  }

  /**
   * A function that writes a fetch, given what writes it for the launcher; null for a fetch that is always the
   * launcher's. Results lie where the launcher leaves them.
   */
  of(
    fetch: ImageFetch,
    { operands, dst, index }: Omit<FetchInstruction, "lanes" | "isPacked">,
  ): ((lanes: readonly Wasm[], byHost: (lanes?: readonly Wasm[]) => void) => void) | null {
    const { geometry, level, offsets, compares, hasSampler, component, result, integers } = fetch;
    const known = fetchedGeometries.find((one) => one === geometry);
    if (known === undefined) return null;
    const from = result.startsWith("f") ? "float" : "integer";
    // Only floats are compared: the launcher reports anything else.
    if (compares && from !== "float") return null;
    const handle = this.#handle(operands[0]!);
    const sampler = hasSampler ? this.#handle(operands[1]!) : null;
    if (hasSampler && sampler === null) return null;
    const halves = result.startsWith("f16");
    const kind = { geometry: known, integers, result: from, component, offsets, compares, halves } as const;
    const isPacked = result === "f16x2";
    const afterPlace = 2 + coordinatesOf[known];
    const levelWords = level === "base" ? 0 : level === "level" ? 1 : 2 * fetch.gradients;
    const isOneLevel =
      levelWords === 0 || (levelWords === 1 && level === "level" && this.#isUniform(operands[afterPlace]!));
    // No instruction of PTX gathers from a level but the base.
    const byLevels = levelWords > 0 && component === null && handle !== null;
    if (!isOneLevel && !byLevels) return null;
    return (lanes, byHost) => {
      const otherwise = (): void => {
        if (byLevels) this.#byLevels(kind, levelWords, { operands, dst, index, lanes, isPacked }, byHost);
        else byHost();
      };
      if (!isOneLevel) {
        otherwise();
        return;
      }
      const lod = levelWords === 0 ? null : this.#chunk.value(operands[afterPlace]!);
      const words = [...operands.slice(2, afterPlace), ...operands.slice(afterPlace + levelWords)];
      const vectors = words.map((word) => {
        const value = fitted(this.#chunk.value(word), "b32", this.#chunk.quads);
        return vectorOf(value, this.#chunk.quads).quads.map(([quad]) => quad!);
      });
      const bits = lod === null || lod.kind !== "uniform" ? null : bitsOf(lod.scalar);
      const place = { sampler, lod: bits, vectors };
      if (handle !== null) this.#write({ ...place, handle, group: null }, kind, { dst, isPacked }, otherwise);
      else {
        const of = { operand: operands[0]!, lanes, redoes: true };
        const write: GroupAccess = (one, group, failed) =>
          this.#write({ ...place, handle: one, group }, kind, { dst, isPacked }, failed);
        eachHandle(this.#chunk, this.#at, of, write, byHost);
      }
    };
  }

  #isUniform(operand: Expr): boolean {
    return this.#chunk.value(operand).kind === "uniform";
  }

  /** Fetches from the levels that lanes choose. */
  #byLevels(kind: FetchKind, levelWords: number, at: FetchInstruction, byHost: () => void): void {
    const { writer: w, quads } = this.#chunk;
    const { context, layout, unit, siteOf } = this.#at;
    const { fragments } = layout;
    const name = unit.imageHelpers.levels(kind, { levelWords, fragments, quads });
    this.#storeOperands(at.operands, fragments + 16 * quads * levelRegisters.operands);
    w.get(context);
    w.i32(siteOf(at.index, null));
    w.value(laneBits(at.lanes));
    w.call(name);
    w.if(() => {
      for (let quad = 0; quad < quads; quad++) {
        for (let c = 0; c < 4; c++) {
          w.get(context);
          w.memory("v128.load", 16, fragments + 16 * (quads * (levelRegisters.results + c) + quad));
        }
        this.#keep(quad, at);
      }
    }, byHost);
  }

  /** A handle that is the same in all lanes; null for any other. */
  #handle(operand: Expr): Wasm | null {
    const value = this.#chunk.value(operand);
    return value.kind === "uniform" && value.ty === "i64" ? value.scalar : null;
  }

  #write(
    { handle, group, sampler, lod, vectors }: FetchPlace,
    kind: FetchKind,
    results: Pick<FetchInstruction, "dst" | "isPacked">,
    byHost: () => void,
  ): void {
    const { writer: w, quads } = this.#chunk;
    const { geometry, result: from } = kind;
    const level = lod === null ? "base" : kind.integers ? "integer" : "float";
    importHost(this.#at.unit.module, "image");
    const form = w.local("i32");
    if (sampler !== null) {
      w.get(this.#at.context);
      w.value(sampler);
      w.memory("i64.store", 4, this.#wordsAt() + 4 * imageWords.sampler);
    }
    w.get(this.#at.context);
    w.value(wasm.op("i32.wrap_i64", wasm.op("i64.shr_u", handle, wasm.i64(32n))));
    w.value(wasm.op("i32.wrap_i64", handle));
    w.value(wasm.i32(fetchNumber({ geometry, from, level, hasSampler: sampler !== null })));
    w.value(lod ?? wasm.i32(0));
    callHost(w, "image");
    w.set(form);
    const name = this.#at.unit.imageHelpers.fetch(kind);
    w.get(form);
    w.if(() => {
      for (let quad = 0; quad < quads; quad++) {
        const own = group?.[quad] ?? null;
        const fetchQuad = (): void => {
          w.value(wasm.op("i32.add", wasm.local("i32", this.#at.context), wasm.i32(this.#wordsAt())));
          w.get(form);
          for (const vector of vectors) w.value(vector[quad]!);
          w.call(name);
          this.#keep(quad, results, own);
        };
        if (own === null) fetchQuad();
        else {
          w.value(wasm.op("v128.any_true", own));
          w.if(fetchQuad);
        }
      }
      if (geometry.endsWith("cube")) this.#settle(form);
    });
    w.get(form);
    w.op("i32.eqz");
    w.if(byHost);
    w.release(form);
  }

  /** 0 in place of a form that is known, if the launcher has to fetch all the same. */
  #settle(form: number): void {
    const { writer: w } = this.#chunk;
    w.get(this.#at.context);
    w.memory("i32.load", 4, this.#wordsAt() + 4 * imageWords.unsettled);
    w.op("i32.eqz");
    w.set(form);
  }

  #wordsAt(): number {
    return this.#at.layout.fragments + imageWordsAt(this.#chunk.lanes);
  }

  /**
   * Stores the results for four lanes, which are on the stack, where the launcher would leave them; those of lanes
   * other than `own` stay.
   */
  #keep(quad: number, { dst, isPacked }: Pick<FetchInstruction, "dst" | "isPacked">, own: Wasm | null = null): void {
    const { writer: w, quads } = this.#chunk;
    const locals = Array.from({ length: 4 }, () => w.local("v128"));
    for (const local of [...locals].reverse()) w.set(local);
    const components = locals.map((local) => wasm.local("v128", local));
    const values = isPacked ? [packedPair(components, 0), packedPair(components, 2)] : components;
    let place = 0;
    dst.forEach((to, n) => {
      if (to === null) return;
      const at = this.#at.layout.fragments + 16 * (place * quads + quad);
      w.get(this.#at.context);
      // All of an image is resident.
      w.value(values[n] ?? wasm.i32x4(1));
      if (own !== null) {
        w.get(this.#at.context);
        w.memory("v128.load", 16, at);
        w.value(own);
        w.op("i8x16.relaxed_laneselect");
      }
      w.memory("v128.store", 16, at);
      place++;
    });
    for (const local of locals) w.release(local);
  }
}
