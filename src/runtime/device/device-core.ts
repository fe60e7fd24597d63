import type { KernelStore } from "../../jit/abi/kernel-store.ts";
import type { NativeCompiler } from "../../jit/abi/native-code.ts";
import { KernelCache } from "../../jit/run/kernel-cache.ts";
import { canShare } from "../../jit/threads/host-workers.ts";
import { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Underlay } from "../../machine/memory/underlay.ts";
import type { Report } from "../../machine/reports/report.ts";
import { leaksOf } from "../../sanitizers/memory/leaks.ts";
import type { Struct } from "../data/argument.ts";
import { Buffer } from "../data/buffer.ts";
import { elementInfo, type ElementType, isElementType, typeOfArray } from "../data/element.ts";
import { UsageError } from "../data/errors.ts";
import { Image, ImageHandle, type ImageOptions, samplerOf, type SamplerOptions } from "../data/image.ts";
import type { SourceFile } from "../data/source-file.ts";
import { tensorMapArgument, type TensorMapOptions } from "../data/tensor-map.ts";
import { requireDeviceOptions } from "../launch/known-options.ts";
import type { LaunchDefaults } from "../launch/launch-options.ts";
import { Stream } from "../launch/stream.ts";
import type { LoadOptions } from "./load-options.ts";
import { programKey } from "./program-key.ts";

/** The options of a device: the defaults of its launches, and where its compiled kernels are kept. */
export interface DeviceOptions extends LaunchDefaults {
  /**
   * Where compiled kernels are kept for other processes; `lanewise/node` provides a folder for them. Null: only in the
   * memory of this process. False: kernels compiled for another module are never reused. Default: null.
   */
  readonly kernelStore?: KernelStore | null | false;
  /**
   * Makes machine code of compiled kernels, for the engines "native" and "tiered"; `lanewise/node` provides one that
   * uses the machine's C compiler. Default: null.
   */
  readonly nativeCompiler?: NativeCompiler | null;
  /** Puts memory that another process sees too under that of the device. Default: null. @internal */
  readonly underlay?: Underlay | null;
}

/** The contents of a new buffer: a number of zeros, or given values. */
export type Contents = number | ArrayLike<number> | ArrayLike<bigint>;

/**
 * The part of a simulated GPU that does not depend on what it can load: memory, buffers, streams and cached kernels.
 */
export class DeviceCore {
  /** The global memory: the buffers, the variables of loaded modules, and what device code allocates. */
  readonly memory: DeviceMemory;
  /** The options that launches have unless they say otherwise. */
  readonly defaults: LaunchDefaults;
  /** What makes machine code of compiled kernels, or null. @internal */
  readonly nativeCompiler: NativeCompiler | null;
  readonly #kernelStore: KernelStore | false | null;
  /** The stream of asynchronous launches that name no other. */
  readonly defaultStream = new Stream();

  /** @throws UsageError if there is no such option */
  constructor(options: DeviceOptions = {}) {
    requireDeviceOptions(options);
    const { kernelStore = null, nativeCompiler = null, underlay = null, ...defaults } = options;
    const pages = (kernelStore === false ? null : kernelStore?.hostPages) ?? nativeCompiler?.hostPages ?? null;
    // An underlay has pages of its own.
    this.memory = new DeviceMemory(underlay, underlay === null ? pages : null);
    this.defaults = nativeCompiler === null ? defaults : { engine: "tiered", ...defaults };
    this.nativeCompiler = nativeCompiler;
    this.#kernelStore = kernelStore;
    // Sharing memory moves it, so it happens now, while there is little of it.
    if (defaults.engine !== "interpreter" && (defaults.hostThreads ?? 1) > 1 && canShare()) this.memory.share();
  }

  /** Whether compiled kernels are kept for other processes. @internal */
  get keepsKernels(): boolean {
    return this.#kernelStore !== null && this.#kernelStore !== false;
  }

  /** The cache of a program's compiled kernels; null if kernels are not to be reused. @internal */
  protected kernelCache(files: readonly SourceFile[], options: LoadOptions): KernelCache | null {
    const store = this.#kernelStore;
    return store === false ? null : new KernelCache(programKey(files, options), store);
  }

  /** Makes a new stream, whose launches may overlap with those of other streams. */
  stream(): Stream {
    return new Stream();
  }

  /** Waits until no launch is in flight in any stream. */
  idle(): Promise<void> {
    return this.memory.pending.ended();
  }

  /**
   * Reports, as warnings, the calls of device-side `malloc` whose memory has not been freed so far: leaks, if nothing
   * else is going to be launched. Launches without the sanitizer `memory` are included.
   */
  leaks(): Report[] {
    return leaksOf(this.memory);
  }

  /**
   * Makes a buffer from the values of a typed array, or from an element type and either a number of zeros or the
   * values.
   *
   *     device.buffer(new Int32Array([1, 2]))
   *     device.buffer("f16", 1000)
   *     device.buffer("u64", [1n, 2n])
   *
   * `name` is what reports call the buffer.
   *
   * @throws UsageError if the values do not determine a buffer, or the device has no room for it
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

  /**
   * Makes an image: an array of texels of one to three dimensions, of which textures and surfaces are made.
   *
   *     const image = device.image({ type: "u8", channels: 4, width: 640, height: 480 });
   *     const texture = image.texture({ filter: "linear", normalizedFloat: true });
   *     kernel.launch({ grid: [40, 30], block: [16, 16], args: [texture, out] });
   *
   * @throws UsageError if there is no such image, or the device has no room for it
   */
  image(options: ImageOptions): Image {
    return new Image(this.memory, options);
  }

  /** Makes a sampler, for programs that give textures and samplers separately (`texmode_independent`). */
  sampler(options: SamplerOptions = {}): ImageHandle {
    return new ImageHandle(this.memory, { kind: "sampler", sampler: samplerOf(options) });
  }

  /**
   * Makes an argument that is a tensor map (CUtensorMap), for a kernel's parameter of 128 bytes.
   *
   *     device.tensorMap({
   *       dataType: "f16", globalAddress: a, globalDim: [128, 64], globalStrides: [256],
   *       boxDim: [64, 32], swizzle: "128B",
   *     })
   *
   * @throws UsageError if the driver would refuse it
   */
  tensorMap(options: TensorMapOptions): Struct {
    return tensorMapArgument(options);
  }
}
