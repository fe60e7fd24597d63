#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { UsageError } from "../runtime/errors.ts";
import { NumpyError } from "../runtime/npy.ts";
import { nearest } from "../source/index.ts";
import { check } from "./check.ts";
import { type Command, type ExitStatus, exitStatus } from "./command.ts";
import { explain } from "./explain.ts";
import { fmt } from "./fmt.ts";
import { isa } from "./isa.ts";
import { laterCommands } from "./later.ts";
import { link } from "./link.ts";
import { commonOptions, describeOptions, parseOptions } from "./options.ts";
import { run } from "./run.ts";
import { openTerminal } from "./terminal.ts";

const commands: readonly Command[] = [check, run, fmt, link, explain, isa, ...laterCommands];

/** The package's own description lies two folders above this file, as source and when built. */
const version = (): string => {
  const description: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return (description as { version: string }).version;
};

function overview(): string {
  const width = Math.max(...commands.map((c) => c.name.length));
  const list = commands.map((c) => `  ${c.name.padEnd(width)}  ${c.summary}`).join("\n");
  return `lanewise: reads, checks and runs GPU assembly on any machine

usage: lanewise COMMAND [OPTIONS] …

${list}

\`lanewise COMMAND --help\` says more.`;
}

function help(command: Command): string {
  const usage = command.usage.map((line, i) => `${i === 0 ? "usage:" : "      "} lanewise ${line}`).join("\n");
  const own = command.options.length > 0 ? `\nOptions:\n${describeOptions(command.options)}\n` : "";
  const details = command.details === undefined ? "" : `\n\n${command.details}`;
  return `${command.summary}\n\n${usage}\n${own}\nCommon options:\n${describeOptions(commonOptions)}${details}`;
}

function main([name, ...words]: readonly string[]): ExitStatus {
  if (name === undefined) {
    console.error(overview());
    return exitStatus.usage;
  }
  if (name === "--help" || name === "-h" || name === "help") {
    const command = commands.find((c) => c.name === words[0]);
    console.log(command ? help(command) : overview());
    return exitStatus.ok;
  }
  if (name === "--version" || name === "-V") {
    console.log(version());
    return exitStatus.ok;
  }
  const command = commands.find((c) => c.name === name);
  if (!command) {
    const meant = nearest(
      name,
      commands.map((c) => c.name),
    );
    throw new UsageError(`there is no command "${name}"${meant ? `; did you mean "${meant}"?` : ""}`);
  }
  const options = parseOptions(words, [...command.options, ...commonOptions]);
  if (options.has("help")) console.log(help(command));
  else if (options.has("version")) console.log(version());
  else return command.run(options, openTerminal(options));
  return exitStatus.ok;
}

// A reader that has seen enough, as `head`, is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(process.exitCode);
});

try {
  // Not process.exit: what is still to be written to a pipe would be lost.
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError) && !(error instanceof NumpyError)) throw error;
  console.error(`lanewise: ${error.message}`);
  process.exitCode = exitStatus.usage;
}
