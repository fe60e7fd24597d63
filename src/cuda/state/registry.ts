import { type FatBinary, type CodeImage, readFatBinaries } from "../../container/index.ts";
import { decodeText } from "../../source/index.ts";
import { errors, fail } from "../base/errors.ts";
import type { HostMemory } from "../base/host-memory.ts";

const wrapperMagic = 0x4662_43b1;
const fatBinaryMagic = 0xba55_ed50;

/** Whether a file is CUDA's device runtime (libcudadevrt), which has no name in a fat binary. */
function isDeviceRuntime(images: readonly CodeImage[]): boolean {
  const ptx = images.find(({ kind }) => kind === "ptx");
  return ptx !== undefined && decodeText(ptx.read()).includes("cuda_device_runtime_cu_");
}

/** A fat binary that the program has registered: what nvcc made of a source file, or of several that it linked. */
export class RegisteredBinary {
  readonly handle: bigint;
  readonly #wrapper: bigint;
  readonly #host: HostMemory;
  #images: readonly (readonly CodeImage[])[] | null = null;

  constructor(handle: bigint, wrapper: bigint, host: HostMemory) {
    this.handle = handle;
    this.#wrapper = wrapper;
    this.#host = host;
  }

  /**
   * The images of each of its files, all of which are one program. They are read when they are first needed: many
   * programs bring libraries along of which they use little.
   */
  get files(): readonly (readonly CodeImage[])[] {
    return (this.#images ??= this.#read());
  }

  #read(): readonly (readonly CodeImage[])[] {
    const wrapper = this.#host.view(this.#wrapper, 24);
    if (wrapper.getUint32(0, true) !== wrapperMagic) fail(errors.invalidKernelImage);
    const first = wrapper.getBigUint64(8, true);
    if (wrapper.getUint32(4, true) < 2) return [this.#fatBinary(first)];
    // Linked code: what was linked is listed, as PTX that refers to each other; with CUDA's own library for kernels
    // that launch kernels, the functions of which are the machine's.
    const files: (readonly CodeImage[])[] = [];
    for (let at = wrapper.getBigUint64(16, true); at !== 0n; at += 8n) {
      const one = this.#host.u64(at);
      if (one === 0n) break;
      const images = this.#fatBinary(one);
      if (!isDeviceRuntime(images)) files.push(images);
    }
    return files.length > 0 ? files : [this.#fatBinary(first)];
  }

  #fatBinary(address: bigint): readonly CodeImage[] {
    return readFatBinary(this.#host, address).flatMap(({ images }) => images);
  }
}

/** Reads a fat binary in the program's memory. Throws a CudaError if there is none. */
export function readFatBinary(host: HostMemory, address: bigint): readonly FatBinary[] {
  const header = host.view(address, 16);
  if (header.getUint32(0, true) !== fatBinaryMagic) fail(errors.invalidKernelImage);
  const bytes = header.getUint16(6, true) + Number(header.getBigUint64(8, true));
  return readFatBinaries(host.read(address, bytes), "program").found;
}

/** A kernel that the program has registered, under the address of the function that stands for it. */
export interface RegisteredFunction {
  readonly binary: RegisteredBinary;
  readonly name: string;
}

/** A variable that the program has registered, under the address of what stands for it in the host. */
export interface RegisteredVariable {
  readonly binary: RegisteredBinary;
  readonly name: string;
  readonly bytes: number;
  readonly isConstant: boolean;
  /** Where the program wants the address of managed memory, or null. */
  readonly pointer: bigint | null;
}

/** What code that nvcc has made registers before `main`, and when libraries are loaded. */
export class Registry {
  readonly #host: HostMemory;
  readonly #binaries = new Map<bigint, RegisteredBinary>();
  readonly #functions = new Map<bigint, { readonly handle: bigint; readonly name: bigint }>();
  readonly #variables = new Map<
    bigint,
    { readonly handle: bigint; readonly name: bigint; readonly rest: Omit<RegisteredVariable, "binary" | "name"> }
  >();

  constructor(host: HostMemory) {
    this.#host = host;
  }

  addBinary(handle: bigint, wrapper: bigint): void {
    this.#binaries.set(handle, new RegisteredBinary(handle, wrapper, this.#host));
  }

  /** Forgets a binary, and all that was registered of it. Returns the functions. */
  removeBinary(handle: bigint): { readonly binary: RegisteredBinary; readonly functions: readonly bigint[] } | null {
    const binary = this.#binaries.get(handle);
    if (binary === undefined) return null;
    this.#binaries.delete(handle);
    const functions = [...this.#functions].filter(([, f]) => f.handle === handle).map(([stub]) => stub);
    for (const stub of functions) this.#functions.delete(stub);
    for (const [shadow, v] of this.#variables) if (v.handle === handle) this.#variables.delete(shadow);
    return { binary, functions };
  }

  addFunction(handle: bigint, stub: bigint, name: bigint): void {
    this.#functions.set(stub, { handle, name });
  }

  addVariable(handle: bigint, shadow: bigint, name: bigint, rest: Omit<RegisteredVariable, "binary" | "name">): void {
    this.#variables.set(shadow, { handle, name, rest });
  }

  get binaries(): IterableIterator<RegisteredBinary> {
    return this.#binaries.values();
  }

  binary(handle: bigint): RegisteredBinary | null {
    return this.#binaries.get(handle) ?? null;
  }

  /** The kernel for which a function of the host stands, or null. */
  function(stub: bigint): RegisteredFunction | null {
    const found = this.#functions.get(stub);
    const binary = found === undefined ? undefined : this.#binaries.get(found.handle);
    return binary === undefined ? null : { binary, name: this.#host.string(found!.name) };
  }

  /** The variable for which one of the host stands, or null. For managed ones, that is the pointer to them too. */
  variable(shadow: bigint): RegisteredVariable | null {
    const found = this.#variables.get(shadow);
    const binary = found === undefined ? undefined : this.#binaries.get(found.handle);
    return binary === undefined ? null : { binary, name: this.#host.string(found!.name), ...found!.rest };
  }

  /** Whether a managed variable begins at an address of device memory. */
  isManaged(address: bigint): boolean {
    return [...this.#variables.values()].some(
      ({ rest: { pointer } }) => pointer !== null && this.#host.u64(pointer) === address,
    );
  }

  /** The managed variables of a binary. */
  managed(handle: bigint): readonly RegisteredVariable[] {
    return [...this.#variables]
      .filter(([, v]) => v.handle === handle && v.rest.pointer !== null)
      .map(([shadow]) => this.variable(shadow)!);
  }
}
