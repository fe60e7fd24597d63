import type { IrModule, WorkItemModel } from "../../ir/index.ts";
import { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { KernelArgument } from "../data/argument.ts";
import { Buffer } from "../data/buffer.ts";
import { fitting, LoadError, NotStandaloneError, UsageError } from "../data/errors.ts";
import type { SourceFile } from "../data/source-file.ts";
import { Device } from "../device/device.ts";
import type { Kernel } from "../device/module.ts";
import type { Parameter } from "../visa/arguments.ts";
import { compileVisa } from "../visa/compile.ts";
import { type KernelInfo, readZeInfo } from "../visa/zeinfo.ts";

/** A parameter, at a place in the block of parameters; what is given as `also` holds the same. */
export interface PlacedParameter {
  readonly name: string;
  readonly type: string;
  readonly offset: number;
  readonly size: number;
  readonly also?: readonly number[];
}

/** A doubleword in the block of parameters that the launcher fills with a size of the launch. */
export interface PlacedSize {
  readonly offset: number;
  /** The name of a context word (`ntid.x`), of work items in the launch (`nitems.x`), or `dimensions`. */
  readonly value: string;
}

/** A kernel of vISA as its work items execute it: what it needs of a launcher. */
export interface VisaBuild {
  readonly kernel: Kernel;
  readonly ir: IrModule;
  readonly threads: { readonly width: number; readonly items: WorkItemModel };
  readonly parameters: readonly PlacedParameter[];
  readonly sizes: readonly PlacedSize[];
  readonly paramBytes: number;
  readonly sharedBytes: number;
}

/** Loads a compiled kernel of vISA, and finds where its arguments and sizes go. */
export function loadVisa(
  files: readonly SourceFile[],
  options: { readonly zeinfo: unknown; readonly target: string | undefined; readonly kernel?: string | undefined },
): VisaBuild {
  const visa = { isa: "visa", target: options.target, zeinfo: options.zeinfo } as const;
  const kernel = new Device().load(files, visa).kernel(options.kernel);
  kernel.requireExecutable();
  const { program, diagnostics } = compileVisa(files, visa);
  if (program === null) throw new LoadError(diagnostics);
  const info = readZeInfo(options.zeinfo).get(kernel.name);
  if (info === undefined) throw new UsageError(`.ze_info says nothing about kernel "${kernel.name}"`);
  const obstacle = obstacleIn(info, program.parameters(kernel.name));
  if (obstacle !== null) throw new NotStandaloneError(kernel.name, obstacle);
  const memory = new DeviceMemory();
  // Buffers that nothing is written to: where arguments go does not depend on them.
  const args = program.parameters(kernel.name).map((parameter): KernelArgument => {
    if (parameter.kind !== "pointer") return parameter.kind === "value" ? new Uint8Array(parameter.bytes) : 0;
    return fitting(() => new Buffer(memory, "u8", 256, parameter.name));
  });
  const local: Dim3 = info.requiredLocalSize ?? [info.simd, 1, 1];
  const section = () => ({ address: 0n, bytes: 0 });
  const { request, finish } = program.plan(kernel.name, local, local, args, { memory, section });
  finish?.();
  const { width, items } = request.threads!;
  if (items === undefined || items === null)
    throw new NotStandaloneError(kernel.name, "its work items are not numbered as those of a launcher are");
  return {
    kernel,
    ir: program.ir,
    threads: { width, items },
    parameters: program.parameters(kernel.name).map((parameter, i) => placed(parameter, i, info, items)),
    sizes: sizesIn(info),
    paramBytes: items.paramBytes,
    sharedBytes: request.sharedBytes,
  };
}

/** What a kernel needs that a simple launcher does not have; null if nothing. */
function obstacleIn({ payload }: KernelInfo, parameters: readonly Parameter[]): string | null {
  for (const { name, kind } of parameters) {
    if (kind === "local") return `its argument ${name} is local memory`;
    if (kind === "image" || kind === "sampler") return `its argument ${name} is of kind ${kind}`;
  }
  const other = payload.find(({ type }) => refused.has(type));
  return other === undefined ? null : `its .ze_info asks for "${other.type}"`;
}

const refused: ReadonlySet<string> = new Set(["printf_buffer", "const_base", "global_base"]);

/** Where an argument goes: to the payload, and to the table of surfaces. */
function placed(parameter: Parameter, index: number, info: KernelInfo, items: WorkItemModel): PlacedParameter {
  const { name } = parameter;
  const parts = info.payload.filter(({ argument }) => argument === index);
  if (parameter.kind === "value") {
    const [first] = [...parts].sort((a, b) => a.sourceOffset - b.sourceOffset);
    const isWhole = parts.every(
      ({ offset, sourceOffset }) => offset - sourceOffset === first!.offset - first!.sourceOffset,
    );
    if (!isWhole) throw new NotStandaloneError(info.name, `its argument ${name} is passed in parts`);
    const offset = first!.offset - first!.sourceOffset;
    const isNumber = parameter.type !== null && parameter.elements === 1;
    return { name, type: isNumber ? parameter.type! : "bytes", offset, size: parameter.bytes };
  }
  const surfaces = info.bindings.filter(({ argument }) => argument === index).map((b) => items.surfaces.get(b.index));
  const direct = parts.filter(
    ({ type, size, addressMode }) =>
      size === 8 && addressMode !== "bindless" && (type === "arg_bypointer" || type === "buffer_address"),
  );
  const bindless = parts.find(({ addressMode }) => addressMode === "bindless");
  if (bindless !== undefined) throw new NotStandaloneError(info.name, `its argument ${name} is a bindless surface`);
  const [offset, ...also] = [...direct.map((part) => part.offset), ...surfaces.filter((at) => at !== undefined)];
  if (offset === undefined) return { name, type: "unused", offset: 0, size: 0 };
  return { name, type: "u64", offset, size: 8, ...(also.length > 0 ? { also } : {}) };
}

/** By kind of payload value, the numbers that it consists of. */
const sizeNames: Readonly<Record<string, readonly string[]>> = {
  local_size: ["ntid.x", "ntid.y", "ntid.z"],
  enqueued_local_size: ["ntid.x", "ntid.y", "ntid.z"],
  group_count: ["nctaid.x", "nctaid.y", "nctaid.z"],
  global_size: ["nitems.x", "nitems.y", "nitems.z"],
  work_dimensions: ["dimensions"],
};

const sizesIn = ({ payload }: KernelInfo): PlacedSize[] =>
  payload.flatMap(({ type, offset, size }) =>
    (sizeNames[type] ?? []).slice(0, size / 4).map((value, i) => ({ offset: offset + 4 * i, value })),
  );
