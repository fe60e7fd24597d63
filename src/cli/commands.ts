import type { Command } from "./options/command.ts";

export type Commands = Readonly<Record<string, () => Promise<Command>>>;

/** The commands, loaded on demand so that starting takes no longer than one command needs. */
export const commands: Commands = {
  check: async () => (await import("./commands/check.ts")).check,
  list: async () => (await import("./commands/list.ts")).list,
  run: async () => (await import("./commands/run.ts")).run,
  exec: async () => (await import("./commands/exec.ts")).exec,
  debug: async () => (await import("./commands/debug.ts")).debug,
  lsp: async () => (await import("./commands/lsp.ts")).lsp,
  dap: async () => (await import("./commands/dap.ts")).dap,
  profile: async () => (await import("./commands/profile.ts")).profile,
  fmt: async () => (await import("./commands/fmt.ts")).fmt,
  link: async () => (await import("./commands/link.ts")).link,
  asm: async () => (await import("./commands/asm.ts")).asm,
  disasm: async () => (await import("./commands/disasm.ts")).disasm,
  build: async () => (await import("./commands/build.ts")).build,
  explain: async () => (await import("./commands/explain.ts")).explain,
  isa: async () => (await import("./commands/isa.ts")).isa,
  schema: async () => (await import("./commands/schema.ts")).schema,
  bench: async () => (await import("./commands/bench.ts")).loadBench(),
};
