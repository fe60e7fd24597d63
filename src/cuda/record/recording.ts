import { imageProblem, layImage, type ImageShape } from "../../machine/images/image.ts";
import type { ImageObject } from "../../machine/images/image-table.ts";
import type { Allocation } from "../../machine/memory/allocation.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import { fitting, UsageError } from "../../runtime/data/errors.ts";
import type { BegunLaunch } from "../../runtime/device/begin-execution.ts";
import type { Kernel, Module } from "../../runtime/device/module.ts";
import type { PtxDevice } from "../../runtime/device/ptx-device.ts";
import type { LaunchSettings } from "../../runtime/launch/launch-options.ts";
import { moduleOptions } from "../base/addresses.ts";
import type { Arrangement, LaunchChunk, ModuleChunk, ProgramChunk, RecordedObject } from "./chunk.ts";
import { type Chunk, decodeChunks, recordedPageBytes as pageBytes } from "./format.ts";

/** How a launch of a recording is run again. */
export type ReplaySettings = Omit<LaunchSettings, "args" | "onOutput">;

interface RecordedLaunch {
  readonly head: LaunchChunk;
  readonly data: Chunk["data"];
}

function damaged(why: string): never {
  throw new UsageError(`the recording is damaged: ${why}`);
}

/** The launches of a program, which can be run again on another device, each from the memory that it found. */
export class Recording {
  readonly program: ProgramChunk;
  readonly launches: readonly LaunchChunk[];
  readonly #device: PtxDevice;
  readonly #modules: readonly Module[];
  readonly #recorded: readonly RecordedLaunch[];
  /** Pages of device memory and constants as the launch of this number has found them. */
  #at = -1;
  readonly #pages = new Map<number, Uint8Array>();
  readonly #constants = new Map<string, Uint8Array>();

  /**
   * Reads a recording, and loads its modules into a device, which is for it alone.
   *
   * @throws UsageError if it is none, or is damaged
   * @throws LoadError if a module has errors
   */
  constructor(file: Uint8Array, device: PtxDevice) {
    const [first, ...rest] = decodeChunks(file);
    if (first?.head.kind !== "program") damaged("it does not begin with a program");
    this.program = first.head;
    this.#device = device;
    this.#recorded = rest.flatMap(({ head, data }) => (head.kind === "launch" ? [{ head, data }] : []));
    this.launches = this.#recorded.map(({ head }) => head);
    this.#keepFree();
    this.#modules = rest.flatMap(({ head, data }) => (head.kind === "module" ? [this.#load(head, data())] : []));
    for (const { module, kernel } of this.launches) {
      if (!this.#modules[module]?.kernels.includes(kernel)) damaged(`there is no kernel ${kernel}`);
    }
  }

  /** Begins a launch again in the interpreter, from the memory that it found: others need not have run before. */
  begin(index: number, settings: ReplaySettings, onOutput: (text: string) => void): BegunLaunch {
    const { head, data } = this.#recorded[index]!;
    this.#goTo(index);
    const { grid, block, cluster, sharedBytes, environment, paramBytes } = head;
    const params = data().subarray(0, paramBytes);
    const kernel = this.kernel(index);
    const args = kernel.ir.params.map(({ type, storage }) => {
      const at = storage.kind === "kernel" ? storage.offset : 0;
      if (at + type.size > paramBytes) damaged(`${head.kernel} has more parameters than are there`);
      return params.subarray(at, at + type.size);
    });
    const { seed, matrix } = this.program;
    return kernel.begin({
      ...(seed === undefined ? {} : { seed }),
      ...(matrix === undefined ? {} : { matrix }),
      ...settings,
      ...{ grid, block, shared: sharedBytes, args, onOutput },
      ...(cluster === undefined ? {} : { cluster }),
      ...(environment === undefined ? {} : { environment }),
    });
  }

  kernel(index: number): Kernel {
    const { module, kernel } = this.launches[index]!;
    return this.#modules[module]!.kernel(kernel);
  }

  /** Whatever else is allocated lies beyond all that was recorded. */
  #keepFree(): void {
    let end = 0;
    for (const { arrangement, pages } of this.launches) {
      for (const allocation of arrangement?.allocations ?? []) end = Math.max(end, allocation.end);
      for (const at of pages) {
        if (at % pageBytes !== 0) damaged(`there is no page at ${at}`);
        end = Math.max(end, at + pageBytes);
      }
    }
    fitting(() => this.#device.memory.keepFree(end + pageBytes));
  }

  #load({ files, variables }: ModuleChunk, data: Uint8Array): Module {
    let at = 0;
    const sources = files.map(({ path, bytes }) => {
      at += bytes;
      return { path, text: new TextDecoder().decode(data.subarray(at - bytes, at)) };
    });
    if (sources.length === 0) damaged("a module has no text");
    this.#device.memory.placeNext(variables);
    const module = this.#device.load(sources, moduleOptions);
    this.#device.memory.placeNext([]);
    if (module.ir.variables.filter(({ space }) => space === "global").length !== variables.length) {
      damaged("the variables of a module are not those of its text");
    }
    return module;
  }

