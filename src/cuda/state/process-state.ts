import type { CodeImage } from "../../container/index.ts";
import type { SanitizerName } from "../../machine/launch.ts";
import type { Dim3, Report } from "../../machine/reports/report.ts";
import type { PtxDevice } from "../../runtime/device/ptx-device.ts";
import type { KernelResult, LaunchDefaults, LaunchSettings } from "../../runtime/launch/launch-options.ts";
import { sanitizersIn } from "../../runtime/launch/known-options.ts";
import { CudaError, errors, fail } from "../base/errors.ts";
import { Handles } from "../base/handles.ts";
import { type HostFrame, stackLines } from "../base/host-frame.ts";
import type { HostMemory } from "../base/host-memory.ts";
import type { Recorder } from "../record/recorder.ts";
import type { Capture } from "../work/capture.ts";
import type { Counted, Graph, GraphNode } from "../work/graph.ts";
import type { GraphExec } from "../work/graph-exec.ts";
import { HostOrder } from "../work/host-order.ts";
import type { Event, Stream } from "../work/stream.ts";
import type { PageAdvice } from "./advice.ts";
import { addressOf } from "../base/addresses.ts";
import { type Allocation, type AllocationKind, Allocations } from "./allocations.ts";
import { Callbacks } from "./callbacks.ts";
import type { Condition } from "./condition.ts";
import type { Context } from "./contexts.ts";
import type { CudaArray } from "./cuda-array.ts";
import { chooseImage, type DeviceKernel } from "./device-module.ts";
import { heapLeaks } from "./heap-leaks.ts";
import { defaultGpu, type Gpu, gpus } from "./gpu.ts";
import type { ImageReference } from "./image-reference.ts";
import { GraphMemoryUse } from "./graph-memory.ts";
import { type LogListener, Logs, logLevel } from "./logs.ts";
import type { LinkState, LoadedModule } from "./loaded-module.ts";
import type { MultiprocessorSet } from "./multiprocessors.ts";
import type { MemoryPool } from "./memory-pool.ts";
import { Output } from "./output.ts";
import { prepareMachine } from "./prepared-machine.ts";
import { type RegisteredBinary, Registry } from "./registry.ts";
import type { PhysicalMemory } from "./virtual-memory.ts";

/** What a program is to see and how its kernels are to run. */
export interface ExecOptions {
  /** Null: the least that the program's code is for. */
  readonly gpu: Gpu | null;
  /** The number of devices. */
  readonly devices: number;
  readonly launch: LaunchSettings;
  /** Whether to tell of calls that return errors, and of memory that is never freed. Default: false. */
  readonly checksCalls?: boolean;
}

/** A launch that has ended. */
export interface EndedLaunch {
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly result: KernelResult;
  /** Return addresses of the program at the launch; none unless calls are checked. */
  readonly launchedAt: readonly bigint[];
}

/** What a process needs of its surroundings. */
export interface Surroundings {
  readonly host: HostMemory;
  /** Makes the machine on which kernels run: the first call that needs a device asks for it. */
  readonly makeDevice: () => PtxDevice;
  /** The value of CUDA_VISIBLE_DEVICES, or null. */
  readonly visibleDevices: string | null;
  /** Tells the user something, once. */
  readonly warn: (text: string) => void;
  /** Reads a file of the program; null if that is not possible. */
  readonly readFile: (path: string) => Uint8Array | null;
  /** Writes a file where the program wants it. Throws if that is not possible. */
  readonly writeFile: (path: string, text: string) => void;
  /** Called with the faults and findings of each launch that has any, and with the program's stack at the launch. */
  readonly onReports: (reports: readonly Report[], launchedAt: readonly HostFrame[]) => void;
  /** Notes where the functions of a stack lie, while the program runs. */
  readonly noteStack?: (addresses: readonly bigint[]) => void;
  /** Says what functions and lines a stack has. */
  readonly describeStack?: (addresses: readonly bigint[]) => readonly HostFrame[];
  /** Called at the end of each launch. */
  readonly onLaunch?: (launch: EndedLaunch) => void;
  /** Writes down all launches; null if nobody wants them. */
  readonly recorder?: Recorder | null;
  /** Called with each misuse of the host that is no error of a call. */
  readonly onMisuse?: (text: string) => void;
  /** Called when something of what the client has to know has changed. */
  readonly onState: (state: PublishedState) => void;
}

