import type { Dim3 } from "../../machine/reports/report.ts";
import type { ElementType } from "../data/element.ts";
import { DocumentValue } from "./document.ts";

/** What a section `.ze_info` says about a kernel, as far as a launch needs it. */
export interface KernelInfo {
  readonly name: string;
  /** Lanes of a hardware thread. */
  readonly simd: number;
  /** Bytes of shared local memory that the kernel itself declares. */
  readonly slmBytes: number;
  /** Bytes of the payload that come in registers of their own, before the rest. */
  readonly inlineBytes: number;
  readonly requiredLocalSize: Dim3 | null;
  /** The dimensions of a group in the order in which work items are counted, the fastest first. */
  readonly walkOrder: Dim3;
  readonly payload: readonly PayloadItem[];
  readonly perThread: readonly PayloadItem[];
  /** Which argument each surface of the binding table is. */
  readonly bindings: readonly { readonly index: number; readonly argument: number }[];
  readonly memory: readonly ThreadMemory[];
  /** Of each argument; `type` null where the file does not tell, or where it is none of ours. */
  readonly args: readonly ArgumentInfo[];
}

/** Where a value lies in the payload. Offsets and sizes are bytes, as the file has them. */
export interface PayloadItem {
  readonly type: string;
  readonly offset: number;
  readonly size: number;
  /** Of the kernel's arguments; null where the value is none. */
  readonly argument: number | null;
  readonly addressMode: AddressMode | null;
  /** The byte of a by-value argument at which this piece begins. */
  readonly sourceOffset: number;
  /** Of local memory that is an argument. */
  readonly slmAlignment: number;
}

const addressModes = ["stateful", "stateless", "bindless", "slm"] as const;
type AddressMode = (typeof addressModes)[number];

/** Memory that every hardware thread has for itself. */
interface ThreadMemory {
  readonly type: "scratch" | "global" | "slm";
  readonly usage: "private_space" | "spill_fill_space" | "single_space";
  readonly bytes: number;
  /** `bytes` are for a work item, not for a thread. */
  readonly perLane: boolean;
}

interface ArgumentInfo {
  /** "" where the file does not tell. */
  readonly name: string;
  readonly type: ElementType | null;
  /** Elements of a vector. */
  readonly elements: number;
  /** Bytes of a value; null where the file does not tell. */
  readonly bytes: number | null;
}

const maxBytes = 0x1000_0000;

/** More than any register file has. */
const maxPayload = 0x1_0000;
const maxArguments = 4096;

/** OpenCL C's types as `type_name` has them. */
const typeNames: Readonly<Record<string, ElementType>> = {
  char: "s8",
  uchar: "u8",
  short: "s16",
  ushort: "u16",
  int: "s32",
  uint: "u32",
  long: "s64",
  ulong: "u64",
  half: "f16",
  float: "f32",
  double: "f64",
};

/**
 * Reads a section `.ze_info`, from plain objects as a YAML library makes them. Fields that a launch does not need are not
 * looked at.
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
  const [, word = "", count = "1"] = /^([a-z]+?)(2|3|4|8|16)?;/.exec(typeName) ?? [];
  const [, bytes = null] = /;(\d{1,5})$/.exec(typeName) ?? [];
  return {
    index: field.get("index").integer(0, maxArguments),
    name: field.get("name").present ? field.get("name").string() : "",
    type: Object.hasOwn(typeNames, word) ? typeNames[word]! : null,
    elements: Number(count),
    bytes: bytes === null ? null : Number(bytes),
  };
}

/** All arguments that the payload, the binding table or the list of arguments know of. */
function argumentsOf({ payload, bindings }: Omit<KernelInfo, "args">, listed: readonly Indexed[] = []): ArgumentInfo[] {
  const indices = [
    ...payload.flatMap(({ argument }) => (argument === null ? [] : [argument])),
    ...bindings.map(({ argument }) => argument),
    ...listed.map(({ index }) => index),
  ];
  const count = greatest(indices.map((index) => index + 1));
  return Array.from({ length: count }, (_, i) => {
    const { name = "", type = null, elements = 1, bytes = null } = listed.find(({ index }) => index === i) ?? {};
    return { name, type, elements, bytes };
  });
}

function readKernel(field: DocumentValue): Omit<KernelInfo, "args"> {
  const environment = field.get("execution_env");
  const bytes = (name: string, most: number): number => {
    const value = environment.get(name);
    return value.present ? value.integer(0, most) : 0;
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
  return [1, 8, 16, 32].includes(simd) ? simd : field.fail(`${simd} is no number of lanes: 1, 8, 16 or 32 are`);
}

function readDim3(field: DocumentValue, least: number, most: number): Dim3 | null {
  if (!field.present) return null;
  const items = field.items();
  if (items.length !== 3) field.fail(`has ${items.length} entries, not 3`);
  return [items[0]!.integer(least, most), items[1]!.integer(least, most), items[2]!.integer(least, most)];
}

/** All zeros, as for a kernel that does not care, is the usual order. */
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
  const count = (name: string, absent: number, most: number): number =>
    field.get(name).present ? field.get(name).integer(0, most) : absent;
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

/** Bytes of a by-value argument: as its type says, or what the payload takes of it. */
export function argumentBytes({ payload, args }: KernelInfo, index: number): number {
  const pieces = payload.filter((item) => item.argument === index && item.type === "arg_byvalue");
  return args[index]!.bytes ?? greatest(pieces.map(({ sourceOffset, size }) => sourceOffset + size));
}

/** Of any number of sizes; 0 where there are none. */
export const greatest = (sizes: readonly number[]): number => sizes.reduce((most, size) => Math.max(most, size), 0);
