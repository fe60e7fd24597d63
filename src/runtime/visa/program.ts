import type { IrModule } from "../../ir/index.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { Surface, ThreadModel } from "../../machine/state/thread-model.ts";
import { renderPlace } from "../../source/index.ts";
import { type BoundRoutine, isVectorCompiled } from "../../visa/symbols.ts";
import type { KernelArgument } from "../data/argument.ts";
import { NotExecutableError, UsageError } from "../data/errors.ts";
import type { LaunchPlan } from "../launch/launch-plan.ts";
import { type Parameter, resolveArguments } from "./arguments.ts";
import { handwrittenParameters, handwrittenPayload, type KernelInput, stackBytes } from "./handwritten-payload.ts";
import { boundImages } from "./image-arguments.ts";
import { LaunchMemory } from "./launch-memory.ts";
import { compiledPayload, localOffsets, parametersOf, type PayloadContents, unknownItem } from "./payload.ts";
import { openPrintfBuffer, readPrintfBuffer } from "./printf-buffer.ts";
import { type ScratchKind, scratchKind, type ThreadBytes, ThreadMemory } from "./thread-memory.ts";
import { argumentSurfaces, threadModel } from "./thread-model.ts";
import { WorkItemLayouts } from "./work-item-model.ts";
import { product, workSize } from "./work-size.ts";
import type { KernelInfo } from "./zeinfo.ts";

/** What is known about a program's kernels besides their text. */
export interface Interface {
  /** By name; null without a `.ze_info`. */
  readonly kernels: ReadonlyMap<string, KernelInfo> | null;
  /** The contents of the inputs of hand-written kernels. */
  readonly inputs: readonly KernelInput[];
}

/** The parts of a launch that belong to the device into which the program is loaded. */
export interface LaunchPlace {
  readonly memory: LaunchMemory["device"];
  /** A section of the compiled program; empty if there is none of that name. */
  readonly section: (name: string) => Surface;
}

/** The shared local memory of hand-written kernels, in bytes. */
const handwrittenSlm = 0x1_0000;

/** Channels of a thread of the vector compiler, which are all active when it begins. */
const vectorChannels = 32;

/** What all launches of a kernel have in common. */
interface KnownKernel {
  readonly routine: BoundRoutine;
  readonly info: KernelInfo | null;
  readonly parameters: readonly Parameter[];
  /** A value of its payload that is not modelled; null if it has none. */
  readonly unknown: string | null;
  readonly prints: boolean;
  readonly threads: ThreadBytes & { readonly width: number; readonly scratch: ScratchKind };
}

/** A vISA program: its code, and how its kernels are launched. */
export class VisaProgram {
  readonly ir: IrModule;
  readonly #routines: readonly BoundRoutine[];
  readonly #interface: Interface;
  readonly #layouts = new WorkItemLayouts();
  readonly #kernels = new Map<string, KnownKernel>();

  /** @throws UsageError if `.ze_info` contradicts a kernel's text */
  constructor(ir: IrModule, routines: readonly BoundRoutine[], kernelInterface: Interface) {
    this.ir = ir;
    this.#routines = routines;
    this.#interface = kernelInterface;
    for (const routine of routines) this.#checkWidth(routine);
  }

  /** The parameters of a kernel, in order. */
  parameters(kernel: string): readonly Parameter[] {
    return this.#known(kernel).parameters;
  }

  /** What all launches of a kernel have in common. Throws as `#info` does. */
  #known(kernel: string): KnownKernel {
    let known = this.#kernels.get(kernel);
    if (known === undefined) {
      const routine = this.#routines.find(({ kind, name }) => kind === "kernel" && name === kernel)!;
      const info = this.#info(kernel);
      known = {
        routine,
        info,
        parameters: info === null ? handwrittenParameters(this.#interface.inputs) : parametersOf(info),
        unknown: info === null ? null : unknownItem(info),
        prints: info?.payload.some(({ type }) => type === "printf_buffer") ?? false,
        threads: this.#threadsOf(routine, info),
      };
      this.#kernels.set(kernel, known);
    }
    return known;
  }

  /**
   * Plans a launch: allocates the memory that it needs and lays out the payload.
   *
   * @throws UsageError if sizes or arguments do not fit the kernel
   * @throws NotExecutableError if the kernel needs an input that is not modelled
   */
  plan(kernel: string, global: Dim3, local: Dim3, args: readonly KernelArgument[], place: LaunchPlace): LaunchPlan {
    const { routine, info, parameters, unknown, prints, threads: options } = this.#known(kernel);
    const size = workSize(kernel, global, local);
    if (info?.requiredLocalSize?.some((n, i) => n !== local[i])) {
      const required = info.requiredLocalSize.join(", ");
      throw new UsageError(`kernel "${kernel}": groups of (${local.join(", ")}) work items; it requires (${required})`);
    }
    if (unknown !== null) {
      const { routine: tree, file } = routine;
      const reason = `its .ze_info asks for "${unknown}", which is not modelled`;
      throw new NotExecutableError(kernel, reason, { source: file.source, span: tree.name });
    }
    const values = resolveArguments(kernel, parameters, args, place.memory);
    const memory = new LaunchMemory(place.memory);
    const own = new LaunchMemory(place.memory);
    try {
      const printf = prints ? openPrintfBuffer(memory) : null;
      const { privateBytes, scratchBytes, width } = options;
      const request = (isUnused: boolean): LaunchPlan["request"] & { readonly threads: ThreadModel } => {
        // What an attempt has left there is nothing that the next one may find.
        own.free();
        const contents: PayloadContents = {
          width,
          grfBytes: routine.grfBytes,
          inputs: routine.inputs.map(({ offset }) => offset),
          size,
          args: values,
          threads: new ThreadMemory(own, size, { ...options, isUnused }),
          printfBuffer: printf?.address ?? 0n,
          data: { const_base: place.section(".data.const"), global_base: place.section(".data.global") },
        };
        return this.#request(routine, info, contents, { memory: place.memory, privateBytes });
      };
      const hasOwn = privateBytes + scratchBytes > 0;
      const first = request(hasOwn);
      const open = (): ThreadModel => request(false).threads;
      return {
        request: hasOwn ? { ...first, threads: { ...first.threads, open } } : first,
        threads: product(global),
        finish: () => {
          const text = printf === null ? "" : readPrintfBuffer(printf, memory);
          own.free();
          memory.free();
          return text;
        },
      };
    } catch (error) {
      own.free();
      memory.free();
      throw error;
    }
  }

