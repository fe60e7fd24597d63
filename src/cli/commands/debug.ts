import { createInterface, type Interface } from "node:readline";
import { Console } from "../../debugger/console/console.ts";
import type { Session } from "../../debugger/session.ts";
import { LoadError, NotExecutableError, UsageError } from "../../runtime/data/errors.ts";
import { type Command, type ExitStatus, exitStatus } from "../options/command.ts";
import { kernelOptions, type Options } from "../options/options.ts";
import { programDetails, programOptions, programUsage } from "../options/program-options.ts";
import { openSession } from "../runs/debug-program.ts";
import { readText } from "../terminal/files.ts";
import { printLoadError } from "../terminal/load-error.ts";
import { printJson, type Terminal } from "../terminal/terminal.ts";

const prompt = "(lanewise) ";

/** The commands in the files of `-x`, then those of `--command`: files usually contain settings, so they come first. */
function scriptOf(options: Options): readonly string[] {
  const fromFiles = options.all("script").flatMap((path) => readText(path).text.split("\n"));
  const lines = [...fromFiles, ...options.all("command")].map((line) => line.trim());
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}

interface Transcript {
  readonly commands: { readonly command: string; readonly text: string; readonly failed: boolean }[];
}

/** Runs a script, printing it as if it had been typed; stops at the first command that fails. */
async function runScript(console: Console, lines: readonly string[], terminal: Terminal | null): Promise<Transcript> {
  const commands: Transcript["commands"] = [];
  for (const command of lines) {
    terminal?.out(terminal.style("faint", `${prompt}${command}`));
    const { text, quit = false, failed } = await console.run(command);
    if (text !== "") terminal?.out(text);
    commands.push({ command, text, failed });
    if (quit || failed) break;
  }
  return { commands };
}

/** Reads and runs commands until the input ends or one of them is `quit`. Control-C interrupts a running command. */
async function interact(console: Console, terminal: Terminal): Promise<void> {
  const isTerminal = process.stdin.isTTY === true;
  const lines: Interface = createInterface({
    input: process.stdin,
    output: isTerminal ? process.stdout : undefined,
    terminal: isTerminal,
    historySize: 1000,
    removeHistoryDuplicates: true,
    completer: (line: string) => [console.complete(line), line],
    prompt: isTerminal ? terminal.style("strong", prompt) : "",
  });
  let busy = false;
  lines.on("SIGINT", () => {
    if (busy) console.session.interrupt();
    else {
      terminal.out("(quit ends; Control-C interrupts what runs)");
      lines.prompt();
    }
  });
  lines.prompt();
  for await (const line of lines) {
    busy = true;
    const { text, quit = false } = await console.run(line);
    busy = false;
    if (text !== "") terminal.out(text);
    if (quit) break;
    lines.prompt();
  }
  lines.close();
}

/** Whether the session stands just before a fault or an error found by a sanitizer. */
const stopsAtError = (session: Session): boolean => session.stop("goto").report?.severity === "error";

export const debug: Command = {
  name: "debug",
  summary: "run under a debugger, forwards and backwards",
  usage: programUsage("debug").map((usage) => usage.replace("JOB.json…", "JOB.json")),
  options: [
    ...programOptions,
    {
      name: "command",
      value: "COMMAND",
      repeats: true,
      help: "run this command instead of prompting; may be repeated",
    },
    {
      name: "script",
      short: "x",
      value: "FILE",
      repeats: true,
      file: "read",
      help: "run the commands in a file, one per line",
    },
    { name: "interactive", short: "i", help: "prompt for more commands after those" },
  ],
  common: [...kernelOptions, "target"],
  details: `Stops before the first instruction and prompts for commands; help lists them. Time is counted in instructions of warps, and runs both ways: reverse-step, reverse-continue, goto TIME, last-write EXPRESSION. Execution stops just before a fault and, with --sanitize, just before an error that sanitizers report. The interpreter runs the program; --engine and --timeout have no effect.

${programDetails}

For example, in a clone of Lanewise:
  lanewise debug examples/bugs/wrong-prototype.ptx --kernel apply --block 32 \\
    --arg u32[32] --command continue --command backtrace

Exit status: 0; 1 if the program has errors; 2 for wrong usage and commands that fail; 3 if a script ends at a fault or at a sanitizer's error.`,
  async run(options, terminal): Promise<ExitStatus> {
    const script = scriptOf(options);
    const json = options.has("json");
    let session: Session;
    try {
      const onLog = (text: string): void => (json ? terminal.err(text) : terminal.out(text));
      session = await openSession(options, terminal, { command: "debug", onLog, readOrigin: terminal.readOrigin });
    } catch (error) {
      if (error instanceof NotExecutableError) throw new UsageError(error.message);
      if (!(error instanceof LoadError)) throw error;
      printLoadError(error, json, terminal);
      return exitStatus.failed;
    }
    const { style, width } = terminal;
    const console = new Console(session, { style, width, readSource: terminal.readOrigin ?? (() => null) });
    if (!json) terminal.out(console.greeting);
    const { commands } = await runScript(console, script, json ? null : terminal);
    const failed = commands.some((c) => c.failed);
    if (json) printJson({ ok: !failed, time: session.now, commands, output: session.timeline.output }, terminal);
    else if (options.has("interactive") || script.length === 0) await interact(console, terminal);
    if (failed) return exitStatus.usage;
    return script.length > 0 && stopsAtError(session) ? exitStatus.faulted : exitStatus.ok;
  },
};
