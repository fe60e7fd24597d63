import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { constants } from "node:os";
import { join, parse } from "node:path";
import type { HostFrame } from "../../cuda/base/host-frame.ts";
import { Recorder } from "../../cuda/record/recorder.ts";
import type { EndedLaunch, ExecOptions } from "../../cuda/state/process-state.ts";
import type { Report } from "../../machine/reports/report.ts";
import { RecordingFile } from "../../node/exec/recording-file.ts";
import type { Native } from "../../node/exec/native.ts";
import { missingLibrary } from "../../node/exec/missing-library.ts";
import { ExecServer } from "../../node/exec/server.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import type { DeviceOptions } from "../../runtime/index.ts";

/** A program, its arguments, and how it is to be run. */
export interface ExecPlan {
  readonly native: Native;
  readonly program: string;
  readonly args: readonly string[];
  readonly options: ExecOptions;
  readonly device: DeviceOptions;
  /** Where the program's stdout goes: where ours does, to stderr, or into the result. */
  readonly stdout: "inherit" | "stderr" | "keep";
  /** The file into which its launches are written, or null. */
  readonly recording: string | null;
  /** How what is known is written in the document of `--json`; null if nobody wants one. */
  readonly document: ExecDocument | null;
  readonly warn: (text: string) => void;
  readonly onReports: (reports: readonly Report[], launchedAt: readonly HostFrame[]) => void;
}

/** Reports of one launch, and the stack of the program there. */
interface LaunchReports {
  readonly reports: readonly Report[];
  readonly launchedAt: readonly HostFrame[];
}

/** The entries of the document of `--json`. */
export interface ExecDocument {
  readonly launch: (launch: EndedLaunch) => object;
  readonly reports: (reports: LaunchReports) => readonly object[];
}

/** A program that has ended. */
export interface ExecResult {
  /** Its exit status; 128 and the number of the signal, if one has ended it. */
  readonly status: number;
  readonly reports: readonly LaunchReports[];
  readonly launches: readonly EndedLaunch[];
  /** Wrong accesses of the program's own code. */
  readonly misuses: readonly string[];
  /** What it has written to stdout, if that was to be kept. */
  readonly stdout: string;
}

/** With what the loader of programs ends one for which it does not find all libraries. */
const notLoaded = 127;

/** The environment of the program: it finds our libraries first, and the server. */
function environment(folder: string, path: string): NodeJS.ProcessEnv {
  const before = (own: string, others: string | undefined): string => (others ? `${own}:${others}` : own);
  return {
    ...process.env,
    LD_PRELOAD: before(`${folder}liblanewise.so`, process.env["LD_PRELOAD"]),
    LD_LIBRARY_PATH: before(folder.replace(/\/$/, ""), process.env["LD_LIBRARY_PATH"]),
    LANEWISE_EXEC: path,
  };
}

const targets = { inherit: "inherit", stderr: 2, keep: "pipe" } as const;

/** Most launches that are remembered: programs may make millions. */
const maxLaunches = 10_000;

/** What writes down the launches of the n-th process of a program: each process has a file of its own. */
function recorderFor({ recording, program, args, options: { launch } }: ExecPlan, n: number): Recorder | null {
  if (recording === null) return null;
  const { dir, name, ext } = parse(recording);
  const file = new RecordingFile(n === 1 ? recording : join(dir, `${name}-${n}${ext}`));
  const { seed, matrix } = launch;
  const ran = { ...(seed === undefined ? {} : { seed }), ...(matrix === undefined ? {} : { matrix }) };
  return new Recorder(file, { program, args, ...ran });
}

/** The lists of the document of `--json`, as the native part numbers them. */
const lists = { launches: 0, reports: 1, misuses: 2, none: -1 } as const;

/** Why the system did not start a program. */
function whyNotStarted(program: string, error: NodeJS.ErrnoException): string {
  const isHere = existsSync(program);
  if (error.code === "ENOENT") {
    if (!program.includes("/")) return `there is no program ${program} in PATH${isHere ? `: it is ./${program}` : ""}`;
    const loader = `${program} cannot be started: the interpreter or loader that it names is not there`;
    return isHere ? loader : `there is no program ${program}`;
  }
  if (error.code === "EACCES" && isHere) {
    return statSync(program).isDirectory()
      ? `${program} is a directory, not a program`
      : `${program} may not be executed: \`chmod +x ${program}\``;
  }
  return `${program} cannot be started: ${error.message}`;
}

/**
 * Runs a program to its end.
 *
 * @throws UsageError if it cannot be started
 */
export async function execProgram(plan: ExecPlan): Promise<ExecResult> {
  const { native, program, args, document } = plan;
  const reports: LaunchReports[] = [];
  const launches: EndedLaunch[] = [];
  const misuses: string[] = [];
  let stdout = "";
  let processes = 0;
  const note = (list: keyof typeof lists, entry: object | string): void => {
    native.addon.note(lists[list], JSON.stringify(entry));
  };
  if (document !== null) note("none", "");
  const server = new ExecServer(native, plan.options, plan.device, {
    warn: plan.warn,
    onReports(found, launchedAt) {
      reports.push({ reports: found, launchedAt });
      for (const entry of document?.reports({ reports: found, launchedAt }) ?? []) note("reports", entry);
      plan.onReports(found, launchedAt);
    },
    recorder: () => recorderFor(plan, ++processes),
    onMisuse(text) {
      misuses.push(text);
      if (document !== null) note("misuses", text);
    },
    onLaunch(launch) {
      if (launches.length >= maxLaunches) return;
      launches.push(launch);
      if (document !== null) note("launches", document.launch(launch));
    },
  });
  const child = spawn(program, args, {
    stdio: ["inherit", targets[plan.stdout], "inherit"],
    env: environment(native.folder, server.path),
  });
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const status = await new Promise<number>((resolve, reject) => {
    child.on("error", (error) => reject(new UsageError(`exec: ${whyNotStarted(program, error)}`)));
    child.on("close", (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
    if (child.pid !== undefined) server.start(child.pid);
  }).finally(() => server.close());
  const why = status === notLoaded && processes === 0 ? missingLibrary(program) : null;
  if (why !== null) plan.warn(`${program} was not started: ${why}`);
  return { status, reports, launches, misuses, stdout };
}
