import { type Command, exitStatus } from "./command.ts";
import { printJson } from "./terminal.ts";

/** The documentation names it, and this version does not have it. */
export const bench: Command = {
  name: "bench",
  summary: "the benchmark table (not there yet)",
  usage: ["bench [NAME…]"],
  options: [],
  run(options, terminal) {
    const message = "bench: benchmarks come in a later version";
    if (options.has("json")) printJson({ ok: false, skipped: message }, terminal);
    terminal.err(`lanewise: ${message}`);
    return exitStatus.usage;
  },
};
