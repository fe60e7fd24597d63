import { isContainer } from "../../container/sniff.ts";
import type { SourceFile } from "../../runtime/data/source-file.ts";
import { compiledPath, compileCuda, isCudaSource } from "../options/cuda-source.ts";
import { isOpenCl } from "../options/is-opencl.ts";
import type { Options } from "../options/options.ts";
import { requirePrograms } from "../options/other-files.ts";
import { readBytes, shownPath } from "../terminal/files.ts";

/** The files of a program: assembly as it is, and a source of CUDA compiled to PTX. */
export function programFile(path: string, options: Options): SourceFile {
  return isCudaSource(path)
    ? { path: compiledPath(path), bytes: compileCuda(path, options.target) }
    : { path: shownPath(path), bytes: readBytes(path) };
}

/**
 * The texts that a path stands for: itself, what was compiled from it, or what the file holds. `every` asks for the PTX
 * of all modules for all architectures; otherwise it is that of one program, chosen as for a run.
 */
async function programTexts(path: string, options: Options, every = false): Promise<readonly SourceFile[]> {
  requirePrograms([path], options);
  const module = options.value("module");
  if (isOpenCl(path)) {
    const { openOpenCl } = await import("../options/opencl-files.ts");
    return openOpenCl(path, module).texts;
  }
  const file = programFile(path, options);
  if (file.bytes === undefined || !isContainer(file.bytes)) return [file];
  const { everyPtx, unpackPtx } = await import("../../runtime/device/unpack.ts");
  const kernel = options.value("kernel");
  const sources = every
    ? everyPtx(file.path, file.bytes, module)
    : unpackPtx([file], {
        target: options.target ?? undefined,
        kernels: kernel === null ? [] : [kernel],
        ...(module !== null && { module }),
      });
  return sources.map(({ path: name, text }) => ({ path: name, text }));
}

/** The texts that several paths stand for. */
export async function allProgramTexts(options: Options, every = false): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = [];
  for (const path of options.positionals) files.push(...(await programTexts(path, options, every)));
  return files;
}
