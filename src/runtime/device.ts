import { DeviceMemory } from "../machine/memory.ts";
import { SourceText } from "../source/index.ts";
import { Buffer } from "./buffer.ts";
import { compile } from "./compile.ts";
import { type ElementType, elementInfo, isElementType, typeOfArray } from "./element.ts";
import { fitting, LoadError, UsageError } from "./errors.ts";
import { type LaunchDefaults, Module } from "./module.ts";

/** One file of a program. */
export interface SourceFile {
  /** As it is to appear in messages. */
  readonly path: string;
  readonly text: string;
}

/** How many zeros, or which values. */
type Contents = number | ArrayLike<number> | ArrayLike<bigint>;

/**
 * A simulated GPU: memory, and the modules and buffers in it.
 *
 *     const device = new Device();
 *     const module = device.load(ptx);
 *     const x = device.buffer(new Float32Array([1, 2, 3, 4]));
 *     const y = device.buffer("f32", 4);
 *     const result = module.kernel("saxpy").launch({ grid: 1, block: 4, args: [4, 2.5, x, y] });
 *     if (!result.ok) throw new Error(result.reports[0].message);
 *     y.read(); // Float32Array [2.5, 5, 7.5, 10]
 *
 * What launches do with limits, seeds and sanitizers when they say nothing themselves, `defaults` tells.
 */
export class Device {
  readonly memory = new DeviceMemory();
  readonly defaults: LaunchDefaults;

  constructor(defaults: LaunchDefaults = {}) {
    this.defaults = defaults;
  }

  /**
   * Parses, checks and loads PTX. Several files are linked into one program.
   *
   * @throws LoadError when the text has errors
   * @throws UsageError when the device has no room for its variables
   */
  load(source: string | SourceFile | readonly SourceFile[], options: { readonly target?: string } = {}): Module {
    const files: readonly SourceFile[] =
      typeof source === "string" ? [{ path: "input.ptx", text: source }] : "text" in source ? [source] : source;
    if (files.length === 0) throw new UsageError("there is no source to load");
    const { module, diagnostics } = compile(
      files.map(({ path, text }) => new SourceText(path, text)),
      options,
    );
    if (!module) throw new LoadError(diagnostics);
    return fitting(() => new Module(this, module, diagnostics));
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
