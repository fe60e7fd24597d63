import { cTypes } from "../data/c-types.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { ElementType } from "../data/element.ts";
import { DocumentValue } from "./document.ts";

/** What `.ze_info` says about a kernel, as far as launches need it. */
export interface KernelInfo {
  readonly name: string;
  /** The number of lanes of a hardware thread. */
  readonly simd: number;
  /** The shared local memory that the kernel itself declares, in bytes. */
  readonly slmBytes: number;
  /** The size of the inline data: the first bytes of the payload, which have registers of their own. */
  readonly inlineBytes: number;
  readonly requiredLocalSize: Dim3 | null;
  /** The dimensions of a group in the order in which work items are numbered, fastest first. */
  readonly walkOrder: Dim3;
  readonly payload: readonly PayloadItem[];
  readonly perThread: readonly PayloadItem[];
  /** The argument that each surface of the binding table refers to. */
  readonly bindings: readonly { readonly index: number; readonly argument: number }[];
  readonly memory: readonly ThreadMemory[];
  /** One for each argument; `type` is null if the file does not say, or if it is not an element type. */
  readonly args: readonly ArgumentInfo[];
}

/** A value in the payload. Offsets and sizes are in bytes, as in the file. */
export interface PayloadItem {
  readonly type: string;
  readonly offset: number;
  readonly size: number;
  /** The index of the kernel's argument; null if the value is not part of one. */
  readonly argument: number | null;
  readonly addressMode: AddressMode | null;
  /** The byte at which this piece of a by-value argument begins. */
  readonly sourceOffset: number;
  /** The alignment of an argument that is local memory. */
  readonly slmAlignment: number;
}

const addressModes = ["stateful", "stateless", "bindless", "slm"] as const;
type AddressMode = (typeof addressModes)[number];

/** Memory that each hardware thread has to itself. */
interface ThreadMemory {
  readonly type: "scratch" | "global" | "slm";
  readonly usage: "private_space" | "spill_fill_space" | "single_space";
  readonly bytes: number;
  /** Whether `bytes` is per work item rather than per thread. */
  readonly perLane: boolean;
}

interface ArgumentInfo {
  /** "" if the file does not say. */
  readonly name: string;
  readonly type: ElementType | null;
  /** The number of elements of a vector. */
  readonly elements: number;
  /** The size of a value in bytes; null if the file does not say. */
  readonly bytes: number | null;
  /**
   * The elements that a pointer points to; absent if the file does not say, or if they are none of the element types.
   */
  readonly pointsTo?: ElementType;
}

const maxBytes = 0x1000_0000;

/** Bytes: larger than any register file. */
const maxPayload = 0x1_0000;
const maxArguments = 4096;

/** OpenCL C's types, as `type_name` spells them. */
const typeNames: Readonly<Record<string, ElementType>> = { ...cTypes, half: "f16" };

/**
 * Reads a section `.ze_info` from the plain objects that a YAML library produces. Fields that launches do not need are
 * ignored.
 *
 * @throws UsageError with the path of what is missing or has the wrong shape
 */
export function readZeInfo(document: unknown): ReadonlyMap<string, KernelInfo> {
  const root = new DocumentValue(document, ".ze_info");
  if (!root.get("kernels").present) root.get("kernels").fail("is missing; expected a list of kernels");
  const args = new Map(
    root
      .get("kernels_misc_info")
      .items()
      .map((kernel) => [kernel.get("name").string(), kernel.get("args_info").items(maxArguments).map(readArgument)]),
  );
  const kernels = root.get("kernels").items().map(readKernel);
  return new Map(
    kernels.map((kernel) => [kernel.name, { ...kernel, args: argumentsOf(kernel, args.get(kernel.name)) }]),
  );
}

type Indexed = ArgumentInfo & { readonly index: number };

function readArgument(field: DocumentValue): Indexed {
  const typeName = field.get("type_name").present ? field.get("type_name").string() : "";
  const [, word = "", count = "1", star = ""] = /^([a-z]+?)(2|3|4|8|16)?(\*?);/.exec(typeName) ?? [];
  const [, bytes = null] = /;(\d{1,5})$/.exec(typeName) ?? [];
  const named = Object.hasOwn(typeNames, word) ? typeNames[word]! : null;
  return {
    index: field.get("index").integer(0, maxArguments),
    name: field.get("name").present ? field.get("name").string() : "",
    type: star === "" ? named : null,
    elements: star === "" ? Number(count) : 1,
    bytes: bytes === null ? null : Number(bytes),
    ...(star === "*" && named !== null ? { pointsTo: named } : {}),
  };
}

