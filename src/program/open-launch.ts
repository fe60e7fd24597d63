import { type IrFunction, windows } from "../ir/index.ts";
import { type Observer, Observers } from "../machine/events.ts";
import { ReportSink } from "../machine/faults/report-sink.ts";
import type { LaunchRequest } from "../machine/launch.ts";
import type { Extent } from "../machine/memory/extent.ts";
import { Views } from "../machine/memory/views.ts";
import type { Bank } from "../machine/state/bank.ts";
import { kernelFrame } from "../machine/state/call-frame.ts";
import type { ProgramFunction, Site } from "../machine/state/code.ts";
import { GridBlock } from "../machine/state/cta.ts";
import type { Grid } from "../machine/state/launch-state.ts";
import { threadAsked } from "./asked-threads.ts";
import { clusterOf } from "./clusters.ts";
import type { Program } from "./program.ts";

/** The most local memory that a thread of any NVIDIA GPU can have (compute capability tables). */
export const stackLimit = 512 * 1024;

/** Much more than a block of any GPU has, because the shared variables of a whole module are laid out together. */
const sharedLimit = 16 * 2 ** 20;

/** The most threads of a block (compute capability tables). */
const maxThreads = 1024;

let launches = 0;

/** The number of the next launch. */
export const nextLaunch = (): number => launches++;

/** Makes launches that do not count: what follows has the numbers that it would have without them. */
export function withoutNumber<T>(launch: () => T): T {
  const before = launches;
  try {
    return launch();
  } finally {
    launches = before;
  }
}

/** A launch whose first block has not started. */
export interface OpenLaunch {
  readonly grid: Grid;
  readonly kernel: ProgramFunction;
  /** The size of a block's shared memory, in bytes. */
  readonly sharedBytes: number;
}

export interface GridOptions {
  /** Sanitizers, a debugger, a profiler. */
  readonly observers?: readonly Observer[];
  /** Whether the launch keeps constants of its own: the host may change those of the program before it ends. */
  readonly ownConstants?: boolean;
  /** Whether no hardware thread of vISA begins: its work items do without. */
  readonly withoutThreads?: boolean;
  /** The stack of a thread, in bytes. Default: `stackLimit`. */
  readonly stackLimit?: number;
  /** What prints instead of what the request names. */
  readonly print?: (text: string) => void;
  /** The number of the launch, where it repeats an earlier one. Default: the next one. */
  readonly id?: number;
}

/** Makes the grid that the blocks of a launch share. Throws a RangeError if the request is invalid. */
export function openLaunch(program: Program, request: LaunchRequest, options: GridOptions = {}): OpenLaunch {
  const kernel = program.functionNamed(request.kernel);
  if (kernel === null || kernel.ir.kind !== "kernel") throw new RangeError(`there is no kernel ${request.kernel}`);
  checkThreads(kernel.ir, request.asked ?? request, request.threads);
  checkSharedBytes(request.sharedBytes);
  checkBounds(kernel.ir, request.asked ?? request);
  checkParams(kernel.ir, request);
  const cluster = clusterOf(kernel.ir, request);
  const observers = options.observers ?? [];
  program.memory.history.forget();
  const { dynamicStart, dynamicName, extents, staticBytes } = program.shared;
  const dynamicEnd = dynamicStart + request.sharedBytes;
  const name = request.threads === undefined ? dynamicName : "shared local memory";
  const own: readonly Extent[] = [...extents, { name, start: dynamicStart, end: dynamicEnd }];
  const grid: Grid = {
    id: options.id ?? nextLaunch(),
    kernel: request.kernel,
    dimensions: request.grid,
    block: request.block,
    cluster,
    addresses: program.addresses,
    memory: program.memory,
    constants: options.ownConstants === true ? copyOf(program.constants) : program.constants,
    params: paramsBank(kernel, request.params),
    sharedExtents: request.shadow?.sharedExtents ?? request.asked?.sharedExtents ?? own,
    staticSharedBytes: staticBytes,
    dynamicSharedBytes: request.sharedBytes,
    stackLimit: options.stackLimit ?? stackLimit,
    processors: 1,
    environment: request.environment ?? [0, 0],
    matrix: request.matrix ?? "hardware",
    threads: (options.withoutThreads === true ? undefined : request.threads?.open?.()) ?? request.threads ?? null,
    observers: observers.length === 0 ? null : new Observers(observers),
    reports: new ReportSink(request.kernel, request.onReport, threadAsked(request)),
    print: options.print ?? request.onOutput ?? ignore,
    device: {
      handOver: request.onDeviceWork ?? null,
      facts: request.deviceFacts ?? null,
      graphs: request.deviceGraphs ?? null,
    },
    steps: 0,
    activationBytes: 0,
    clockReads: 0,
    clock: request.hostClock ? hostClock : () => BigInt(Math.floor(grid.steps / 32) + grid.clockReads++),
  };
  return { grid, kernel, sharedBytes: request.shadow?.sharedBytes ?? dynamicEnd - windows.shared.start };
}

const ignore = (): void => {};