/** What the client knows of the state of its process at all times. */
export interface PublishedState {
  /** Whether launches may go one way. */
  readonly oneWay: boolean;
  /** The error that made the context unusable, or 0. */
  readonly error: number;
  /** How many streams have been destroyed. */
  readonly removedStreams: number;
}

/** Whether the same launch is to run in the same way each time. */
const isReproducible = ({ seed, steering, sanitize }: LaunchDefaults): boolean =>
  seed !== undefined || steering !== undefined || sanitizersIn(sanitize).length > 0;

/** The kinds of memory that the program has to free. */
const freedByProgram: ReadonlySet<AllocationKind> = new Set(["device", "pinned", "managed"]);

/** The structures of which a texture or surface object was made; null for those that were not given. */
export interface TextureDescription {
  readonly resource: Uint8Array;
  readonly texture: Uint8Array | null;
  readonly view: Uint8Array | null;
}

/** What all devices of a process have in common: the machine, memory, handles, what was registered. */
export class ProcessState {
  readonly options: ExecOptions;
  /** What all launches have in common. */
  readonly launchSettings: LaunchSettings;
  readonly host: HostMemory;
  readonly registry: Registry;
  readonly streams = new Handles<Stream>(errors.contextIsDestroyed);
  readonly events = new Handles<Event>(errors.contextIsDestroyed);
  readonly graphs = new Handles<Graph>();
  readonly graphNodes = new Handles<GraphNode>();
  readonly graphExecs = new Handles<GraphExec>();
  readonly contexts = new Handles<Context>();
  /** The context in which a stream was made, if it is not the primary one. */
  readonly streamContexts = new WeakMap<Stream, Context>();
  /** What resources and their descriptors of green contexts stand for. */
  readonly multiprocessorSets = new Handles<MultiprocessorSet>();
  /** The primary context of each device that has one. */
  readonly primaries = new Map<number, Context>();
  readonly modules = new Handles<LoadedModule>();
  readonly links = new Handles<LinkState>();
  /** Whether the driver was initialized by `cuInit`. */
  isInitialized = false;
  /** What was said of managed memory. */
  readonly advice = new WeakMap<object, PageAdvice>();
  /** Memory of which the program has said that copies to and from it are to be synchronous. */
  readonly synchronousMemory = new WeakSet<Allocation>();
  readonly arrays = new Handles<CudaArray>();
  readonly references = new Handles<ImageReference>();
  /** Texture and surface objects, by the handles that kernels have for them: the structures they were made of. */
  readonly textures = new Handles<TextureDescription>();
  readonly pools = new Handles<MemoryPool>();
  readonly physicalMemory = new Handles<PhysicalMemory>();
  /** Memory that is freed when its stream comes to it. */
  readonly freedLater = new Set<Allocation>();
  /** The values by which conditional nodes of graphs run, which kernels may set. */
  readonly conditions = new Handles<Condition>();
  readonly graphMemory = new GraphMemoryUse();
  /** What the host may rely on; null unless calls are checked. */
  readonly hostOrder: HostOrder | null;
  readonly userObjects = new Handles<Counted>();
  /** Kernels by handles that the server gave out, apart from the functions of the host that stand for them. */
  readonly kernels = new Handles<DeviceKernel>();
  /** The call that is being answered: the name of the entry point, and the program's stack. */
  callName = "";
  callStack: readonly bigint[] = [];
  readonly output = new Output();
  readonly callbacks = new Callbacks();
  /** Errors that calls have returned, and the functions of the program that want to know of each. */
  readonly logs = new Logs();
  readonly logListeners = new Handles<LogListener>();
  readonly recorder: Recorder | null;
  readonly #surroundings: Surroundings;
  readonly #kernelHandles = new WeakMap<DeviceKernel, bigint>();
  readonly #warned = new Set<string>();
  #machine: PtxDevice | null = null;
  #allocations: Allocations | null = null;
  #gpu: Gpu | null = null;
  #error = 0;
  #removedStreams = 0;
  #polls = 0;
  readonly #captures = new Set<Capture>();

