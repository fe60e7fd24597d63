import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BuiltCli } from "../cli/built-cli.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const script: string = new URL("../../scripts/build-native.mjs", import.meta.url).href;

/** The script that builds the C libraries of `lanewise exec`, and why it cannot here (null if it can). */
export const { buildNative, whyNotNative } = (await import(script)) as {
  buildNative: (root: string, into: string) => string | null;
  whyNotNative: () => string | null;
};

/** Why no CUDA program can be compiled and run here; null if it can. */
export const whyNoPrograms = (): string | null =>
  whyNotNative() ?? (spawnSync("nvcc", ["--version"]).status === 0 ? null : "there is no nvcc");

/** The command line with the C libraries of `lanewise exec`. */
export async function builtExec(): Promise<BuiltCli> {
  const cli = await BuiltCli.build();
  buildNative(root, join(cli.folder, "dist/native"));
  return cli;
}

/** The same, and a program of `programs/`, which loads CUDA's runtime by itself, where it runs. */
export async function builtWith(name: string): Promise<BuiltCli> {
  const cli = await builtExec();
  const source = fileURLToPath(new URL(`programs/${name}.c`, import.meta.url));
  execFileSync("cc", ["-w", "-o", join(cli.work, name), source, "-ldl"]);
  return cli;
}