/** Merges the arguments that the payload, the binding table and the list of arguments mention. */
function argumentsOf({ payload, bindings }: Omit<KernelInfo, "args">, listed: readonly Indexed[] = []): ArgumentInfo[] {
  const indices = [
    ...payload.flatMap(({ argument }) => (argument === null ? [] : [argument])),
    ...bindings.map(({ argument }) => argument),
    ...listed.map(({ index }) => index),
  ];
  const count = greatest(indices.map((index) => index + 1));
  return Array.from({ length: count }, (_, i) => {
    const { name = "", type = null, elements = 1, bytes = null, pointsTo } = listed.find((l) => l.index === i) ?? {};
    return { name, type, elements, bytes, ...(pointsTo && { pointsTo }) };
  });
}

function readKernel(field: DocumentValue): Omit<KernelInfo, "args"> {
  const environment = field.get("execution_env");
  const bytes = (name: string, max: number): number => {
    const value = environment.get(name);
    return value.present ? value.integer(0, max) : 0;
  };
  return {
    name: field.get("name").string(),
    simd: readSimd(environment.get("simd_size")),
    slmBytes: bytes("slm_size", maxBytes),
    inlineBytes: bytes("inline_data_payload_size", maxPayload),
    requiredLocalSize: readDim3(environment.get("required_work_group_size"), 1, 0xffff_ffff),
    walkOrder: readWalkOrder(environment.get("work_group_walk_order_dimensions")),
    payload: field.get("payload_arguments").items(maxArguments).map(readPayloadItem),
    perThread: readPerThread(field.get("per_thread_payload_arguments")),
    bindings: field
      .get("binding_table_indices")
      .items(maxArguments)
      .map((binding) => ({
        index: binding.get("bti_value").integer(0, 255),
        argument: binding.get("arg_index").integer(0, maxArguments),
      })),
    memory: field.get("per_thread_memory_buffers").items().map(readThreadMemory),
  };
}

function readSimd(field: DocumentValue): number {
  const simd = field.integer(1, 32);
  return [1, 8, 16, 32].includes(simd) ? simd : field.fail(`${simd} lanes are not possible: 1, 8, 16 or 32 are`);
}

function readDim3(field: DocumentValue, min: number, max: number): Dim3 | null {
  if (!field.present) return null;
  const items = field.items();
  if (items.length !== 3) field.fail(`has ${items.length} entries, not 3`);
  return [items[0]!.integer(min, max), items[1]!.integer(min, max), items[2]!.integer(min, max)];
}

/** All zeros, as for a kernel that depends on no order, means the usual order. */
function readWalkOrder(field: DocumentValue): Dim3 {
  const order = readDim3(field, 0, 2);
  return order && new Set(order).size === 3 ? order : [0, 1, 2];
}

function readPerThread(field: DocumentValue): PayloadItem[] {
  const items = field.items(maxArguments).map(readPayloadItem);
  const bytes = items.reduce((sum, { size }) => sum + size, 0);
  return bytes <= maxPayload ? items : field.fail(`takes ${bytes} bytes of registers; there can be ${maxPayload}`);
}

function readPayloadItem(field: DocumentValue): PayloadItem {
  const count = (name: string, absent: number, max: number): number =>
    field.get(name).present ? field.get(name).integer(0, max) : absent;
  const mode = field.get("addrmode");
  return {
    type: field.get("arg_type").string(),
    offset: field.get("offset").integer(0, maxPayload),
    size: field.get("size").integer(0, maxPayload),
    argument: field.get("arg_index").present ? count("arg_index", 0, maxArguments) : null,
    addressMode: mode.present ? oneOf(mode, addressModes) : null,
    sourceOffset: count("source_offset", 0, maxPayload),
    slmAlignment: Math.max(1, count("slm_alignment", 1, maxBytes)),
  };
}

function oneOf<const T extends string>(field: DocumentValue, choices: readonly T[]): T {
  const text = field.string();
  const found = choices.find((choice) => choice === text);
  return found ?? field.fail(`there is no "${text}"; there are ${choices.join(", ")}`);
}

const readThreadMemory = (field: DocumentValue): ThreadMemory => ({
  type: oneOf(field.get("type"), ["scratch", "global", "slm"]),
  usage: oneOf(field.get("usage"), ["private_space", "spill_fill_space", "single_space"]),
  bytes: field.get("size").integer(0, maxBytes),
  perLane: field.get("is_simt_thread").flag(),
});

/** The size of a by-value argument in bytes: as its type says, or as much as the payload holds of it. */
export function argumentBytes({ payload, args }: KernelInfo, index: number): number {
  const pieces = payload.filter((item) => item.argument === index && item.type === "arg_byvalue");
  return args[index]!.bytes ?? greatest(pieces.map(({ sourceOffset, size }) => sourceOffset + size));
}

/** The largest of the sizes; 0 if there are none. */
export const greatest = (sizes: readonly number[]): number => sizes.reduce((max, size) => Math.max(max, size), 0);
