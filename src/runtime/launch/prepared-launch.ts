import type { Observer } from "../../machine/events.ts";
import { type BlockRange, blocksIn, type LaunchRequest, type SanitizerName } from "../../machine/launch.ts";
import type { DeviceWork } from "../../machine/state/device-work.ts";
import { sanitizersFor } from "../../sanitizers/index.ts";
import { UsageError } from "../data/errors.ts";
import {
  type EngineChoice,
  type EngineResult,
  type KernelResult,
  type LaunchDefaults,
  type LaunchOptions,
  matrixSums,
} from "./launch-options.ts";
import { blockRanges } from "./block-selection.ts";
import type { LaunchPlan } from "./launch-plan.ts";

type Given<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

const nothing = {};

/** The properties that are not undefined: of most launches none, of which a launch of microseconds makes no object. */
function given<T extends object>(options: T): Given<T> {
  for (const name in options) {
    if (options[name] === undefined) continue;
    return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given<T>;
  }
  return nothing;
}

/** A launch that is ready to begin: its arguments have been copied. */
export class PreparedLaunch {
  readonly request: LaunchRequest;
  readonly observers: readonly Observer[];
  /** Whether the observers are sanitizers alone, or there are none. */
  readonly isOnlySanitized: boolean;
  readonly engine: EngineChoice;
  /** What the kernel has handed to the device so far. */
  readonly deviceWork: DeviceWork[] = [];
  readonly #plan: LaunchPlan;
  /** The parts of the grid that run, or null, and the share that they have of its blocks. */
  readonly #blocks: readonly BlockRange[] | null;
  readonly #share: number;
  readonly #onBegin: (request: LaunchRequest) => void;
  #stdout = "";

  constructor(
    kernel: string,
    plan: LaunchPlan,
    sanitizers: readonly SanitizerName[],
    options: LaunchOptions,
    defaults: LaunchDefaults,
  ) {
    const seed = options.seed ?? defaults.seed;
    const steering = options.steering ?? defaults.steering;
    const maxSteps = options.maxSteps ?? defaults.maxSteps;
    const timeoutMs = options.timeoutMs ?? defaults.timeoutMs;
    const hostThreads = options.hostThreads ?? defaults.hostThreads;
    if (hostThreads !== undefined && !(Number.isInteger(hostThreads) && hostThreads >= 1)) {
      throw new UsageError(`hostThreads is ${hostThreads}: expected an integer of at least 1`);
    }
    const matrix = options.matrix ?? defaults.matrix;
    if (matrix !== undefined && !matrixSums.includes(matrix)) {
      throw new UsageError(`matrix is ${JSON.stringify(matrix)}: expected one of ${matrixSums.join(", ")}`);
    }
    const { onProgress, onOutput, onReport, environment, hostClock, observers = [] } = options;
    const { deviceFacts, deviceGraphs } = options;
    this.#onBegin = options.onBegin ?? (() => {});
    this.#plan = plan;
    const [x, y, z] = plan.request.grid;
    this.#blocks = options.blocks === undefined ? null : blockRanges(options.blocks, x * y * z);
    this.#share = this.#blocks === null ? 1 : blocksIn(this.#blocks) / (x * y * z);
    this.engine = options.engine ?? defaults.engine ?? "jit";
    // Naming the sanitizers would load them.
    this.observers = [...(sanitizers.length === 0 ? [] : sanitizersFor(sanitizers)), ...observers];
    this.isOnlySanitized = observers.length === 0;
    this.request = {
      kernel,
      ...plan.request,
      ...(this.#blocks === null ? {} : { blocks: this.#blocks }),
      sanitize: new Set(sanitizers),
      onOutput: (text) => {
        this.#stdout += text;
        onOutput?.(text);
      },
      onDeviceWork: (work) => {
        this.deviceWork.push(work);
      },
      ...given({
        environment,
        deviceFacts,
        deviceGraphs,
        hostClock,
        seed,
        steering,
        matrix,
        maxSteps,
        timeoutMs,
        hostThreads,
        onProgress,
        onReport,
      }),
    };
  }

  /** Runs the launch and completes its result. */
  end(run: () => EngineResult): KernelResult {
    const started = performance.now();
    let result: EngineResult;
    let left = "";
    this.#onBegin(this.request);
    try {
      result = run();
    } finally {
      left = this.#plan.finish?.() ?? "";
    }
    return this.#result(result, left, started);
  }

  async endAsync(run: () => Promise<EngineResult>): Promise<KernelResult> {
    const started = performance.now();
    let result: EngineResult;
    let left = "";
    this.#onBegin(this.request);
    try {
      result = await run();
    } finally {
      left = this.#plan.finish?.() ?? "";
    }
    return this.#result(result, left, started);
  }

  /** Cleans up after a launch that somebody else ran to its end. */
  close(): void {
    const left = this.#plan.finish?.() ?? "";
    if (left !== "") this.request.onOutput!(left);
  }

  /** `left` is what the kernel has printed into memory. */
  #result(result: EngineResult, left: string, started: number): KernelResult {
    if (left !== "") this.request.onOutput!(left);
    const threads = Math.round(this.#plan.threads * this.#share);
    return { ...result, threads, milliseconds: performance.now() - started, stdout: this.#stdout };
  }
}
