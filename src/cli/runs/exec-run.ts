import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { EndedLaunch, ExecOptions, HostFrame } from "../../cuda/state/process-state.ts";
import type { Report } from "../../machine/reports/report.ts";
import type { Native } from "../../node/exec/native.ts";
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
  readonly warn: (text: string) => void;
  readonly onReports: (reports: readonly Report[], launchedAt: readonly HostFrame[]) => void;
}

/** Reports of one launch, and the stack of the program there. */
interface LaunchReports {
  readonly reports: readonly Report[];
  readonly launchedAt: readonly HostFrame[];
}

/** A program that has ended. */
export interface ExecResult {
  /** Its exit status; 128 and the number of the signal, if one has ended it. */
  readonly status: number;
  readonly reports: readonly LaunchReports[];
  readonly launches: readonly EndedLaunch[];
  /** What it has written to stdout, if that was to be kept. */
  readonly stdout: string;
}

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

/**
 * Runs a program to its end.
 *
 * @throws UsageError if it cannot be started
 */
export async function execProgram(plan: ExecPlan): Promise<ExecResult> {
  const { native, program, args } = plan;
  const reports: LaunchReports[] = [];
  const launches: EndedLaunch[] = [];
  let stdout = "";
  const server = new ExecServer(native, plan.options, plan.device, {
    warn: plan.warn,
    onReports(found, launchedAt) {
      reports.push({ reports: found, launchedAt });
      plan.onReports(found, launchedAt);
    },
    onLaunch(launch) {
      if (launches.length < maxLaunches) launches.push(launch);
    },
  });
  const child = spawn(program, args, {
    stdio: ["inherit", targets[plan.stdout], "inherit"],
    env: environment(native.folder, server.path),
  });
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const unlisten = passSignals((signal) => child.kill(signal));
  const status = await new Promise<number>((resolve, reject) => {
    child.on("error", (error) => reject(new UsageError(`exec: ${program} cannot be started: ${error.message}`)));
    child.on("close", (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
    if (child.pid !== undefined) server.start(child.pid);
  }).finally(() => {
    server.close();
    unlisten();
  });
  return { status, reports, launches, stdout };
}

/** Leaves signals to the program: the terminal sends some to it too, and it decides. Returns how to end that. */
function passSignals(pass: (signal: NodeJS.Signals) => void): () => void {
  const ignored = (): void => {};
  const own = ["SIGINT", "SIGQUIT"] as const;
  const passed = ["SIGTERM", "SIGHUP"] as const;
  for (const signal of own) process.on(signal, ignored);
  for (const signal of passed) process.on(signal, pass);
  return () => {
    for (const signal of own) process.off(signal, ignored);
    for (const signal of passed) process.off(signal, pass);
  };
}
