import { spawnSync } from "node:child_process";

const script: string = new URL("../../scripts/build-native.mjs", import.meta.url).href;

/** The script that builds the C libraries of `lanewise exec`, and why it cannot here (null if it can). */
export const { buildNative, whyNotNative } = (await import(script)) as {
  buildNative: (root: string, into: string) => string | null;
  whyNotNative: () => string | null;
};

/** Why no CUDA program can be compiled and run here; null if it can. */
export const whyNoPrograms = (): string | null =>
  whyNotNative() ?? (spawnSync("nvcc", ["--version"]).status === 0 ? null : "there is no nvcc");
