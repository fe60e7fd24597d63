import {
  codeTag,
  type Features,
  hostModule,
  isOptimizedAsUsual,
  machineFeatures,
  moduleWithCode,
} from "../../wasm/index.ts";
import { type Dim3, isSameDim3 } from "../../machine/reports/report.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { RunBlocks } from "../abi/native-code.ts";
import type { KernelStore } from "../abi/kernel-store.ts";
import type { KnownParameter } from "../abi/known-parameter.ts";
import type { LaunchShape } from "../abi/launch-shape.ts";
import { atEnd } from "./at-end.ts";
import { type KeptCode, keepCodeAtEnd } from "./code-at-end.ts";
import { decodeKernel, encodeKernel } from "./kernel-encoding.ts";

/**
 * A compiled kernel and its module, which devices may share. The host compiles the module when it is first asked for:
 * where machine code runs, it never is.
 */
export class CachedKernel {
  readonly kernel: CompiledKernel;
  #module: WebAssembly.Module | null = null;
  #tiles: WebAssembly.Module | null = null;
  readonly #code: KeptCode | null;
  /** Bytes of the code with which the module began. */
  #knownCode = 0;

  /** `code`: what the host has compiled of the module in earlier processes. */
  constructor(kernel: CompiledKernel, code: KeptCode | null = null) {
    this.kernel = kernel;
    this.#code = code;
  }

  /**
   * @throws NotAllowed if the host refuses a module that is valid
   * @throws WebAssembly.CompileError if it is not, as an entry of a store may be
   */
  get module(): WebAssembly.Module {
    return (this.#module ??= this.#compiled());
  }

  #compiled(): WebAssembly.Module {
    const { bytes, optimizingTime } = this.kernel;
    const code = this.#keepsCode ? this.#code!.read() : null;
    const known = code === null ? null : moduleWithCode(bytes, code);
    if (known === null) return hostModule(bytes, optimizingTime);
    this.#knownCode = code!.length;
    return known;
  }

  /** Whether the module has begun with code that the host had optimized. */
  get beginsOptimized(): boolean {
    return this.#knownCode > 0;
  }

