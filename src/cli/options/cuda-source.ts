import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { temporaryFolder } from "../../node/temporary-folder.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { CompilationError, readBytes } from "../terminal/files.ts";

export const isCudaSource = (path: string): boolean => /\.cuh?$/i.test(path);

/** The path under which messages show the PTX of a source: "reduce.cu:reduce.ptx". */
export const compiledPath = (path: string): string => `${path}:${basename(path).replace(/\.cuh?$/i, "")}.ptx`;

interface Compiler {
  readonly command: string;
  readonly arguments: (source: string, output: string, target: string | null) => readonly string[];
}

const nvcc = (command: string): Compiler => ({
  command,
  arguments: (source, output, target) => [
    ...["-ptx", "-lineinfo"],
    ...(target === null ? [] : [`-arch=${target}`]),
    ...["-o", output, source],
  ],
});

/** clang makes PTX too if it finds the headers of a CUDA toolkit. */
const clang = (command: string): Compiler => ({
  command,
  arguments: (source, output, target) => [
    ...["-x", "cuda", "--cuda-device-only", "-S", "-O2", "-gline-tables-only"],
    `--cuda-gpu-arch=${target ?? "sm_80"}`,
    ...["-o", output, source],
  ],
});

/** The compilers, in the order in which they are tried. */
function compilers(): readonly Compiler[] {
  const { CUDA_PATH, CUDA_HOME } = process.env;
  const named = [CUDA_PATH, CUDA_HOME].flatMap((folder) => (folder ? [join(folder, "bin", "nvcc")] : []));
  // Where the toolkit is if nobody says.
  const usual = CUDA_PATH || CUDA_HOME ? [] : ["/usr/local/cuda/bin/nvcc"].filter(existsSync);
  return [...[...named.filter(existsSync), "nvcc", ...usual].map(nvcc), clang("clang++")];
}

/** Compiled sources, so that a program that runs several times is compiled once. */
const compiled = new Map<string, Uint8Array>();

/**
 * Compiles a source of CUDA to PTX, with the compiler's own messages on stderr.
 *
 * @throws CompilationError if it has errors
 * @throws UsageError if there is no compiler, or no folder for what it writes
 */
export function compileCuda(path: string, target: string | null): Uint8Array {
  const key = `${path}\0${target ?? ""}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  readBytes(path);
  const folder = temporaryFolder("lanewise-cu-");
  try {
    const output = join(folder, "module.ptx");
    for (const compiler of compilers()) {
      const words = compiler.arguments(path, output, target);
      const { error, status } = spawnSync(compiler.command, words, { stdio: ["ignore", 2, 2] });
      if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") continue;
      if (error !== undefined) throw new UsageError(`${compiler.command} cannot be run: ${error.message}`);
      if (status !== 0) throw new CompilationError(`${path} does not compile (${basename(compiler.command)})`);
      const bytes = new Uint8Array(readFileSync(output));
      compiled.set(key, bytes);
      return bytes;
    }
    const command = ["nvcc", ...nvcc("nvcc").arguments(path, `${basename(path).replace(/\.cuh?$/i, "")}.ptx`, target)];
    throw new UsageError(
      `${path} is CUDA C++, and there is no compiler for it here (nvcc, in PATH or CUDA_PATH, or clang++); where there is one, run: ${command.join(" ")}`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