  /** Gives the device the memory that a launch has found. */
  #goTo(index: number): void {
    if (index < this.#at) {
      this.#at = -1;
      this.#pages.clear();
      this.#constants.clear();
    }
    while (this.#at < index) this.#take(this.#recorded[++this.#at]!);
    const { memory } = this.#device;
    const last = this.launches.slice(0, index + 1).findLast(({ arrangement }) => arrangement !== undefined);
    if (last !== undefined) arrange(memory, last.arrangement!);
    this.#fill(memory);
    const module = this.#modules[this.launches[index]!.module]!;
    for (const [name] of module.constants) {
      const bytes = this.#constants.get(`${this.launches[index]!.module} ${name}`);
      if (bytes !== undefined) module.variable(name).writeBytes(bytes);
    }
  }

  /** Gives all allocations their bytes: pages that nobody had written to are zeros. */
  #fill(memory: DeviceMemory): void {
    const { u8 } = memory.views;
    let next = 0;
    for (const { start, end } of memory.allocations) {
      for (next = Math.max(next, start - (start % pageBytes)); next < end; next += pageBytes) {
        const page = this.#pages.get(next);
        if (page === undefined) u8.fill(0, next, next + pageBytes);
        else u8.set(page, next);
      }
    }
  }

  /** Notes what has changed before a launch. */
  #take({ head, data }: RecordedLaunch): void {
    const bytes = data();
    let at = head.paramBytes;
    const next = (length: number): Uint8Array => {
      at += length;
      if (at > bytes.length) damaged("the data of a launch is too short");
      return bytes.subarray(at - length, at);
    };
    const variables = this.#modules[head.module]!.ir.variables;
    for (const { name, bytes: length } of head.constants) {
      const known = variables.some((v) => v.space === "const" && v.name === name && v.size === length);
      if (!known) damaged(`there is no constant ${name}`);
      this.#constants.set(`${head.module} ${name}`, next(length));
    }
    for (const page of head.pages) this.#pages.set(page, next(pageBytes));
  }
}

function arrange(memory: DeviceMemory, { allocations, heap, objects }: Arrangement): void {
  let before = 0;
  for (const { start, end, name } of allocations) {
    if (start < before || end < start) damaged(`${name} overlaps another allocation`);
    before = end;
  }
  const kept = new Map(memory.allocations.map((a) => [`${a.start} ${a.end} ${a.name}`, a]));
  const all = allocations.map(({ start, end, name, freed }): Allocation => {
    const same = kept.get(`${start} ${end} ${name}`) ?? { start, end, name, perThread: false, freed };
    same.freed = freed;
    return same;
  });
  memory.assume(all, heap);
  memory.images.assume(objects.map((object) => (typeof object === "string" ? object : imageObject(memory, object))));
}

function imageObject(memory: DeviceMemory, object: RecordedObject): ImageObject {
  if (object.kind === "sampler") return { kind: "sampler", sampler: samplerOf(object) };
  const { shape, base } = object;
  const image = imageAt(memory, shape, base);
  if (object.kind === "surface") return { kind: "surface", image };
  return { kind: "texture", image, sampler: samplerOf(object), sRGB: object.sRGB };
}

/** JSON has no infinity. */
const samplerOf = ({ sampler }: Extract<RecordedObject, { sampler: unknown }>) => ({
  ...sampler,
  maxLod: sampler.maxLod ?? Infinity,
});

function imageAt(memory: DeviceMemory, shape: ImageShape, base: number): ReturnType<typeof layImage> {
  const problem = imageProblem(shape, base);
  if (problem !== null) damaged(`an image is none: ${problem}`);
  const image = layImage(shape, base);
  const around = memory.find(base);
  if (around === null || base + image.bytes > around.end) damaged("an image is not in device memory");
  return image;
}
