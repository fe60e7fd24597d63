import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import { CachedKernel, KernelCache, type NotedShape, RecentKernels } from "./kernel-cache.ts";
import type { PreparedKernel } from "./program-kernels.ts";
import type { KnownBlocks } from "./regrouping.ts";

/** A module whose function `run(context, from, to)` returns `to`: all blocks have run. */
const idleModule = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // magic number and version
  ...[0x01, 0x08, 0x01, 0x60, 0x03, 0x7f, 0x7f, 0x7f, 0x01, 0x7f], // types: (i32, i32, i32) -> i32
  ...[0x03, 0x02, 0x01, 0x00], // functions: one of that type
  ...[0x07, 0x07, 0x01, 0x03, 0x72, 0x75, 0x6e, 0x00, 0x00], // exports: "run"
  ...[0x0a, 0x06, 0x01, 0x04, 0x00, 0x20, 0x02, 0x0b], // code: local.get 2
);

/** A cache for one kernel, and launches like one of it: what it has is launched like that kernel, and does nothing. */
export class IdleKernels extends KernelCache {
  readonly #idle: CompiledKernel;
  readonly #threads: KnownBlocks | null;

  constructor({ loaded, threads }: PreparedKernel) {
    super("", null, new RecentKernels());
    this.#threads = threads;
    this.#idle = { ...loaded.kernel, bytes: idleModule, tiles: new Uint8Array() };
  }

  override shapeOf(): NotedShape {
    return { ...this.#idle.shape, parameters: [], isEarly: false };
  }

  override known<T>(_: string, load: (found: CachedKernel) => T): T {
    return load(new CachedKernel(this.#idle));
  }

  /** All that launches ask for when the machine's features are known. */
  override noted<T>(): T {
    return this.#threads as T;
  }
}
