import { UsageError } from "../../runtime/data/errors.ts";
import { shownPath } from "../terminal/files.ts";
import type { Options } from "./options.ts";

/** Files that people have beside GPU assembly: what they are, and how one comes from them to what is read. */
const otherFiles: readonly { readonly ending: RegExp; readonly what: string; readonly instead: string }[] = [
  {
    ending: /\.cl$/i,
    what: "OpenCL C",
    instead:
      '`ocloc compile -file FILE.cl -device skl --format zebin -internal_options "-ze-emit-zebin-visa-sections"` writes a binary that can be run',
  },
  {
    ending: /\.ya?ml$/i,
    what: "no program",
    instead: "if it is the .ze_info of a vISA kernel, name it with --zeinfo",
  },
  { ending: /\.(?:ll|bc)$/i, what: "LLVM IR", instead: "`llc -march=nvptx64 -mcpu=sm_80` makes PTX of it" },
  { ending: /\.spv$/i, what: "SPIR-V", instead: "ocloc compiles it with -spirv_input as it does OpenCL C" },
  { ending: /\.sass$/i, what: "SASS, the machine's own code", instead: "it is made from PTX, which can be run" },
  { ending: /\.hip$/i, what: "HIP C++ for AMD's machines", instead: "it has no PTX" },
];

/**
 * Makes sure that files may hold a program: that they do not end as something else does.
 *
 * @throws UsageError if one does, unless `--isa` says what the files are
 */
export function requirePrograms(paths: readonly string[], options: Options): void {
  if (options.value("isa") !== null) return;
  for (const path of paths) {
    const found = otherFiles.find(({ ending }) => ending.test(path));
    if (found !== undefined) throw new UsageError(`${shownPath(path)} is ${found.what}; ${found.instead}`);
  }
}
