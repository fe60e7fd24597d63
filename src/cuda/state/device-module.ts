import type { CodeImage } from "../../container/index.ts";
import { NotExecutableError } from "../../runtime/data/errors.ts";
import type { ModuleVariable } from "../../runtime/data/module-variable.ts";
import { externalCalls, sharedNeeds } from "../../runtime/device/kernel-needs.ts";
import type { Kernel, Module } from "../../runtime/device/module.ts";
import { CudaError, errors, fail } from "../base/errors.ts";
import { limitNumber } from "./device-properties.ts";
import { capabilityOf, type Gpu, sharedPerBlock } from "./gpu.ts";

/** Where a parameter lies in the block of all. */
export interface ParameterPlace {
  readonly at: number;
  readonly bytes: number;
}

/** What a program has set in a kernel for launches that bring neither sizes nor arguments along. */
export interface PresetLaunch {
  block: readonly [number, number, number];
  shared: number;
  /** Null: none are set. */
  params: Uint8Array | null;
}

/** Further attributes of functions by number: the height and the depth of clusters follow the width. */
const hint = { carveout: 9, clusterMustBeSet: 10, clusterWidth: 11 } as const;

/** A kernel of a module, with what programs ask of it and may set. */
export class DeviceKernel {
  readonly kernel: Kernel;
  readonly module: DeviceModule;
  readonly parameters: readonly ParameterPlace[];
  /** Bytes of all parameters. */
  readonly parameterBytes: number;
  /** The most threads of a block. */
  readonly maxThreads: number;
  /** Bytes of shared memory that it declares. */
  readonly staticShared: number;
  /** The most bytes of dynamic shared memory that a launch may ask for now. */
  maxDynamicShared: number;
  /** The limits of the device that cannot be set any more once it has run. */
  readonly fixedLimits: readonly number[];
  /** Further attributes that were set, by number: hints. */
  readonly hints = new Map<number, number>();
  readonly preset: PresetLaunch = { block: [1, 1, 1], shared: 0, params: null };
  readonly #mayWait = new Map<string, boolean>();

  constructor(kernel: Kernel, module: DeviceModule) {
    this.kernel = kernel;
    this.module = module;
    const { params, bounds } = kernel.ir;
    this.parameters = params.map(({ type, storage }) => ({
      at: storage.kind === "kernel" ? storage.offset : 0,
      bytes: type.size,
    }));
    this.parameterBytes = Math.max(0, ...this.parameters.map(({ at, bytes }) => at + bytes));
    const { reqntid, maxntid } = bounds;
    const most = reqntid ?? maxntid;
    this.maxThreads = most ? Math.min(1024, most[0] * most[1] * most[2]) : 1024;
    this.staticShared = sharedNeeds(module.module.ir, kernel.ir).bytes;
    this.maxDynamicShared = Math.max(0, sharedPerBlock - this.staticShared);
    const calls = externalCalls(module.module.ir, kernel.ir);
    this.fixedLimits = [
      ...(calls.has("vprintf") ? [limitNumber.printfBytes] : []),
      ...(calls.has("malloc") || calls.has("free") ? [limitNumber.heapBytes] : []),
    ];
  }

  /** Bytes of constant memory that its module declares. */
  get constantBytes(): number {
    const { variables } = this.module.module.ir;
    return variables.reduce((sum, { space, size }) => (space === "const" ? sum + size : sum), 0);
  }

  /** Bytes of local memory that it declares for each thread: what an assembler would add is not known. */
  get localBytes(): number {
    return this.kernel.ir.frame.reduce((sum, { size }) => sum + size, 0);
  }

  /** A further attribute: what was set, or what the kernel itself says of clusters. */
  hintOr(attribute: number): number {
    const { reqnctapercluster, explicitcluster } = this.kernel.ir.bounds;
    if (attribute === hint.clusterMustBeSet) return explicitcluster || reqnctapercluster ? 1 : 0;
    const known = this.hints.get(attribute) ?? reqnctapercluster?.[attribute - hint.clusterWidth];
    return known ?? (attribute === hint.carveout ? -1 : 0);
  }

  /** Whether a launch may wait for others. The answer for one size of blocks is kept. */
  mayWait(key: string, ask: () => boolean): boolean {
    let known = this.#mayWait.get(key);
    if (known === undefined) this.#mayWait.set(key, (known = ask()));
    return known;
  }
}

/** A program that is loaded into a device. */
export class DeviceModule {
  readonly module: Module;
  /** The architecture for which its PTX was written: 75. */
  readonly architecture: number;
  readonly #kernels = new Map<string, DeviceKernel>();

  constructor(module: Module, architecture: number) {
    this.module = module;
    this.architecture = architecture;
  }

  /** Throws if there is none, or it cannot be executed. */
  kernel(name: string, missing: number = errors.invalidDeviceFunction): DeviceKernel {
    let known = this.#kernels.get(name);
    if (known !== undefined) return known;
    if (!this.module.kernels.includes(name)) fail(missing);
    const kernel = this.module.kernel(name);
    try {
      kernel.requireExecutable();
    } catch (error) {
      if (error instanceof NotExecutableError) throw new CudaError(errors.notSupported, error.message);
      throw error;
    }
    this.#kernels.set(name, (known = new DeviceKernel(kernel, this)));
    return known;
  }

  /** Throws if there is none. */
  variable(name: string, missing: number = errors.invalidSymbol): ModuleVariable {
    if (!this.module.variables.includes(name)) fail(missing);
    return this.module.variable(name);
  }
}

/** How well PTX for an architecture (`sm_90a`) fits a card: more is better; less than 0 if it does not run on it. */
export function fitOf(architecture: string, gpu: Gpu): number {
  const have = capabilityOf(gpu);
  const [, digits = "0", suffix = ""] = /^sm_(\d+)([af]?)$/.exec(architecture) ?? [];
  const wants = Number(digits);
  if (suffix === "a" ? wants !== have : wants > have) return -1;
  if (suffix === "f" && Math.floor(wants / 10) !== gpu.major) return -1;
  return 2 * wants + (suffix === "" ? 0 : 1);
}

/** The image of a file that fits a card best, or null. */
export function chooseImage(images: readonly CodeImage[], gpu: Gpu): CodeImage | null {
  const rank = ({ kind, architecture }: CodeImage): number => (kind === "ptx" ? fitOf(architecture, gpu) : -1);
  const [best] = images.toSorted((a, b) => rank(b) - rank(a));
  return best === undefined || rank(best) < 0 ? null : best;
}

/** The same. Throws, and says how the program has to be built, if there is none. */
export function imageFor(images: readonly CodeImage[], gpu: Gpu): CodeImage {
  return chooseImage(images, gpu) ?? unfit(images, gpu);
}

function unfit(images: readonly CodeImage[], gpu: Gpu): never {
  const of = (kind: CodeImage["kind"]): string =>
    [...new Set(images.filter((image) => image.kind === kind).map(({ architecture }) => architecture))].join(", ");
  const ptx = of("ptx");
  const why =
    ptx === ""
      ? `the program has machine code (${of("machine code")}) and no PTX: ${howToBuild}`
      : `the program's PTX is for ${ptx}, which ${gpu.name} (sm_${capabilityOf(gpu)}) cannot run: ${howToChoose}`;
  throw new CudaError(errors.noKernelImageForDevice, why);
}

const howToBuild = "build it with `-arch=sm_80`, or `-gencode arch=compute_80,code=compute_80`";
const howToChoose = "choose another card by `--gpu`";
