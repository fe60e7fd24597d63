import { fitting, LoadError } from "../data/errors.ts";
import type { SourceFile } from "../data/source-file.ts";
import { compileVisa } from "../visa/compile.ts";
import type { LoadOptions } from "./load-options.ts";
import { Module } from "./module.ts";
import { filesOf, isaOfFiles, PtxDevice } from "./ptx-device.ts";

export type { DeviceOptions } from "./device-core.ts";

/**
 * A simulated GPU: its memory, and the modules and buffers in it.
 *
 *     const device = new Device();
 *     const module = device.load(ptx);
 *     const x = device.buffer(new Float32Array([1, 2, 3, 4]));
 *     const y = device.buffer("f32", 4);
 *     const result = module.kernel("saxpy").launch({ grid: 1, block: 4, args: [4, 2.5, x, y] });
 *     if (!result.ok) throw new Error(result.reports[0].message);
 *     y.read(); // Float32Array [2.5, 5, 7.5, 10]
 *
 * The options of the constructor are defaults for all launches (engine, sanitizers, limits, ...), which can override
 * them.
 */
export class Device extends PtxDevice {
  /**
   * Parses, checks and loads a program: PTX, or vISA as text or as CISA files. Several files are linked; for vISA, give
   * the kernel first and then its functions.
   *
   *     const module = device.load(files, { isa: "visa", zeinfo: parse(yaml) });
   *     module.kernel("saxpy").launch({ global: 128, local: 32, args: [y, x, 2.5, 100] });
   *
   * @throws LoadError if the program has errors
   * @throws UsageError if the device has no room for its variables, or `options` do not fit the program
   */
  override load(source: string | SourceFile | readonly SourceFile[], options: LoadOptions = {}): Module {
    const files = filesOf(source, options.isa);
    if (isaOfFiles(files, options) === "ptx") return super.load(files, options);
    const { program, diagnostics } = compileVisa(files, options);
    if (!program) throw new LoadError(diagnostics);
    return fitting(() => new Module(this, program.ir, diagnostics, () => this.kernelCache(files, options), program));
  }
}
