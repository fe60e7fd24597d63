import { existsSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { DapSession } from "../../debugger/dap/dap-session.ts";
import { frame, Unframer } from "../../debugger/dap/framing.ts";
import type { Arguments } from "../../debugger/dap/protocol.ts";
import type { Session } from "../../debugger/session.ts";
import { LoadError, UsageError } from "../../runtime/data/errors.ts";
import { isCisaName } from "../../runtime/data/isa.ts";
import { type Command, type ExitStatus, exitStatus } from "../options/command.ts";
import { commonOptions, parseOptions } from "../options/options.ts";
import { programOptions } from "../options/program-options.ts";
import { originReader } from "../terminal/origin-files.ts";
import type { SourceText } from "../../source/index.ts";
import { openSession } from "../runs/debug-program.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Attributes of a launch configuration that are also options of `lanewise debug`. */
const launchOptions = [
  "variant",
  "kernel",
  "module",
  "grid",
  "block",
  "blocks",
  "cluster",
  "shared",
  "global",
  "local",
  "zeinfo",
  "isa",
  "sanitize",
  "seed",
  "schedule",
  "matrix",
  "target",
] as const;
const specs = [...programOptions, ...commonOptions];

/** Translates a launch request to the equivalent command line. */
function wordsOf(launch: Arguments): readonly string[] {
  const program = launch.string("program");
  const files = program === null ? launch.strings("program") : [program];
  if (files.length === 0) throw new UsageError("the launch configuration names no `program`");
  const cwd = launch.string("cwd") ?? process.cwd();
  const path = (file: string): string => (isAbsolute(file) ? file : resolve(cwd, file));
  const words = files.map(path);
  for (const name of launchOptions) {
    const value = launch.value(name);
    const text = Array.isArray(value) ? value.join(",") : value;
    if (typeof text !== "string" && typeof text !== "number") continue;
    words.push(`--${name}=${name === "zeinfo" ? path(String(text)) : text}`);
  }
  const maxSteps = launch.number("maxSteps");
  if (maxSteps !== null) words.push(`--max-steps=${maxSteps}`);
  const withPath = (value: string): string => value.replace(/@(.+)$/, (_, file) => `@${path(file)}`);
  for (const argument of launch.strings("args")) words.push(`--arg=${withPath(argument)}`);
  for (const symbol of launch.strings("symbol")) words.push(`--symbol=${withPath(symbol)}`);
  for (const input of launch.strings("input")) words.push(`--input=${input}`);
  return words;
}

/** Finds the files that the program was compiled from; replaced when a program is launched. */
let findSource: (path: string) => SourceText | null = () => null;

async function open(launch: Arguments, onLog: (text: string) => void): Promise<Session> {
  const cwd = launch.string("cwd") ?? process.cwd();
  const readOrigin = originReader(launch.strings("sourcePath").map((folder) => resolve(cwd, folder)));
  const program = resolve(cwd, launch.string("program") ?? launch.strings("program")[0] ?? "");
  findSource = (path) => readOrigin(path, program);
  const problems: string[] = [];
  const terminal: Terminal = {
    style: (_, text) => text,
    width: 120,
    interactive: false,
    out: (text) => void problems.push(text),
    err: (text) => void problems.push(text),
  };
  try {
    return await openSession(parseOptions(wordsOf(launch), specs), terminal, { command: "dap", onLog, readOrigin });
  } catch (error) {
    if (problems.length > 0) onLog(problems.join("\n"));
    if (error instanceof LoadError) onLog(error.message);
    throw error;
  }
}

/**
 * The absolute path of a file that an editor can show, or null. For CISA files the editor gets their disassembly
 * instead.
 */
function pathOf(path: string): string | null {
  const whole = resolve(path);
  if (isCisaName(path)) return null;
  if (existsSync(dirname(whole)) && existsSync(whole)) return whole;
  const found = findSource(path);
  return found === null ? null : resolve(found.path);
}

/** Parses a message. One that is not JSON cannot be answered, so it is reported on stderr and skipped. */
function messageOf(text: string, terminal: Terminal): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    terminal.err(`dap: a message is not JSON: ${(error as Error).message}`);
    return null;
  }
}

export const dap: Command = {
  name: "dap",
  summary: "debug from an editor: the Debug Adapter Protocol on stdin and stdout",
  usage: ["dap"],
  options: [],
  common: [],
  details: `A launch request names a job or the files of a program (\`program\`), and what \`lanewise debug\` takes as options: kernel, module, grid, block, shared, global, local, zeinfo, args, symbol, input, sanitize, seed, schedule, matrix, variant, target, maxSteps; besides cwd, stopOnEntry, and source: "original" or "assembly" to see only the source that the program was compiled from, or only the assembly (default: the source where its file is found; sourcePath lists folders to look in). editors/vscode has an extension that starts it.`,
  async run(_, terminal) {
    const unframer = new Unframer();
    const status = await new Promise<ExitStatus>((resolve) => {
      const end = (): void => resolve(exitStatus.ok);
      const session = new DapSession({
        send: (message) => void process.stdout.write(frame(message)),
        open,
        pathOf,
        end,
      });
      process.stdin.on("data", (chunk: Buffer) => {
        try {
          for (const text of unframer.push(chunk)) void session.receive(messageOf(text, terminal));
        } catch (error) {
          terminal.err(`dap: the input is not a stream of messages: ${(error as Error).message}`);
          resolve(exitStatus.usage);
        }
      });
      process.stdin.on("end", () => {
        if (!unframer.isWithin) return end();
        terminal.err("dap: the input ends within a message; editors start `lanewise dap`, people `lanewise debug`");
        resolve(exitStatus.usage);
      });
    });
    process.stdin.destroy();
    // A program that runs on would keep the process alive for an editor that has gone.
    await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
    return process.exit(status);
  },
};
