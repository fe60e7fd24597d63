import { version } from "../node/version.ts";
import { readable } from "../names/index.ts";
import { NumpyError, UsageError } from "../runtime/data/errors.ts";
import { commands } from "./commands.ts";
import { commandHelp, commandNamed, helpOn, overview } from "./help.ts";
import { type ExitStatus, exitStatus } from "./options/command.ts";
import { openTerminal } from "./options/open-terminal.ts";
import { commonOptions, type OptionSpec, parseOptions } from "./options/options.ts";
import { checkOutputs } from "./options/output-files.ts";
import { CompilationError } from "./terminal/files.ts";

async function main([name, ...words]: readonly string[]): Promise<ExitStatus> {
  if (name === undefined) throw new UsageError(`no command is given\n\n${await overview(commands)}`);
  if (name === "--help" || name === "-h" || name === "help") {
    const topic = words.find((word) => !word.startsWith("-"));
    console.log(topic === undefined ? await overview(commands) : await helpOn(commands, topic));
    return exitStatus.ok;
  }
  if (name === "--version" || name === "-V") {
    console.log(version());
    return exitStatus.ok;
  }
  const command = await commandNamed(commands, name)();
  const specs: readonly OptionSpec[] = [...command.options, ...commonOptions];
  const options = parseOptions(words, specs, command.passesOn);
  if (options.has("help")) console.log(commandHelp(command));
  else if (options.has("version")) console.log(version());
  else {
    checkOutputs(options, specs);
    const status = await command.run(options, openTerminal(options));
    if (command.runsKernels === true) await (await import("../node/end-at-once.ts")).endAtOnce(status);
    return status;
  }
  return exitStatus.ok;
}

/** Reports an error. With `--json`, stdout has one document whatever happens. */
function fail(message: string): void {
  console.error(`lanewise: ${message}`);
  if (process.argv.includes("--json")) console.log(JSON.stringify({ ok: false, error: message }));
}

/** Carries out a command: the words after the name of the program. Sets the exit status of the process. */
export async function run(words: readonly string[]): Promise<void> {
  // A reader that stops early, such as `head`, is not an error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode);
    console.error(`lanewise: cannot write to stdout: ${error.message}`);
    process.exit(exitStatus.usage);
  });
  try {
    // Not `process.exit`, which would lose output still on its way to a pipe.
    process.exitCode = await main(words);
  } catch (error) {
    const isUsage = error instanceof UsageError || error instanceof NumpyError;
    const { message, stack } = error as Error;
    if (!isUsage) console.error(stack);
    fail(isUsage ? readable(message) : `this is an error of Lanewise itself: ${message}`);
    process.exitCode = isUsage && !(error instanceof CompilationError) ? exitStatus.usage : exitStatus.failed;
  }
}
