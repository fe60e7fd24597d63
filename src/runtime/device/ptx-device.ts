import { SourceText } from "../../source/index.ts";
import { fitting, LoadError, UsageError } from "../data/errors.ts";
import { type Isa, isaOfName } from "../data/isa.ts";
import { type SourceFile, textOf } from "../data/source-file.ts";
import { compile } from "./compile.ts";
import { DeviceCore } from "./device-core.ts";
import type { LoadOptions } from "./load-options.ts";
import { Module } from "./module.ts";

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

/** A `Device` that loads only PTX: a program that needs no vISA starts faster with it. */
export class PtxDevice extends DeviceCore {
  /** See `Device.load`. */
  load(source: string | SourceFile | readonly SourceFile[], options: LoadOptions = {}): Module {
    const files = filesOf(source, options.isa);
    if (isaOfFiles(files, options) !== "ptx") throw new UsageError("this device loads PTX alone");
    const sources = files.map((file) => new SourceText(file.path, textOf(file)));
    const { module, diagnostics } = compile(sources, { target: options.target });
    if (!module) throw new LoadError(diagnostics);
    return fitting(() => new Module(this, module, diagnostics, () => this.kernelCache(files, options)));
  }
}
