import type { KernelStore } from "../../jit/abi/kernel-store.ts";
import { KernelCache } from "../../jit/run/kernel-cache.ts";
import { canShare } from "../../jit/threads/host-workers.ts";
import { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Report } from "../../machine/reports/report.ts";
import { leaksOf } from "../../sanitizers/memory/leaks.ts";
import { Buffer } from "../data/buffer.ts";
import { elementInfo, type ElementType, isElementType, typeOfArray } from "../data/element.ts";
import { UsageError } from "../data/errors.ts";
import type { SourceFile } from "../data/source-file.ts";
import type { LaunchDefaults } from "../launch/launch-options.ts";
import { Stream } from "../launch/stream.ts";
import type { LoadOptions } from "./load-options.ts";
import { programKey } from "./program-key.ts";

/** What launches on a device do when they say nothing themselves, and what the device keeps. */
export interface DeviceOptions extends LaunchDefaults {
  /**
   * Where compiled kernels are kept for other processes; `lanewise/node` has a folder for them. Null: nowhere but in the memory of this
   * process. False: nothing that was compiled for another module is used. Default: null.
   */
  readonly kernelStore?: KernelStore | null | false;
}

/** The contents of a new buffer: a number of zeros, or values. */
export type Contents = number | ArrayLike<number> | ArrayLike<bigint>;

/** What every simulated GPU has, whatever it can load: memory, buffers, streams, and the compiled kernels that are kept. */
export class DeviceCore {
  /** The global memory: the buffers, the variables of loaded modules, and what device code allocates. */
  readonly memory = new DeviceMemory();
  /** The options that launches have unless they say otherwise. */
  readonly defaults: LaunchDefaults;
  readonly #kernelStore: KernelStore | false | null;
  /** The one of launches that name no other. */
  readonly defaultStream = new Stream();

  constructor({ kernelStore = null, ...defaults }: DeviceOptions = {}) {
    this.defaults = defaults;
    this.#kernelStore = kernelStore;
    // It would be moved with the first launch, and may be large by then.
    if (defaults.engine !== "interpreter" && (defaults.hostThreads ?? 1) > 1 && canShare()) this.memory.share();
  }

  /** Where kernels of a program may have been compiled before. @internal */
  protected kernelCache(files: readonly SourceFile[], options: LoadOptions): KernelCache | null {
    return this.#kernelStore === false ? null : new KernelCache(programKey(files, options), this.#kernelStore);
  }

  /** A stream of its own, whose launches may overlap with those of others. */
  stream(): Stream {
    return new Stream();
  }

  /** Waits until no launch is in flight, in any stream. */
  idle(): Promise<void> {
    return this.memory.pending.ended();
  }

  /**
   * What device code has taken with `malloc` and not freed until now, as warnings at the calls: leaks, if nothing will be launched any more.
   * What a launch without the sanitizer `memory` has taken counts too.
   */
  leaks(): Report[] {
    return leaksOf(this.memory);
  }

  /**
   * A new buffer: with the values of a typed array, or of a type and a number of zeros or given values.
   *
   *     device.buffer(new Int32Array([1, 2]))
   *     device.buffer("f16", 1000)
   *     device.buffer("u64", [1n, 2n])
   *
   * `name` is what reports call it.
   */
  buffer(values: ArrayBufferView): Buffer;
  buffer<T extends ElementType>(type: T, values: Contents, name?: string): Buffer<T>;
  buffer(first: ElementType | ArrayBufferView, values?: Contents, name?: string): Buffer {
    if (typeof first !== "string") {
      const type = typeOfArray(first);
      if (type === null) throw new UsageError("a buffer is made of a typed array, or of a type and values");
      const bytes = new Uint8Array(first.buffer, first.byteOffset, first.byteLength);
      return new Buffer(this.memory, type, bytes.length / elementInfo[type].size).writeBytes(bytes);
    }
    if (!isElementType(first)) throw new UsageError(`there is no element type "${String(first)}"`);
    if (typeof values === "number") return new Buffer(this.memory, first, values, name);
    if (values === undefined) throw new UsageError("a buffer of a type needs a length or values");
    return new Buffer(this.memory, first, values.length, name).write(values);
  }
}
