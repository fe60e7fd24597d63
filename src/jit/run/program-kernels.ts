import type { LaunchRequest } from "../../machine/launch.ts";
import type { ProgramFunction } from "../../machine/state/code.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { Program } from "../../program/program.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import { type KnownParameter, valuesIn } from "../abi/known-parameter.ts";
import type { ChunkWidth } from "../abi/launch-shape.ts";
import type { CompilableKernel, Compiler } from "./compiler.ts";
import { CachedKernel, featuresFor, type KernelCache, type NotedLaunch, type NotedShape } from "./kernel-cache.ts";
import { keyOf, launchKeyOf, placesOf } from "./launch-traits.ts";
import { expectedTime, LoadedKernel, type NativeTier } from "./loaded-kernel.ts";
import type { KnownBlocks } from "./regrouping.ts";
import { orWhyNot } from "./why-not.ts";

/** What finds kernels for a program's launches: the compiler, and what has been found before. */
interface KernelSources {
  readonly program: Program;
  /** The width of chunks that is asked for, or null. */
  readonly width: ChunkWidth | null;
  /** Kernels that have been compiled before. */
  readonly cache: KernelCache | null;
  /** What makes machine code of kernels, and when. */
  readonly native: NativeTier | null;
  /** Whether kernels are hot from their first launch on, as those are later that have run for long. */
  readonly isHot: boolean;
  /** Is opened when it is first needed. */
  readonly compiler: () => Compiler;
  /** The byte of memory where the module's constants lie. */
  readonly constantsAt: () => number;
}

/** A kernel that is loaded before it is launched. */
export interface PreparedKernel {
  /** What has been noted of the launch for which it is. */
  readonly noted: NotedLaunch;
  /** What the kernel knows of its threads in those blocks, if that has been looked at. */
  readonly threads: KnownBlocks | null;
  readonly loaded: LoadedKernel;
}

/** The launch that is noted as a kernel's first one. */
interface FirstLaunch {
  readonly launch: string;
  /** Whether there may be another kernel for it. */
  readonly isEarly: boolean;
  /** The kernel that was loaded for it before it came, or null: if nothing has launched it, another launch is first. */
  readonly prepared: LoadedKernel | null;
}

/** Tells launches apart that need different kernels for other values of some parameters. */
const withValues = (launch: string, { params }: LaunchRequest, parameters: readonly KnownParameter[]): string =>
  `${launch} with ${valuesIn(params, parameters)}`;

/** A program's compiled kernels, loaded into its device, by name and shape. */
export class ProgramKernels {
  readonly #sources: KernelSources;
  readonly #known = new Map<string, LoadedKernel | string>();
  /** Those that nothing has launched so far, by their keys in the cache. */
  readonly #prepared = new Map<string, LoadedKernel>();
  /** By launches, the parameters that decide which of several kernels runs. */
  readonly #parameters = new Map<string, readonly KnownParameter[]>();
  /** By kernel. */
  readonly #firstLaunches = new Map<string, FirstLaunch>();
  /** Launches whose kernel has run for long, here or in an earlier process. */
  readonly #hot = new Set<string>();
  /** Launches for which there may be another kernel then. */
  readonly #early = new Set<string>();

  constructor(sources: KernelSources) {
    this.#sources = sources;
  }

