import { hostModule } from "../../wasm/index.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { KernelStore } from "../abi/kernel-store.ts";
import { decodeKernel, encodeKernel } from "./kernel-encoding.ts";

/** A compiled kernel, and its module, which devices may share. */
export interface CachedKernel {
  readonly kernel: CompiledKernel;
  readonly module: WebAssembly.Module;
}

/** Bytes of modules that are kept in memory. What a host makes of them is larger. */
const maxBytes = 2 ** 24;

/** The kernels that a process has used last. */
export class RecentKernels {
  readonly #most: number;
  /** In the order in which they were used. */
  readonly #kernels = new Map<string, CachedKernel>();
  #bytes = 0;

  constructor(most = maxBytes) {
    this.#most = most;
  }

  get(key: string): CachedKernel | null {
    const found = this.#kernels.get(key);
    if (found === undefined) return null;
    this.#kernels.delete(key);
    this.#kernels.set(key, found);
    return found;
  }

  /** One that is larger than all that may be kept is not. */
  add(key: string, added: CachedKernel): void {
    const size = added.kernel.bytes.length;
    if (size > this.#most || this.#kernels.has(key)) return;
    this.#kernels.set(key, added);
    this.#bytes += size;
    for (const [oldest, { kernel }] of this.#kernels) {
      if (this.#bytes <= this.#most) break;
      this.#kernels.delete(oldest);
      this.#bytes -= kernel.bytes.length;
    }
  }
}

const ofProcess = new RecentKernels();

/**
 * The compiled kernels of a program: out of this process's memory, or a store, or compiled. Keys begin with what tells the program
 * from all others.
 */
export class KernelCache {
  readonly #program: string;
  readonly #store: KernelStore | null;
  readonly #recent: RecentKernels;

  /** `recent`: the kernels in memory, usually those of all programs of the process. */
  constructor(program: string, store: KernelStore | null, recent = ofProcess) {
    this.#program = program;
    this.#store = store;
    this.#recent = recent;
  }

  /** `compile` may throw, which is not remembered. */
  find(kernel: string, compile: () => CompiledKernel): CachedKernel {
    const key = `${this.#program} ${kernel}`;
    const known = this.#recent.get(key) ?? this.#stored(key);
    const found = known ?? withModule(compile());
    this.#recent.add(key, found);
    if (known === null) this.#store?.write(key, encodeKernel(found.kernel));
    return found;
  }

  #stored(key: string): CachedKernel | null {
    const entry = this.#store?.read(key) ?? null;
    if (entry === null) return null;
    try {
      return withModule(decodeKernel(entry));
    } catch {
      this.#store?.remove(key);
      return null;
    }
  }
}

export const withModule = (kernel: CompiledKernel): CachedKernel => ({
  kernel,
  module: hostModule(kernel.bytes, kernel.largestFunction),
});
