import { type IrFunction, type IrModule, windows } from "../ir/index.ts";
import { emit, type Observer, Observers } from "../machine/events.ts";
import { Fault } from "../machine/faults/fault.ts";
import { addFault, ReportSink } from "../machine/faults/report-sink.ts";
import type { LaunchRequest, LaunchResult } from "../machine/launch.ts";
import type { Extent } from "../machine/memory/extent.ts";
import { Views } from "../machine/memory/views.ts";
import { kernelFrame } from "../machine/state/call-frame.ts";
import { GridBlock } from "../machine/state/cta.ts";
import type { Grid } from "../machine/state/launch-state.ts";
import type { Site } from "../machine/state/code.ts";
import type { Bank } from "../machine/state/bank.ts";
import type { LoadedFunction } from "./compile/loaded-function.ts";
import type { ProgramContext } from "./compile/program-context.ts";
import type { Program } from "./program.ts";
import { Limits } from "./schedule/limits.ts";
import { ResidentBlocks } from "./schedule/resident-blocks.ts";
import { runGrid, type Schedule, UsualSchedule } from "./schedule/schedule.ts";
import { SeededSteering } from "./schedule/seeded.ts";
import { SteeredSchedule } from "./schedule/steered.ts";

/** The most local memory that a thread of any NVIDIA GPU can have (compute capability tables). */
export const stackLimit = 512 * 1024;

/** All shared variables of a module are laid out at once, so this is much more than a block of any GPU has. */
const sharedLimit = 16 * 2 ** 20;

let launches = 0;

export interface LaunchOptions {
  /** Who watches: sanitizers, a debugger, a profiler. */
  readonly observers?: readonly Observer[];
  /** Bytes of stack for a thread. */
  readonly stackLimit?: number;
}

/**
 * Runs a kernel to its end, or to the first fault. Throws a RangeError when the request itself makes no sense: an unknown
 * kernel, too few bytes of parameters, a block of no or of more than 1024 threads.
 */
export function launch(program: Program, request: LaunchRequest, options: LaunchOptions = {}): CountedResult {
  const { grid, kernel, sharedBytes } = openLaunch(program, request, options);
  const { observers } = grid;
  if (observers !== null) emit(observers, "launchBegin", grid);
  try {
    refuse(program, kernel, grid, sharedBytes);
    if (!grid.reports.failed) runGrid(grid, scheduleOf({ grid, kernel, sharedBytes }, program, request));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    addFault(grid.reports, error);
  }
  if (observers !== null) emit(observers, "launchEnd", grid);
  return { ok: !grid.reports.failed, steps: grid.steps, reports: grid.reports.reports };
}

/** How the blocks of a launch have their turns. */
export function scheduleOf(open: OpenLaunch, { module }: Program, request: LaunchRequest): Schedule {
  const { grid, kernel, sharedBytes } = open;
  const limits = new Limits(grid, request);
  const flight = new ResidentBlocks(grid, kernel, sharedBytes);
  const steering = request.steering ?? (request.seed === undefined ? null : new SeededSteering(request.seed));
  if (steering === null) return new UsualSchedule(flight, limits);
  return new SteeredSchedule(flight, { limits, steering, apart: lanesRunApart(module) });
}

/** Whether lanes of a warp are scheduled each for itself (independent thread scheduling): of PTX from sm_70 on. */
const lanesRunApart = ({ target }: IrModule): boolean => Number(/^sm_(\d+)/.exec(target)?.[1] ?? 0) >= 70;

/** A schedule that is not the usual one changes between warps at every access. */
export const engineFor = (program: Program, { seed, steering }: LaunchRequest): ProgramContext =>
  seed === undefined && steering === undefined ? program.engine : program.fineEngine;

/** The interpreter counts what it executes. */
interface CountedResult extends LaunchResult {
  readonly steps: number;
}

/** A launch before its first block. */
export interface OpenLaunch {
  readonly grid: Grid;
  readonly kernel: LoadedFunction;
  /** Bytes of a block's shared memory. */
  readonly sharedBytes: number;
}

