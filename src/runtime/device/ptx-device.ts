import { fitting, LoadError, UsageError } from "../data/errors.ts";
import { type Isa, isaOfName } from "../data/isa.ts";
import type { SourceFile } from "../data/source-file.ts";
import { compile } from "./compile.ts";
import { DeviceCore } from "./device-core.ts";
import type { LoadOptions } from "./load-options.ts";
import { Module } from "./module.ts";
import { unpackPtx } from "./unpack.ts";

/** The files of a program, in whatever form it was given. Text alone becomes a file with a default name. */
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

/** The instruction set of a program's files. */
export const isaOfFiles = ([first]: readonly SourceFile[], { isa }: LoadOptions): Isa =>
  isa ?? isaOfName(first?.path ?? "");

/** A `Device` that loads only PTX. It starts faster, because it does not load the code for vISA. */
export class PtxDevice extends DeviceCore {
  /** Loads PTX. See `Device.load`. */
  load(source: string | SourceFile | readonly SourceFile[], options: LoadOptions = {}): Module {
    const files = filesOf(source, options.isa);
    if (isaOfFiles(files, options) !== "ptx") throw new UsageError("this device loads PTX alone");
    const sources = unpackPtx(files, options);
    const { module, diagnostics } = compile(sources, options);
    if (!module) throw new LoadError(diagnostics);
    return fitting(() => new Module(this, module, diagnostics, () => this.kernelCache(sources, options)));
  }
}
