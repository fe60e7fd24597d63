import type { Destination, Expr, ImageFetch } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { imageWordsAt } from "../../abi/image-words.ts";
import type { Chunk } from "../emit/chunk.ts";
import { fitted } from "../lanes/register-class.ts";
import { vectorOf } from "../lanes/value.ts";
import type { FunctionContext } from "../module/function-context.ts";
import { callHost, importHost } from "../module/host-calls.ts";

/** The bits of channels that a texel of one channel does not have. */
const absent = [0, 0, 0, 0x3f80_0000] as const;

/**
 * Writes fetches from two-dimensional textures whose handle is the same in all lanes. Whether compiled code can fetch
 * from such a texture is known only then: if not, the launcher does it, as any other fetch.
 */
export class ImageFetches {
  readonly #chunk: Chunk;
  readonly #at: FunctionContext;

  constructor(chunk: Chunk, at: FunctionContext) {
    this.#chunk = chunk;
    this.#at = at;
  }

  /**
   * A function that writes a fetch, given what writes it for the launcher; null for a fetch that is always the
   * launcher's. Results lie where the launcher leaves them.
   */
  of(fetch: ImageFetch, operands: readonly Expr[], dst: readonly Destination[]): ((byHost: () => void) => void) | null {
    const { geometry, level, offsets, compares, hasSampler, component, result } = fetch;
    const isPlain = geometry === "2d" && level === "base" && offsets === 0 && component === null && result === "f32";
    if (!isPlain || compares || hasSampler) return null;
    const handle = this.#chunk.value(operands[0]!);
    if (handle.kind !== "uniform" || handle.ty !== "i64") return null;
    const [x, y] = [2, 3].map((n) => {
      const value = fitted(this.#chunk.value(operands[n]!), "b32", this.#chunk.quads);
      return vectorOf(value, this.#chunk.quads).quads.map(([quad]) => quad!);
    });
    return (byHost) => this.#write(handle.scalar, [x!, y!], fetch.integers, dst, byHost);
  }

  #write(
    handle: Wasm,
    [x, y]: readonly [readonly Wasm[], readonly Wasm[]],
    integers: boolean,
    dst: readonly Destination[],
    byHost: () => void,
  ): void {
    const { writer: w } = this.#chunk;
    importHost(this.#at.unit.module, "image");
    const channels = w.local("i32");
    w.get(this.#at.context);
    w.value(wasm.op("i32.wrap_i64", wasm.op("i64.shr_u", handle, wasm.i64(32n))));
    w.value(wasm.op("i32.wrap_i64", handle));
    callHost(w, "image");
    w.set(channels);
    const fetch = (count: 1 | 4): void => {
      const name = this.#at.unit.imageHelpers.fetch(count, integers);
      x.forEach((quad, q) => {
        w.value(wasm.op("i32.add", wasm.local("i32", this.#at.context), wasm.i32(this.#wordsAt())));
        w.value(quad);
        w.value(y[q]!);
        w.call(name);
        this.#keep(count, q, dst);
      });
    };
    w.get(channels);
    w.if(() => {
      w.value(wasm.op("i32.eq", wasm.local("i32", channels), wasm.i32(1)));
      w.if(
        () => fetch(1),
        () => fetch(4),
      );
    }, byHost);
    w.release(channels);
  }

  #wordsAt(): number {
    return this.#at.layout.fragments + imageWordsAt(this.#chunk.lanes);
  }

  /** Stores the results for four lanes, which are on the stack, where the launcher would leave them. */
  #keep(count: 1 | 4, quad: number, dst: readonly Destination[]): void {
    const { writer: w, quads } = this.#chunk;
    const locals = Array.from({ length: count }, () => w.local("v128"));
    for (const local of [...locals].reverse()) w.set(local);
    let place = 0;
    dst.forEach((to, n) => {
      if (to === null) return;
      const local = n < 4 ? locals[n] : undefined;
      const value = local === undefined ? wasm.i32x4(n < 4 ? absent[n]! : 1) : wasm.local("v128", local);
      w.get(this.#at.context);
      w.value(value);
      w.memory("v128.store", 16, this.#at.layout.fragments + 16 * (place * quads + quad));
      place++;
    });
    for (const local of locals) w.release(local);
  }
}
