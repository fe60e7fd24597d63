import type { CodeImage } from "../../container/index.ts";
import { LoadError, UsageError } from "../../runtime/data/errors.ts";
import { checkSource } from "../../runtime/device/compile.ts";
import { decodeText, hasErrors, SourceText } from "../../source/index.ts";
import { CudaError, errors, fail } from "../base/errors.ts";
import { Streams } from "../work/stream.ts";
import { addressOf, moduleOptions, offsetOf } from "../base/addresses.ts";
import type { Allocation } from "./allocations.ts";
import { imageFor, type DeviceKernel, DeviceModule } from "./device-module.ts";
import { defaultHeapBytes } from "./device-properties.ts";
import { MemoryPool } from "./memory-pool.ts";
import type { ProcessState } from "./process-state.ts";
import type { RegisteredBinary, RegisteredVariable } from "./registry.ts";

const architectureOf = (text: string): number => Number(/^[ \t]*\.target[ \t]+sm_(\d+)/m.exec(text)?.[1] ?? 0);

/** One device of a process: its context, with the modules that are loaded into it and its streams. */
export class CudaDevice {
  readonly process: ProcessState;
  readonly number: number;
  readonly streams: Streams;
  /** Limits that were set, by number. */
  readonly limits = new Map<number, bigint>();
  /** Limits that kernels which have been launched go by, by number. */
  readonly fixedLimits = new Set<number>();
  flags = 0;
  cacheConfig = 0;
  /** The devices whose memory it may use. */
  readonly peers = new Set<number>();
  #workspace: bigint | null = null;
  /** The pool that it has from the beginning. */
  readonly defaultPool: MemoryPool;
  /** The pool of allocations that name none. */
  pool: MemoryPool;
  readonly #modules = new Map<RegisteredBinary, DeviceModule | CudaError>();
  /** The kernels for which functions of the host stand, as far as they have been asked for. */
  readonly #kernels = new Map<bigint, DeviceKernel>();
  readonly #constants = new Map<DeviceModule, Map<string, Allocation>>();

  constructor(process: ProcessState, number: number) {
    this.process = process;
    this.number = number;
    this.streams = new Streams(number, process.hostOrder);
    process.streams.add(this.streams.legacy, this.streams.legacy.handle);
    this.defaultPool = this.pool = new MemoryPool(process.allocations, number);
    process.pools.add(this.defaultPool, this.defaultPool.handle);
  }

  /** Where the blocks of cooperative launches count each other: two words. */
  get cooperativeWorkspace(): bigint {
    if (this.#workspace === null) {
      const about = { kind: "constant", device: this.number, flags: 0 } as const;
      const made = this.process.allocations.add(256, about, "the workspace of cooperative launches");
      this.process.machine.memory.views.i32[made.offset >>> 2] = 8;
      this.#workspace = addressOf(made.offset);
    }
    return this.#workspace;
  }

  /** The module of a registered binary, which is loaded when it is first needed. Throws if that is not possible. */
  moduleOf(binary: RegisteredBinary): DeviceModule {
    let known = this.#modules.get(binary);
    if (known === undefined) this.#modules.set(binary, (known = this.#tryToLoad(binary.files)));
    if (known instanceof CudaError) throw known;
    return known;
  }