const isNoCount = (n: number): boolean => !Number.isInteger(n) || n < 1;

/** The time in nanoseconds. Workers read the same clock (jit/threads/worker-source.ts). */
function hostClock(): bigint {
  const { performance } = globalThis;
  return BigInt(Math.floor(performance.timeOrigin)) * 1_000_000n + BigInt(Math.floor(performance.now() * 1e6));
}

const copyOf = ({ views, ...bank }: Bank): Bank => ({ ...bank, views: new Views(views.u8.slice().buffer) });

function checkThreads(
  kernel: IrFunction,
  { grid, block }: Pick<LaunchRequest, "grid" | "block">,
  model: LaunchRequest["threads"],
): void {
  if ((kernel.file === undefined) !== (model === undefined)) {
    throw new RangeError(
      `${kernel.name} ${kernel.file === undefined ? "has no" : "needs a model of its"} hardware threads`,
    );
  }
  if (model !== undefined && !(Number.isInteger(model.width) && model.width >= 1 && model.width <= 32)) {
    throw new RangeError(`hardware threads of ${model.width} lanes`);
  }
  if (grid.some(isNoCount) || block.some(isNoCount)) {
    throw new RangeError(`a grid or block of ${[...grid, ...block].find(isNoCount)} in one direction`);
  }
  const threads = block[0] * block[1] * block[2];
  if (threads > maxThreads) throw new RangeError(`${threads} threads in a block; the most is ${maxThreads}`);
}

function checkSharedBytes(bytes: number): void {
  const maxBytes = (windows.shared.end - windows.shared.start) / 2;
  if (!Number.isInteger(bytes) || bytes < 0 || bytes > maxBytes) {
    throw new RangeError(`${bytes} bytes of dynamic shared memory`);
  }
}

/** Checks the block size against the kernel's `.reqntid` and `.maxntid`. */
function checkBounds(kernel: IrFunction, { block }: Pick<LaunchRequest, "block">): void {
  const threads = block[0] * block[1] * block[2];
  const { reqntid, maxntid } = kernel.bounds;
  if (reqntid?.some((n, i) => n !== block[i])) {
    throw new RangeError(`${kernel.name} requires blocks of ${reqntid.join(" x ")} threads (.reqntid)`);
  }
  if (maxntid !== undefined && threads > maxntid[0] * maxntid[1] * maxntid[2]) {
    throw new RangeError(`${kernel.name} allows blocks of ${maxntid.join(" x ")} threads at most (.maxntid)`);
  }
}

function checkParams(kernel: IrFunction, { params }: LaunchRequest): void {
  const bytes = kernel.params.reduce(
    (end, { storage, type }) => (storage.kind === "kernel" ? Math.max(end, storage.offset + type.size) : end),
    0,
  );
  if (params.length < bytes) {
    throw new RangeError(`${kernel.name} takes ${bytes} bytes of parameters, and got ${params.length}`);
  }
}

/** Compiled code reads the parameters in its context: views are made where they are needed. */
function paramsBank({ paramExtents }: ProgramFunction, bytes: Uint8Array): Bank {
  let made: Views | null = null;
  const make = (): Views => {
    made = new Views(bytes.length);
    made.u8.set(bytes);
    return made;
  };
  return {
    get views() {
      return made ?? make();
    },
    start: windows["kernel-param"].start,
    extents: paramExtents,
  };
}

/** Refuses a kernel that may reach something not modelled, with a report: running half of it would be wrong. */
export function refuse(program: Program, { grid, kernel, sharedBytes }: OpenLaunch): void {
  const tooLarge = sizeProblem(kernel, grid, sharedBytes);
  if (tooLarge !== null) {
    const [report, message] = tooLarge;
    const instruction = { ...kernel.ir.instructions[0]!, span: kernel.ir.span, location: null };
    reportRefusal({ code: kernel, index: 0, instruction }, grid, report, message);
    return;
  }
  const obstacle = program.obstacleOf(kernel.ir);
  if (obstacle === null) return;
  const code = program.functions[program.module.functions.indexOf(obstacle.function)]!;
  const instruction = obstacle.function.instructions[obstacle.index]!;
  reportRefusal({ code, index: obstacle.index, instruction }, grid, "not-executable", obstacle.message);
}

function sizeProblem(kernel: ProgramFunction, { stackLimit }: Grid, sharedBytes: number): [string, string] | null {
  if (kernel.stackCost > stackLimit) {
    return ["stack-overflow", `the kernel's frame has ${kernel.frame.size} bytes; a thread has ${stackLimit}`];
  }
  if (sharedBytes <= sharedLimit) return null;
  return ["not-executable", `a block would need ${sharedBytes} bytes of shared memory; ${sharedLimit} are modelled`];
}

function reportRefusal(site: Site, grid: Grid, code: string, message: string): void {
  const activation = kernelFrame(site.code, new GridBlock(grid, 0).warps[0]!);
  const help = "nothing of the kernel has been run";
  grid.reports.add({ code, severity: "error", message, help, site, activation, lanes: 0 });
}
