import { existsSync } from "node:fs";
import { UsageError } from "../../runtime/data/errors.ts";
import type { Command } from "../options/command.ts";

/** The benchmark program, which is next to the bundled command line in the repository but not in the package. */
const suite = "./bench-suite.cjs";

/** Loads a file of the bundled command line, which is CommonJS. */
declare const require: (name: string) => unknown;

/** Loads the `bench` command; in the package, it is one that says where the benchmarks are. */
export async function loadBench(): Promise<Command> {
  if (existsSync(new URL(suite, import.meta.url))) return (require(suite) as { readonly bench: Command }).bench;
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