  /** Whether what the host optimizes of the module is kept. */
  get #keepsCode(): boolean {
    return this.#code !== null && isOptimizedAsUsual(this.kernel.optimizingTime);
  }

  /** Notes that the module runs: `run` is of an instance. */
  noteRun(run: RunBlocks): void {
    if (this.#keepsCode) keepCodeAtEnd(this.#code!, this.module, run, this.#knownCode);
  }

  /** The module of the functions that multiply matrices; null if they are in the kernel's. */
  get tiles(): WebAssembly.Module | null {
    if (this.kernel.tiles.length === 0) return null;
    return (this.#tiles ??= hostModule(this.kernel.tiles, 0));
  }
}

/** The shape of a kernel, and the parameters of which other values may need another: then it is that of the latest. */
export interface NotedShape extends LaunchShape {
  readonly parameters: readonly KnownParameter[];
  /** See `FoundShape`. */
  readonly isEarly: boolean;
}

/** A launch of a kernel, as far as it says what the next process will need. */
export interface NotedLaunch {
  /** What tells it from launches whose kernel may have another shape. */
  readonly launch: string;
  /** What tells its kernel from others of the program. */
  readonly kernel: string;
  /** The addresses on which its code depends. */
  readonly places: string;
  /** Its blocks, and what was asked for. */
  readonly block: Dim3;
  readonly asked: Dim3;
  readonly grid: Dim3;
  readonly sharedBytes: number;
  /** Whether several threads of the host could use the device's memory. */
  readonly isShared: boolean;
  /** Milliseconds that a block of its kernel took, last of all; null if that is not known. */
  readonly blockMs: number | null;
}

/** Bytes of modules that are kept in memory, at most; what the host compiles them to is larger. */
const maxBytes = 2 ** 24;

/** Notes on kernels and launches that are kept in memory, at most. */
const maxNotes = 1000;

/** The kernels that a process has used most recently. */
export class RecentKernels {
  readonly #maxBytes: number;
  /** In the order of their last use. */
  readonly #kernels = new Map<string, CachedKernel>();
  readonly #notes = new Map<string, unknown>();
  #bytes = 0;

  constructor(maxKept = maxBytes) {
    this.#maxBytes = maxKept;
  }

  get(key: string): CachedKernel | null {
    const found = this.#kernels.get(key);
    if (found === undefined) return null;
    this.#kernels.delete(key);
    this.#kernels.set(key, found);
    return found;
  }

  /** Adds a kernel, unless it is larger than all that may be kept; the least recently used ones go. */
  add(key: string, added: CachedKernel): void {
    const size = added.kernel.bytes.length + added.kernel.tiles.length;
    if (size > this.#maxBytes || this.#kernels.has(key)) return;
    this.#kernels.set(key, added);
    this.#bytes += size;
    for (const [oldest, { kernel }] of this.#kernels) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#kernels.delete(oldest);
      this.#bytes -= kernel.bytes.length + kernel.tiles.length;
    }
  }

  /** What has been noted under a key; undefined if nothing has. */
  noteOf(key: string): unknown {
    return this.#notes.get(key);
  }

  note(key: string, value: unknown): void {
    if (this.#notes.size >= maxNotes) this.#notes.clear();
    this.#notes.set(key, value);
  }
}

const ofProcess = new RecentKernels();

/**
 * The compiled kernels of a program: from this process's memory, from a store, or compiled anew. Keys begin with what
 * tells the program from all others.
 */
export class KernelCache {
  readonly #program: string;
  readonly #store: KernelStore | null;
  readonly #recent: RecentKernels;

  /** `recent`: the kernels in memory, usually of all programs of the process. */
  constructor(program: string, store: KernelStore | null, recent = ofProcess) {
    this.#program = program;
    this.#store = store;
    this.#recent = recent;
  }

  /** Finds a kernel, or compiles it, and loads it. If `compile` or `load` throws, so does this: nothing is kept. */
  find<T>(kernel: string, compile: () => CompiledKernel, load: (found: CachedKernel) => T): T {
    const known = this.known(kernel, load);
    if (known !== null) return known;
    const key = this.#keyOf(kernel);
    const found = new CachedKernel(compile(), this.#codeOf(key));
    const loaded = load(found);
    this.#recent.add(key, found);
    this.#store?.write(key, encodeKernel(found.kernel));
    return loaded;
  }

  /** Loads a kernel that has been compiled before; null if there is none. */
  known<T>(kernel: string, load: (found: CachedKernel) => T): T | null {
    const key = this.#keyOf(kernel);
    const recent = this.#recent.get(key);
    if (recent !== null) return load(recent);
    const stored = this.#stored(key);
    if (stored === null) return null;
    try {
      const loaded = load(stored);
      this.#recent.add(key, stored);
      return loaded;
    } catch (error) {
      if (!(error instanceof WebAssembly.CompileError)) throw error;
      this.#store?.remove(key);
      return null;
    }
  }

  #keyOf(name: string): string {
    return `${this.#program} ${name}`;
  }

  /**
   * The shape for which the kernel of launches like one is compiled, if it has been found before: to find it takes an
   * analysis of the kernel, which needs nothing of that where it has been compiled.
   */
  shapeOf(launch: string): NotedShape | null {
    return (this.#noteOf(shapeOf(launch)) ?? null) as NotedShape | null;
  }

  /** Notes the shape of launches for which there is a kernel. What holds for early launches gives way to what lasts. */
  noteShape(launch: string, shape: NotedShape): void {
    const name = shapeOf(launch);
    const before = this.#recent.noteOf(this.#keyOf(name)) as NotedShape | undefined;
    if (before === undefined || (before.isEarly && !shape.isEarly)) this.#write(name, shape);
  }

  /** What an analysis finds, which is noted for other processes; as JSON has it. */
  noted<T>(name: string, find: () => T): T {
    const known = this.#noteOf(name);
    if (known !== undefined) return known as T;
    const found = find();
    this.#note(name, found);
    return found;
  }

  /** What is noted under a name; null if nothing is. */
  recalled(name: string): unknown {
    return this.#noteOf(name) ?? null;
  }

  /** What the latest process has noted of the first launch of a kernel; null if none has. */
  firstLaunchOf(kernel: string): NotedLaunch | null {
    return (this.#noteOf(firstLaunchOf(kernel)) ?? null) as NotedLaunch | null;
  }

  /** Notes the first launch of a kernel in this process, and when the process ends the time that a block has taken. */
  noteFirstLaunch(kernel: string, launch: Omit<NotedLaunch, "blockMs">, time: { readonly ms: number | null }): void {
    if (this.#store === null) return;
    const name = firstLaunchOf(kernel);
    const before = this.firstLaunchOf(kernel);
    const blockMs = before?.blockMs ?? null;
    const isKnown = before !== null && isSameLaunch(before, launch);
    if (!isKnown) this.#write(name, { ...launch, blockMs: null });
    const notedMs = isKnown ? blockMs : null;
    atEnd(this.#keyOf(name), () => {
      const { ms } = time;
      if (ms === null || isAbout(ms, notedMs) || this.firstLaunchOf(kernel)?.launch !== launch.launch) return;
      this.#write(name, { ...launch, blockMs: ms });
    });
  }

  #noteOf(name: string): unknown {
    const key = this.#keyOf(name);
    const known = this.#recent.noteOf(key);
    if (known !== undefined) return known;
    const entry = this.#store?.read(key) ?? null;
    if (entry === null) return undefined;
    try {
      const value: unknown = JSON.parse(new TextDecoder().decode(entry));
      this.#recent.note(key, value);
      return value;
    } catch {
      this.#store?.remove(key);
      return undefined;
    }
  }

  #note(name: string, value: unknown): void {
    if (this.#recent.noteOf(this.#keyOf(name)) === undefined) this.#write(name, value);
  }

  #write(name: string, value: unknown): void {
    const key = this.#keyOf(name);
    this.#recent.note(key, value);
    this.#store?.write(key, new TextEncoder().encode(JSON.stringify(value)));
  }

  /** Where the code that the host has compiled of a kernel is kept, which is asked for if its module is to run. */
  #codeOf(key: string): KeptCode | null {
    const store = this.#store;
    if (store === null) return null;
    const using = <T>(use: (codeKey: string) => T): T | null => {
      const tag = codeTag();
      return tag === null ? null : use(`${key} as code of ${tag}`);
    };
    return { read: () => using((k) => store.read(k)), write: (code) => void using((k) => store.write(k, code)) };
  }

  #stored(key: string): CachedKernel | null {
    const entry = this.#store?.read(key) ?? null;
    if (entry === null) return null;
    try {
      return new CachedKernel(decodeKernel(entry), this.#codeOf(key));
    } catch {
      this.#store?.remove(key);
      return null;
    }
  }
}

/** The machine's features, which the cache may know: to detect them takes longer than to load a kernel. */
export const featuresFor = (cache: KernelCache | null): Features =>
  machineFeatures(cache === null ? undefined : (tag, find) => cache.noted(`features of ${tag}`, find));

/** Whether a time is noted so well that it need not be written once more. */
const isAbout = (ms: number, notedMs: number | null): boolean =>
  notedMs !== null && Math.max(ms, notedMs) <= 2 * Math.min(ms, notedMs);

/** What the first launch of a kernel is noted under. */
const firstLaunchOf = (kernel: string): string => `first launch of ${kernel}`;

/** Whether the next process would need the same for two launches. */
const isSameLaunch = (a: NotedLaunch, b: Omit<NotedLaunch, "blockMs">): boolean =>
  a.launch === b.launch &&
  a.kernel === b.kernel &&
  a.places === b.places &&
  a.sharedBytes === b.sharedBytes &&
  a.isShared === b.isShared &&
  isSameDim3(a.block, b.block) &&
  isSameDim3(a.asked, b.asked) &&
  isSameDim3(a.grid, b.grid);

/** What the shape of launches is noted under. */
const shapeOf = (launch: string): string => `shape of ${launch}`;
