import type { Command } from "./command.ts";

export type Commands = Readonly<Record<string, () => Promise<Command>>>;

/** Each is loaded when it is called: starting takes as long as one command needs. */
export const commands: Commands = {
  check: async () => (await import("./check.ts")).check,
  run: async () => (await import("./run.ts")).run,
  debug: async () => (await import("./debug.ts")).debug,
  dap: async () => (await import("./dap.ts")).dap,
  profile: async () => (await import("./profile.ts")).profile,
  fmt: async () => (await import("./fmt.ts")).fmt,
  link: async () => (await import("./link.ts")).link,
  asm: async () => (await import("./asm.ts")).asm,
  disasm: async () => (await import("./disasm.ts")).disasm,
  build: async () => (await import("./build.ts")).build,
  explain: async () => (await import("./explain.ts")).explain,
  isa: async () => (await import("./isa.ts")).isa,
  bench: async () => (await import("./bench.ts")).bench,
};