/** What the blocks of a launch will share. Throws a RangeError when the request makes no sense. */
export function openLaunch(program: Program, request: LaunchRequest, options: LaunchOptions = {}): OpenLaunch {
  const kernel = engineFor(program, request).functionNamed(request.kernel);
  if (kernel === null || kernel.ir.kind !== "kernel") throw new RangeError(`there is no kernel ${request.kernel}`);
  checkShape(kernel.ir, request);
  const observers = options.observers ?? [];
  const { dynamicStart, dynamicName, extents, staticBytes } = program.shared;
  const dynamicEnd = dynamicStart + request.sharedBytes;
  const name = request.threads === undefined ? dynamicName : "shared local memory";
  const sharedExtents: readonly Extent[] = [...extents, { name, start: dynamicStart, end: dynamicEnd }];
  const grid: Grid = {
    id: launches++,
    kernel: request.kernel,
    dimensions: request.grid,
    block: request.block,
    addresses: program.addresses,
    memory: program.memory,
    constants: program.constants,
    params: paramsBank(kernel, request.params),
    sharedExtents,
    staticSharedBytes: staticBytes,
    dynamicSharedBytes: request.sharedBytes,
    stackLimit: options.stackLimit ?? stackLimit,
    processors: 1,
    threads: request.threads ?? null,
    observers: observers.length === 0 ? null : new Observers(observers),
    reports: new ReportSink(request.kernel),
    print: request.onOutput ?? (() => {}),
    steps: 0,
    activationBytes: 0,
    clockReads: 0,
    clock: () => BigInt(Math.floor(grid.steps / 32) + grid.clockReads++),
  };
  return { grid, kernel, sharedBytes: dynamicEnd - windows.shared.start };
}

function checkShape(kernel: IrFunction, { grid, block, params, sharedBytes, threads: model }: LaunchRequest): void {
  if ((kernel.file === undefined) !== (model === undefined)) {
    throw new RangeError(
      `${kernel.name} ${kernel.file === undefined ? "has no" : "needs a model of its"} hardware threads`,
    );
  }
  if (model !== undefined && !(Number.isInteger(model.width) && model.width >= 1 && model.width <= 32)) {
    throw new RangeError(`hardware threads of ${model.width} lanes`);
  }
  const threads = block[0] * block[1] * block[2];
  for (const n of [...grid, ...block]) {
    if (!Number.isInteger(n) || n < 1) throw new RangeError(`a grid or block of ${n} in one direction`);
  }
  if (threads > 1024) throw new RangeError(`${threads} threads in a block; the most is 1024`);
  const most = windows.shared.end - windows.shared.start;
  if (!Number.isInteger(sharedBytes) || sharedBytes < 0 || sharedBytes > most / 2) {
    throw new RangeError(`${sharedBytes} bytes of dynamic shared memory`);
  }
  const { reqntid, maxntid } = kernel.bounds;
  if (reqntid?.some((n, i) => n !== block[i])) {
    throw new RangeError(`${kernel.name} requires blocks of ${reqntid.join(" x ")} threads (.reqntid)`);
  }
  if (maxntid !== undefined && threads > maxntid[0] * maxntid[1] * maxntid[2]) {
    throw new RangeError(`${kernel.name} allows blocks of ${maxntid.join(" x ")} threads at most (.maxntid)`);
  }
  const bytes = kernel.params.reduce(
    (end, { storage, type }) => (storage.kind === "kernel" ? Math.max(end, storage.offset + type.size) : end),
    0,
  );
  if (params.length < bytes) {
    throw new RangeError(`${kernel.name} takes ${bytes} bytes of parameters, and got ${params.length}`);
  }
}

function paramsBank({ paramExtents }: LoadedFunction, bytes: Uint8Array): Bank {
  const views = new Views(bytes.length);
  views.u8.set(bytes);
  return { views, start: windows["kernel-param"].start, extents: paramExtents };
}

/** A kernel that can come to what is not modelled does not start: it would be wrong to run half of it. */
export function refuse(program: Program, kernel: LoadedFunction, grid: Grid, sharedBytes: number): void {
  const { engine, module } = program;
  const tooLarge =
    kernel.stackCost > grid.stackLimit
      ? ([
          "stack-overflow",
          `the kernel's frame has ${kernel.frame.size} bytes; a thread has ${grid.stackLimit}`,
        ] as const)
      : sharedBytes > sharedLimit
        ? ([
            "not-executable",
            `a block would need ${sharedBytes} bytes of shared memory; ${sharedLimit} are modelled`,
          ] as const)
        : null;
  if (tooLarge !== null) {
    const [code, message] = tooLarge;
    const instruction = { ...kernel.ir.instructions[0]!, span: kernel.ir.span, location: null };
    refusal(kernel, { code: kernel, index: 0, instruction }, grid, code, message);
    return;
  }
  const obstacle = program.obstacleOf(kernel.ir);
  if (obstacle === null) return;
  const code = engine.functions[module.functions.indexOf(obstacle.function)]!;
  const instruction = obstacle.function.instructions[obstacle.index]!;
  const site = { code, index: obstacle.index, instruction };
  refusal(code, site, grid, "not-executable", obstacle.message);
}

function refusal(code: LoadedFunction, site: Site, grid: Grid, report: string, message: string): void {
  const activation = kernelFrame(code, new GridBlock(grid, 0).warps[0]!);
  const help = "nothing of the kernel has been run";
  grid.reports.add({ code: report, severity: "error", message, help, site, activation, lanes: 0 });
}
