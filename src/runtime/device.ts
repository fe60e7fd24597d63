import { DeviceMemory } from "../machine/memory.ts";
import { SourceText } from "../source/index.ts";
import { Buffer } from "./buffer.ts";
import { compile } from "./compile.ts";
import { type ElementType, elementInfo, isElementType, typeOfArray } from "./element.ts";
import { fitting, LoadError, UsageError } from "./errors.ts";
import { type Isa, isaOfName } from "./isa.ts";
import { type LaunchDefaults, Module } from "./module.ts";
import { type SourceFile, textOf } from "./source-file.ts";
import { compileVisa, type VisaOptions } from "./visa/compile.ts";

/** How a program is understood. All but `isa` and `target` are for vISA. */
export interface LoadOptions extends VisaOptions {
  /** Default: what the first file's name says, and PTX for a text without a name. */
  readonly isa?: Isa;
  /** Check for this target of PTX ("sm_90") instead of the module's own, or for this platform of vISA ("skl"). */
  readonly target?: string | undefined;
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
   * Parses, checks and loads PTX, or vISA as text or as CISA files. Several files are linked into one program: of vISA, the
   * kernel first and then its functions.
   *
   *     const module = device.load(files, { isa: "visa", zeinfo: parse(yaml) });
   *     module.kernel("saxpy").launch({ global: 128, local: 32, args: [y, x, 2.5, 100] });
   *
   * @throws LoadError when the text has errors
   * @throws UsageError when the device has no room for its variables, or what `options` say does not fit the program
   */
  load(source: string | SourceFile | readonly SourceFile[], options: LoadOptions = {}): Module {
    const files: readonly SourceFile[] =
      typeof source === "string"
        ? [{ path: `input.${options.isa === "visa" ? "visaasm" : "ptx"}`, text: source }]
        : "path" in source
          ? [source]
          : source;
    const [first] = files;
    if (first === undefined) throw new UsageError("there is no source to load");
    if ((options.isa ?? isaOfName(first.path)) === "visa") {
      const { program, diagnostics } = compileVisa(files, options);
      if (!program) throw new LoadError(diagnostics);
      return fitting(() => new Module(this, program.ir, diagnostics, program));
    }
    const sources = files.map((file) => new SourceText(file.path, textOf(file)));
    const { module, diagnostics } = compile(sources, { target: options.target });
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