  constructor(options: ExecOptions, surroundings: Surroundings) {
    this.options = options;
    this.launchSettings = {
      ...options.launch,
      // Programs wait for so many ticks of a clock, which has to go on as clocks do.
      hostClock: !isReproducible(options.launch),
      onOutput: (text) => this.output.add(text),
    };
    this.#surroundings = surroundings;
    this.recorder = surroundings.recorder ?? null;
    this.hostOrder = options.checksCalls ? new HostOrder() : null;
    this.host = surroundings.host;
    this.registry = new Registry(this.host);
    this.#tellState();
  }

  get machine(): PtxDevice {
    if (this.#machine === null) {
      this.#machine = this.#surroundings.makeDevice();
      prepareMachine(this.#machine, this.#sanitizes("memory"), (text) => this.warn(text));
    }
    return this.#machine;
  }

  /** Whether what is written to device memory is noted, so that reads of other bytes can be told of. */
  get notesWrites(): boolean {
    return this.#sanitizes("init");
  }

  #sanitizes(name: SanitizerName): boolean {
    return sanitizersIn(this.options.launch.sanitize).includes(name);
  }

  get allocations(): Allocations {
    return (this.#allocations ??= new Allocations(this.machine.memory, {
      call: () => ({ name: this.callName, stack: this.callStack }),
      onFull: (text) => this.warn(text),
    }));
  }

  /** The card that all devices are. It is chosen when something first asks for it. */
  get gpu(): Gpu {
    return (this.#gpu ??= this.options.gpu ?? this.#leastGpu());
  }

  /** The first card that runs all that is registered and has PTX: what programs were compiled for fits them best. */
  #leastGpu(): Gpu {
    const files = [...this.registry.binaries].flatMap((binary) => this.#filesOf(binary));
    const withPtx = files.filter((images) => images.some(({ kind }) => kind === "ptx"));
    if (withPtx.length === 0) return gpus[defaultGpu]!;
    const fits = (gpu: Gpu): boolean => withPtx.every((images) => chooseImage(images, gpu) !== null);
    return Object.values(gpus).find(fits) ?? gpus[defaultGpu]!;
  }

  #filesOf(binary: RegisteredBinary): readonly (readonly CodeImage[])[] {
    try {
      return binary.files;
    } catch (error) {
      if (error instanceof CudaError) return [];
      throw error;
    }
  }

  /** Whether anything needed a device so far. */
  get isActive(): boolean {
    return this.#machine !== null;
  }

  /** The error that has made all further work impossible, or 0. */
  get error(): number {
    return this.#error;
  }

  /** The handle of a kernel, the same each time. */
  kernelHandle(kernel: DeviceKernel): bigint {
    let known = this.#kernelHandles.get(kernel);
    if (known === undefined) this.#kernelHandles.set(kernel, (known = this.kernels.add(kernel)));
    return known;
  }

  /** Removes a stream: from now on its handle is none. */
  removeStream(handle: bigint): void {
    this.streams.remove(handle);
    this.#removedStreams++;
    this.#tellState();
  }

  /** Notes an error after which the context is unusable. */
  break(code: number): void {
    if (this.#error === 0) this.#error = code;
    this.#tellState();
  }

  /** The captures of streams that have begun and not ended. */
  get captures(): ReadonlySet<Capture> {
    return this.#captures;
  }

  /** Notes a capture: launches may become nodes of graphs until it ends. */
  beginCapture(capture: Capture): void {
    this.#captures.add(capture);
    this.#tellState();
  }

  endCapture(capture: Capture): void {
    capture.end();
    this.#captures.delete(capture);
    this.#tellState();
  }

  /** Reads a file for the program; null if that is not possible. */
  readFile(path: string): Uint8Array | null {
    return this.#surroundings.readFile(path);
  }

  /** Writes a file for the program. */
  writeFile(path: string, text: string): void {
    try {
      this.#surroundings.writeFile(path, text);
    } catch {
      fail(errors.operatingSystem);
    }
  }

  /** Passes on what a launch has done and found. */
  noteLaunch(launch: EndedLaunch): void {
    const { reports } = launch.result;
    if (reports.length > 0) this.#surroundings.onReports(reports, this.describeStack(launch.launchedAt));
    this.#surroundings.onLaunch?.(launch);
  }

  /** Memory that the program has not freed: a line for each, if calls are checked. */
  get leaks(): readonly string[] {
    if (!this.options.checksCalls || !this.isActive) return [];
    const left = [...this.allocations.values()].filter(
      ({ kind, device, owner }) => device >= 0 && freedByProgram.has(kind) && owner?.isHeld() !== false,
    );
    return [
      ...left.map(({ call, bytes, stack }) => `${bytes} bytes of ${call} are never freed${this.stackText(stack)}`),
      ...heapLeaks(this.machine.memory),
    ];
  }

  /** Whether something waits for what the host or a kernel writes. */
  get isPolling(): boolean {
    return this.#polls > 0;
  }

  /** Waits until something holds, looking at it from time to time, or until nothing can be done any more. */
  async poll(holds: () => boolean): Promise<void> {
    this.#polls++;
    try {
      while (!holds() && this.#error === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    } finally {
      this.#polls--;
    }
  }

  /** A call of the program begins, with return addresses if calls are checked. */
  beginCall(name: string, stack: readonly bigint[]): void {
    this.callName = name;
    this.callStack = stack;
    if (stack.length > 0) this.#surroundings.noteStack?.(stack);
  }

  /** The functions and lines of a stack of the program. */
  describeStack(stack: readonly bigint[]): readonly HostFrame[] {
    return stack.length === 0 ? [] : (this.#surroundings.describeStack?.(stack) ?? []);
  }

  /** The same as lines of a message. */
  stackText(stack: readonly bigint[]): string {
    return stackLines(this.describeStack(stack))
      .map((line) => `\n${line}`)
      .join("");
  }

  /**
   * Writes an error into the log. Resolves when all functions that listen have returned: at once, if that would be to
   * wait for oneself.
   */
  async log(text: string): Promise<void> {
    this.logs.add(text);
    const isOwn = this.callbacks.isRunning;
    const calls = [...this.logListeners.values()].map((listener) =>
      this.callbacks.call({ ...listener, kind: 3, stream: 0n, status: logLevel.error, message: text }),
    );
    if (!isOwn) await Promise.all(calls);
  }

  /** Tells the user something, the same thing only once. */
  warn(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#surroundings.warn(text);
  }

  /** Tells of an access of the host that is wrong, with the stack of the program there. */
  misuse(text: string): void {
    this.warn(`${text}${this.stackText(this.callStack)}`);
    this.#surroundings.onMisuse?.(text);
  }

  /** The address of a text that stays as long as the process: in memory that the host may read. */
  text(value: string): bigint {
    return this.kept(new TextEncoder().encode(`${value}\0`));
  }

  /**
   * The address of bytes that stay as long as the process, in memory that the host may see, once it is opened to it.
   */
  kept(bytes: Uint8Array): bigint {
    const made = this.allocations.add(bytes.length, { kind: "pinned", device: -1, flags: 0 }, "the server's own");
    this.machine.memory.write(made.offset, bytes);
    return addressOf(made.offset);
  }

  #tellState(): void {
    this.#surroundings.onState({
      oneWay: this.#error === 0 && this.#captures.size === 0 && !this.options.checksCalls && this.recorder === null,
      error: this.#error,
      removedStreams: this.#removedStreams,
    });
  }
}
