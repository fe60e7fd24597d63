import type { KernelStore } from "../../jit/abi/kernel-store.ts";
import { KernelCache } from "../../jit/run/kernel-cache.ts";
import { canShare } from "../../jit/threads/host-workers.ts";
import { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Report } from "../../machine/reports/report.ts";
import { leaksOf } from "../../sanitizers/memory/leaks.ts";
import { SourceText } from "../../source/index.ts";
import { Buffer } from "../data/buffer.ts";
import { elementInfo, type ElementType, isElementType, typeOfArray } from "../data/element.ts";
import { fitting, LoadError, UsageError } from "../data/errors.ts";
import { type Isa, isaOfName } from "../data/isa.ts";
import { type SourceFile, textOf } from "../data/source-file.ts";
import type { VisaOptions } from "../visa/compile.ts";
import { compile } from "./compile.ts";
import { type LaunchDefaults, Module } from "./module.ts";
import { programKey } from "./program-key.ts";
import { Stream } from "./stream.ts";

/** How a program is understood. All but `isa` and `target` are for vISA. */
export interface LoadOptions extends VisaOptions {
  /** Default: what the first file's name says, and PTX for a text without a name. */
  readonly isa?: Isa;
  /** Check for this target of PTX ("sm_90") instead of the module's own, or for this platform of vISA ("skl"). */
  readonly target?: string | undefined;
}

/** What launches on a device do when they say nothing themselves, and what the device keeps. */
export interface DeviceOptions extends LaunchDefaults {
  /**
   * Where compiled kernels are kept for other processes; `lanewise/node` has a folder for them. Null: nowhere but in the memory of this
   * process. False: nothing that was compiled for another module is used. Default: null.
   */
  readonly kernelStore?: KernelStore | null | false;
}

/** How many zeros, or which values. */
type Contents = number | ArrayLike<number> | ArrayLike<bigint>;

/** The files of a program, however it was given; a text alone is a file without a name. */
export function filesOf(
  source: string | SourceFile | readonly SourceFile[],
  isa: Isa | undefined,
): readonly SourceFile[] {
  const files =
    typeof source === "string"
      ? [{ path: `input.${isa === "visa" ? "visaasm" : "ptx"}`, text: source }]
      : "path" in source
        ? [source]
        : source;
  if (files.length === 0) throw new UsageError("there is no source to load");
  return files;
}

/** What the files of a program hold. */
export const isaOfFiles = ([first]: readonly SourceFile[], { isa }: LoadOptions): Isa =>
  isa ?? isaOfName(first?.path ?? "");

/** A `Device` that can load PTX alone: what needs no vISA starts faster with it. */
export class DeviceCore {
  readonly memory = new DeviceMemory();
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

  /** See `Device.load`. */
  load(source: string | SourceFile | readonly SourceFile[], options: LoadOptions = {}): Module {
    const files = filesOf(source, options.isa);
    if (isaOfFiles(files, options) !== "ptx") throw new UsageError("this device loads PTX alone");
    const sources = files.map((file) => new SourceText(file.path, textOf(file)));
    const { module, diagnostics } = compile(sources, { target: options.target });
    if (!module) throw new LoadError(diagnostics);
    return fitting(() => new Module(this, module, diagnostics, () => this.kernelCache(files, options)));
  }

  /** Where kernels of a program may have been compiled before. */
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
