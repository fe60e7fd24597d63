#!/usr/bin/env node
import * as nodeModule from "node:module";
import { join } from "node:path";
import { cacheFolder } from "../node/cache-folder.ts";
import { NumpyError, UsageError } from "../runtime/errors.ts";
import { nearest } from "../source/index.ts";
import { type Command, type ExitStatus, exitStatus } from "./command.ts";
import { commonOptions, describeOptions, parseOptions } from "./options.ts";
import { openTerminal } from "./terminal.ts";
import { version } from "./version.ts";
import { hang, mostColumns, wrap } from "./wrap.ts";

/** Each is loaded when it is called: starting takes as long as one command needs. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
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

const commandNamed = (name: string): (() => Promise<Command>) | undefined =>
  Object.hasOwn(commands, name) ? commands[name] : undefined;

/** From Node 22 on V8 keeps what it has compiled of these files, which takes longest of starting. */
function keepCompiledCode(): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  const folder = cacheFolder();
  if (folder !== null && !process.argv.includes("--no-cache")) enableCompileCache?.(join(folder, "node"));
}

async function overview(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map((load) => load()));
  const width = Math.max(...all.map((c) => c.name.length));
  const list = all.map((c) => `  ${c.name.padEnd(width)}  ${c.summary}`).join("\n");
  return `lanewise: reads, checks and runs GPU assembly on any machine

usage: lanewise COMMAND [OPTIONS] …

${list}

\`lanewise COMMAND --help\` says more.`;
}

function help(command: Command): string {
  const width = Math.min(process.stdout.columns ?? mostColumns, mostColumns);
  const heading = "usage: ";
  const usage = command.usage.map((line, i) => {
    const text = hang(`lanewise ${line}`, width, heading.length + 2);
    return (i === 0 ? heading : " ".repeat(heading.length)) + text;
  });
  const sections = [
    command.summary,
    usage.join("\n"),
    ...(command.options.length > 0 ? [`Options:\n${describeOptions(command.options, width)}`] : []),
    `Common options:\n${describeOptions(commonOptions, width)}`,
    ...(command.details === undefined ? [] : [wrap(command.details, width)]),
  ];
  return sections.join("\n\n");
}

async function main([name, ...words]: readonly string[]): Promise<ExitStatus> {
  if (name === undefined) {
    console.error(await overview());
    return exitStatus.usage;
  }
  if (name === "--help" || name === "-h" || name === "help") {
    const load = commandNamed(words[0] ?? "");
    console.log(load ? help(await load()) : await overview());
    return exitStatus.ok;
  }
  if (name === "--version" || name === "-V") {
    console.log(version());
    return exitStatus.ok;
  }
  const command = await commandNamed(name)?.();
  if (!command) {
    const meant = nearest(name, Object.keys(commands));
    throw new UsageError(`there is no command "${name}"${meant ? `; did you mean "${meant}"?` : ""}`);
  }
  const options = parseOptions(words, [...command.options, ...commonOptions]);
  if (options.has("help")) console.log(help(command));
  else if (options.has("version")) console.log(version());
  else return await command.run(options, openTerminal(options));
  return exitStatus.ok;
}

keepCompiledCode();

// A reader that has seen enough, as `head`, is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(process.exitCode);
});

try {
  // Not process.exit: what is still to be written to a pipe would be lost.
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError) && !(error instanceof NumpyError)) throw error;
  console.error(`lanewise: ${error.message}`);
  process.exitCode = exitStatus.usage;
}
