import { existsSync } from "node:fs";
import { UsageError } from "../../runtime/data/errors.ts";
import type { Command } from "../options/command.ts";

/**
 * The program that measures lies beside the bundled command line. It is in the repository's `bench/suite`, and not in
 * the package.
 */
const suite = new URL("./bench-suite.js", import.meta.url);

/** The `bench` command where the benchmarks are; in the package, one that says where they are. */
export async function loadBench(): Promise<Command> {
  if (existsSync(suite)) return ((await import(suite.href)) as { readonly bench: Command }).bench;
  return {
    name: "bench",
    summary: "measure kernels, and the same in C and OpenCL",
    usage: ["bench [NAME…]"],
    options: [],
    common: [],
    run: () => {
      throw new UsageError("bench: the benchmarks are in the repository, not in the package");
    },
  };
}
