import { spawn } from "node:child_process";
import { constants } from "node:os";
import { defaultGpu, gpus } from "../../cuda/state/gpu.ts";
import { loadNative } from "../../node/exec/native.ts";
import { ExecServer } from "../../node/exec/server.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { type Command, type ExitStatus, exitStatus } from "../options/command.ts";
import type { Options } from "../options/options.ts";
import { renderReport } from "../terminal/render-report.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { launchDefaults } from "../runs/run-settings.ts";

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

async function execProgram(options: Options, terminal: Terminal): Promise<number> {
  const [program, ...args] = options.positionals;
  if (program === undefined) throw new UsageError("exec: no program is given");
  const native = loadNative();
  if (typeof native === "string") throw new UsageError(`exec is not available: ${native}`);
  const name = options.value("gpu") ?? defaultGpu;
  const gpu = gpus[name];
  if (gpu === undefined) throw new UsageError(`--gpu ${name}: expected ${Object.keys(gpus).join(", ")}`);
  const launch = launchDefaults(options);
  let faults = 0;
  const server = new ExecServer(
    native,
    { gpu, devices: options.integer("devices", 1) ?? 1, launch },
    { hostThreads: launch.hostThreads ?? 1 },
    {
      warn: (text) => terminal.err(`lanewise: ${text}`),
      onReports(reports) {
        for (const report of reports) terminal.err(renderReport(report, terminal));
        faults += reports.length;
      },
    },
  );
  const child = spawn(program, args, { stdio: "inherit", env: environment(native.folder, server.path) });
  // The terminal sends these to the program too, which decides.
  for (const signal of ["SIGINT", "SIGQUIT"] as const) process.on(signal, () => {});
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const status = await new Promise<number>((resolve, reject) => {
    child.on("error", (error) => reject(new UsageError(`exec: ${program} cannot be started: ${error.message}`)));
    child.on("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
    if (child.pid !== undefined) server.start(child.pid);
  }).finally(() => server.close());
  return status === 0 && faults > 0 && options.value("sanitize") !== null ? exitStatus.faulted : status;
}

export const exec: Command = {
  name: "exec",
  summary: "run a CUDA program, as it is, without a GPU",
  usage: ["exec PROGRAM [ARGUMENTS…]"],
  options: [
    { name: "gpu", value: "NAME", help: `the GPU to be: ${Object.keys(gpus).join(", ")} (default: ${defaultGpu})` },
    { name: "devices", value: "N", help: "the number of GPUs (default: 1)" },
  ],
  common: ["engine", "threads", "sanitize", "seed", "matrix"],
  passesOn: true,
  details:
    "PROGRAM is an executable for Linux on x86-64 that was built with CUDA 13, with the shared or the static runtime (in that case not stripped). It runs as it is, with its arguments, its environment and its terminal; the exit status is its own. Its kernels need PTX in it: nvcc puts it there unless it is told not to.",
  run: (options, terminal) => execProgram(options, terminal) as Promise<ExitStatus>,
};