  /**
   * Loads the kernel that a launch needs which is like the first one of an earlier process, if a store has kept it.
   * Nothing is compiled, and nothing is placed in the device's memory. Returns that launch and the kernel, or null.
   */
  prepare(name: string): PreparedKernel | null {
    const { program, cache } = this.#sources;
    const code = program.functionNamed(name);
    const noted = cache?.firstLaunchOf(name) ?? null;
    if (cache === null || code === null || noted?.isShared !== program.memory.isShared) return null;
    cache.shapeOf(noted.launch);
    const threads = cache.recalled(this.#threadsOf(name, noted.asked)) as KnownBlocks | null;
    const key = this.#cacheKey(noted.kernel, noted.places);
    const load = (cached: CachedKernel): LoadedKernel => this.#load(cached, code, noted, noted.blockMs);
    const found = orWhyNot(() => cache.known(key, load));
    if (!(found instanceof LoadedKernel)) return null;
    this.#prepared.set(key, found);
    // Every launch asks for it; it is found once.
    program.obstacleOf(code.ir);
    return { noted, threads, loaded: found };
  }

  /**
   * Whether a launch like one certainly gets the kernel that has been prepared, as long as it has not run for long. If
   * so, `find` need not be asked for it.
   */
  isFor(request: LaunchRequest, { noted, loaded }: PreparedKernel): boolean {
    const { cache, program } = this.#sources;
    // Where the module's constants will lie is not known before a launch.
    if (program.constants.extents.length > 0 || this.#places() !== noted.places) return false;
    const launch = this.#launchKeyOf(request);
    const shape = cache?.shapeOf(launch) ?? null;
    if (cache === null || launch !== noted.launch || shape === null || shape.parameters.length > 0) return false;
    const { isEarly } = shape;
    if ((isEarly && this.#isHot(launch)) || keyOf(request, shape) !== noted.kernel) return false;
    if (!isEarly) this.#hot.add(launch);
    this.#noteEarly(launch, isEarly);
    this.#firstLaunches.set(request.kernel, { launch, isEarly, prepared: loaded });
    cache.noteFirstLaunch(request.kernel, noted, loaded.time);
    return true;
  }

  /** The kernel of a launch, or why it cannot be compiled. `isHot`: whether such launches have run for long. */
  find(request: LaunchRequest, isHot: boolean): LoadedKernel | string {
    const { program, cache, compiler } = this.#sources;
    const code = program.functionNamed(request.kernel);
    if (code === null) return "there is no such kernel";
    const launch = this.#launchKeyOf(request);
    if (isHot) this.#hot.add(launch);
    const before = this.#foundBefore(code, launch, request);
    if (before !== null) {
      this.#noteFirst(request, launch, before);
      return before;
    }
    const found = compiler().prepare(request, this.#isHot(launch));
    const { shape, parameters, isEarly } = found;
    this.#parameters.set(launch, parameters);
    this.#noteEarly(launch, isEarly);
    const key = keyOf(request, shape);
    let known = this.#known.get(key);
    if (known === undefined) this.#known.set(key, (known = this.#compile(found, code, request)));
    if (typeof known !== "string" && found.isLasting) {
      cache?.noteShape(launch, { ...shape, parameters, isEarly });
      if (parameters.length > 0)
        cache?.noteShape(withValues(launch, request, parameters), { ...shape, parameters: [], isEarly });
      this.#noteFirst(request, launch, known);
    }
    return known;
  }

  /** The parameters by which the kernel was found that launches like one need: for other values it may be another. */
  parametersFor(request: LaunchRequest): readonly KnownParameter[] {
    return this.#parameters.size === 0 ? [] : (this.#parameters.get(this.#launchKeyOf(request)) ?? []);
  }

  /** Whether there may be another kernel for launches like one, which has been found, once they have run for long. */
  isEarly(request: LaunchRequest): boolean {
    return this.#early.size > 0 && this.#early.has(this.#launchKeyOf(request));
  }

  #noteEarly(launch: string, isEarly: boolean): void {
    if (isEarly) this.#early.add(launch);
    else this.#early.delete(launch);
  }

  #isHot(launch: string): boolean {
    return this.#sources.isHot || this.#hot.has(launch);
  }

  /** Compiled code has given up a launch: later ones of the kernel, with blocks of the same shape, are not tried. */
  refuse(request: LaunchRequest, reason: string): void {
    const launch = this.#launchKeyOf(request);
    const { shape } = this.#sources.compiler().prepare(request, this.#isHot(launch));
    const noted = this.#notedShape(launch, request) ?? shape;
    for (const own of [shape, noted]) this.#known.set(keyOf(request, own), reason);
  }

  /** What a kernel knows of its threads in blocks of one size; null where it stays in them. */
  threadsIn(kernel: string, block: Dim3): KnownBlocks | null {
    const { cache, compiler } = this.#sources;
    const find = (): KnownBlocks | null => compiler().threadsIn(kernel, block);
    return cache === null ? find() : cache.noted(this.#threadsOf(kernel, block), find);
  }

  /** What the cache knows that under. */
  #threadsOf(kernel: string, block: Dim3): string {
    return `${this.#sources.width} threads of ${kernel} ${block.join()}`;
  }

  #launchKeyOf(request: LaunchRequest): string {
    const { width, program } = this.#sources;
    return launchKeyOf(request, width, program.memory.isShared);
  }

  /** The shape of the kernel that a launch needs, if it is known; else null. */
  #notedShape(launch: string, request: LaunchRequest): NotedShape | null {
    const { cache } = this.#sources;
    const noted = cache?.shapeOf(launch) ?? null;
    if (noted?.isEarly === false) this.#hot.add(launch);
    if (cache === null || noted === null || noted.parameters.length === 0) return noted;
    const found = cache.shapeOf(withValues(launch, request, noted.parameters));
    if (found !== null) this.#parameters.set(launch, noted.parameters);
    return found;
  }

  /** A kernel of the cache for launches of which it is known what they need; null if there is none. */
  #foundBefore(code: ProgramFunction, launch: string, request: LaunchRequest): LoadedKernel | string | null {
    const { cache } = this.#sources;
    const shape = this.#notedShape(launch, request);
    if (cache === null || shape === null || (shape.isEarly && this.#isHot(launch))) return null;
    this.#noteEarly(launch, shape.isEarly);
    const key = keyOf(request, shape);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const load = (cached: CachedKernel): LoadedKernel => this.#load(cached, code, request);
    const cacheKey = this.#cacheKey(key);
    const found = this.#prepared.get(cacheKey) ?? orWhyNot(() => cache.known(cacheKey, load));
    if (found !== null) this.#known.set(key, found);
    return found;
  }

  /** Notes for later processes how the first launch of a kernel was found. */
  #noteFirst(request: LaunchRequest, launch: string, found: LoadedKernel | string): void {
    const { program, cache } = this.#sources;
    const { kernel, block, grid, sharedBytes, asked } = request;
    if (cache === null || typeof found === "string") return;
    const isEarly = this.#early.has(launch);
    const first = this.#firstLaunches.get(kernel);
    const isUnused = first === undefined || (first.prepared !== null && first.prepared.time.ms === null);
    // The next process begins with what has been found for that launch since it was noted.
    if (!isUnused && (first.launch !== launch || !first.isEarly || isEarly)) return;
    this.#firstLaunches.set(kernel, { launch, isEarly, prepared: null });
    const noted = {
      launch,
      kernel: keyOf(request, found.kernel.shape),
      places: this.#places(),
      block,
      asked: asked?.block ?? block,
      grid: asked?.grid ?? grid,
      sharedBytes,
      isShared: program.memory.isShared,
    };
    cache.noteFirstLaunch(kernel, noted, found.time);
  }

  #compile(found: CompilableKernel, code: ProgramFunction, request: LaunchRequest): LoadedKernel | string {
    const { cache } = this.#sources;
    return orWhyNot(() => {
      const compile = (): CompiledKernel => found.compile(featuresFor(cache));
      const load = (cached: CachedKernel): LoadedKernel => this.#load(cached, code, request);
      const key = this.#cacheKey(keyOf(request, found.shape));
      return cache === null ? load(new CachedKernel(compile())) : cache.find(key, compile, load);
    });
  }

  #load(
    found: CachedKernel,
    { ir }: ProgramFunction,
    { block }: Pick<LaunchRequest, "block">,
    notedMs: number | null = null,
  ): LoadedKernel {
    const { program, native } = this.#sources;
    return new LoadedKernel(found, program.memory, expectedTime(ir, block), native, notedMs);
  }

  #cacheKey(key: string, places = this.#places()): string {
    const { fusedMadd, laneSelect } = featuresFor(this.#sources.cache);
    return `${key} ${fusedMadd} ${laneSelect} ${places}`;
  }

  #places(): string {
    return placesOf(this.#sources.program, this.#sources.constantsAt);
  }
}