  /** How many lanes the threads of a kernel have, and how much memory for themselves. */
  #threadsOf({ simd, platform, grfBytes }: BoundRoutine, info: KernelInfo | null) {
    const bytes = info === null ? handwrittenBytes(this.#interface.inputs) : compiledBytes(info);
    return { width: info?.simd ?? simd, ...bytes, scratch: scratchKind(platform, grfBytes) };
  }

  /** What a launch asks for, once it is known where the memory of its threads is. */
  #request(
    routine: BoundRoutine,
    info: KernelInfo | null,
    contents: PayloadContents,
    place: { readonly memory: LaunchMemory["device"]; readonly privateBytes: number },
  ): LaunchPlan["request"] & { readonly threads: ThreadModel } {
    const { width, args, threads, size, data } = contents;
    const payload =
      info === null ? handwrittenPayload(routine, this.#interface.inputs, contents) : compiledPayload(info, contents);
    const surfaces = info === null ? new Map<number, Surface>() : argumentSurfaces(info, args, data);
    const bound = info === null ? {} : boundImages(info, args);
    const known = info === null ? { inputs: this.#interface.inputs } : { info };
    // What the vector compiler writes is for one work item a thread, which has all channels.
    const channels = info?.simd === 1 && isVectorCompiled(routine) ? vectorChannels : 1;
    const items = channels > 1 ? null : this.#layouts.workItems(routine, known, payload, surfaces, place);
    const [x, y, z] = size.local;
    return {
      grid: size.groups,
      block: [x * channels, y, z],
      sharedBytes: info === null ? handwrittenSlm : localOffsets(info, args).end,
      params: items?.params ?? new Uint8Array(),
      threads: threadModel(routine, payload, threads, {
        ...{ width: width * channels, surfaces, ...bound },
        items: items?.model ?? null,
      }),
    };
  }

  /** Checks that a kernel's attribute SimdSize and `.ze_info` name the same number of lanes, if both name one. */
  #checkWidth(kernel: BoundRoutine): void {
    const { kind, name, attributes, routine, file } = kernel;
    const info = kind === "kernel" ? this.#interface.kernels?.get(name) : undefined;
    const declared = attributes.get("SimdSize");
    // 0 and 1 say that lanes do not matter.
    if (info === undefined || typeof declared !== "number" || declared <= 1 || declared === info.simd) return;
    // The vector compiler says how many channels its widest instruction has, and that a thread has one work item.
    if (isVectorCompiled(kernel) && info.simd === 1) return;
    const attribute =
      routine.statements.find((s) => s.kind === "attribute" && s.name.text === "SimdSize") ?? routine.name;
    throw new UsageError(
      `kernel "${name}" is for ${declared} lanes (SimdSize, ${renderPlace(file.source, attribute)}), but its .ze_info says ${info.simd} (execution_env.simd_size)`,
    );
  }

  /**
   * What `.ze_info` says about a kernel, or null for a hand-written one.
   *
   * @throws UsageError if there is a `.ze_info` without the kernel, or none although the kernel needs one
   */
  #info(kernel: string): KernelInfo | null {
    const { kernels, inputs } = this.#interface;
    const info = kernels?.get(kernel) ?? null;
    if (info !== null) return info;
    if (kernels !== null) {
      const known = [...kernels.keys()].join(", ") || "none";
      throw new UsageError(`.ze_info says nothing about kernel "${kernel}"; it knows ${known}`);
    }
    const routine = this.#routines.find(({ kind, name }) => kind === "kernel" && name === kernel);
    const unknown = routine?.inputs.find(
      ({ offset, variable }) => offset > 0 && !inputs.some(({ name }) => name === variable.name),
    );
    if (unknown) {
      throw new UsageError(
        `kernel "${kernel}" has an input ${unknown.variable.name}, and nothing says what that holds: give the .ze_info of a compiled kernel (--zeinfo FILE), or what the inputs of a written one are (--input ${unknown.variable.name}=KIND)`,
      );
    }
    return null;
  }
}

/** The private memory and scratch space of a hardware thread. Registers are never spilled here. */
function compiledBytes({ memory, simd }: KernelInfo): ThreadBytes {
  const total = (type: string): number =>
    memory
      .filter((m) => m.type === type && m.usage !== "spill_fill_space")
      .reduce((sum, m) => sum + m.bytes * (m.perLane ? simd : 1), 0);
  return { privateBytes: total("global"), scratchBytes: total("scratch") };
}

const handwrittenBytes = (inputs: readonly KernelInput[]): ThreadBytes => ({
  privateBytes: stackBytes(inputs),
  scratchBytes: 0,
  apart: true,
});