  #tryToLoad(files: readonly (readonly CodeImage[])[]): DeviceModule | CudaError {
    try {
      return this.load(files);
    } catch (error) {
      if (error instanceof CudaError) return error;
      throw error;
    }
  }

  /** Loads a program, of each of whose files one image is taken. Throws if none fits, or it has errors. */
  load(files: readonly (readonly CodeImage[])[]): DeviceModule {
    const { gpu } = this.process;
    const chosen = files.map((images) => imageFor(images, gpu));
    return this.loadText(chosen.map((image) => decodeText(image.read())));
  }

  /** Loads PTX; several texts are linked. Throws if they have errors. */
  loadText(texts: readonly string[]): DeviceModule {
    const name = (i: number): string => (texts.length === 1 ? "program.ptx" : `program-${i + 1}.ptx`);
    try {
      const files = texts.map((text, i) => ({ path: name(i), text }));
      const module = this.process.machine.load(files, moduleOptions);
      this.process.recorder?.module(module, files);
      return new DeviceModule(module, Math.max(0, ...texts.map(architectureOf)));
    } catch (error) {
      if (error instanceof LoadError) this.#refuse(error);
      if (error instanceof UsageError) throw new CudaError(errors.memoryAllocation, error.message);
      throw error;
    }
  }

  /** Throws if a text has errors of its own: what it lacks may be in another to which it is linked. */
  checkText(text: string): void {
    const { diagnostics } = checkSource(new SourceText("program.ptx", text), moduleOptions);
    if (hasErrors(diagnostics)) this.#refuse(new LoadError(diagnostics));
  }

  #refuse({ message }: LoadError): never {
    this.process.warn(message);
    throw new CudaError(errors.invalidPtx, message);
  }

  /** Forgets what was loaded of a binary. */
  unload(binary: RegisteredBinary): void {
    const known = this.#modules.get(binary);
    this.#modules.delete(binary);
    this.#kernels.clear();
    if (known instanceof DeviceModule) this.free(known);
  }

  /** Frees the variables of a module that is not used any more. */
  free(loaded: DeviceModule): void {
    this.#constants.delete(loaded);
    const { module } = loaded;
    for (const name of module.variables) {
      const variable = module.variable(name);
      if (variable.space === "global") this.process.machine.memory.free(offsetOf(variable.address)!);
    }
  }

  /** The kernel for which a function of the host stands. Throws if there is none. */
  kernelOf(stub: bigint): DeviceKernel {
    let known = this.#kernels.get(stub);
    if (known === undefined) {
      const found = this.process.registry.function(stub) ?? fail(errors.invalidDeviceFunction);
      this.#kernels.set(stub, (known = this.moduleOf(found.binary).kernel(found.name)));
    }
    return known;
  }

  /** The device memory of a variable of a module. Constants have a copy there, which is kept equal. */
  addressOf(module: DeviceModule, name: string): bigint {
    const variable = module.variable(name);
    if (variable.space === "global") return variable.address;
    const copies = this.#constants.get(module) ?? new Map<string, Allocation>();
    this.#constants.set(module, copies);
    let known = copies.get(name);
    if (known === undefined) {
      const { memory } = this.process.machine;
      const about = { kind: "constant", device: this.number, flags: 0 } as const;
      const copy: Allocation = this.process.allocations.add(
        variable.byteLength,
        { ...about, written: () => variable.writeBytes(memory.read(copy.offset, copy.bytes)) },
        `\`${name}\``,
      );
      memory.write(copy.offset, variable.readBytes());
      copies.set(name, (known = copy));
    }
    return addressOf(known.offset);
  }

  /** The device memory of a registered variable, and its size. */
  variableAddress({ binary, name }: RegisteredVariable): bigint {
    return this.addressOf(this.moduleOf(binary), name);
  }

  /** Frees what device code has allocated. All devices have one heap here, which stays as long as others use it. */
  #resetHeap(): void {
    const { memory } = this.process.machine;
    memory.heap.limit = defaultHeapBytes;
    if (this.process.options.devices > 1) return;
    for (const offset of [...memory.heap]) {
      memory.heap.delete(offset);
      memory.free(offset);
    }
  }

  /** Forgets everything: memory, modules, streams. */
  reset(): void {
    const { allocations, streams } = this.process;
    for (const module of this.#modules.values()) if (module instanceof DeviceModule) this.free(module);
    this.#modules.clear();
    this.#kernels.clear();
    this.#constants.clear();
    this.#workspace = null;
    allocations.freeAll(this.number);
    for (const [handle, stream] of streams.entries()) {
      if (stream.device !== this.number || stream.kind === "legacy") continue;
      this.streams.remove(stream);
      this.process.removeStream(handle);
    }
    for (const [handle, event] of this.process.events.entries()) {
      if (event.device === this.number) this.process.events.remove(handle);
    }
    this.pool = this.defaultPool;
    this.pool.reset();
    this.limits.clear();
    this.fixedLimits.clear();
    this.#resetHeap();
    this.peers.clear();
    this.flags = 0;
    this.cacheConfig = 0;
  }
}
