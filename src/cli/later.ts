import { type Command, exitStatus } from "./command.ts";
import { printJson } from "./terminal.ts";

const later = (name: string, summary: string, usage: string, what: string): Command => ({
  name,
  summary: `${summary} (not there yet)`,
  usage: [usage],
  options: [{ name: "output", short: "o", value: "FILE", help: "where the result goes" }],
  run(options, terminal) {
    const message = `${name}: ${what} in a later version`;
    if (options.has("json")) printJson({ ok: false, skipped: message }, terminal);
    terminal.err(`lanewise: ${message}`);
    return exitStatus.usage;
  },
});

/** Commands that the documentation names and this version does not have. */
export const laterCommands: readonly Command[] = [
  later("asm", "vISA text to CISA binary", "asm IN.visaasm -o OUT.isa", "Intel vISA comes"),
  later("disasm", "CISA binary to vISA text", "disasm IN.isa", "Intel vISA comes"),
  later("bench", "the benchmark table", "bench [NAME…]", "benchmarks come"),
];
