import type { Surface, ThreadStart } from "../../machine/state/thread-model.ts";
import { viewOf } from "../data/element.ts";
import type { ArgumentValue, Parameter } from "./arguments.ts";
import { attributeOf, imageItems } from "./image-arguments.ts";
import { bindlessIndex, dataIndex, roundUp, type ThreadMemory } from "./thread-memory.ts";
import type { WorkSize } from "./work-size.ts";
import { argumentBytes, greatest, type KernelInfo, type PayloadItem } from "./zeinfo.ts";

/** Writes a value that differs between threads. */
type ThreadField = (view: DataView, thread: ThreadStart) => void;

/** Writes a value that depends only on the index of a thread in its group. */
type IndexField = (view: DataView, index: number) => void;

/** The initial registers of the threads of a launch, r0 first. */
export class Payload {
  readonly #common: Uint8Array;
  readonly #byIndex: IndexField[] = [];
  readonly #byThread: ThreadField[] = [];
  /** For each index in a group, the registers of the thread that began there last. */
  readonly #views: DataView[] = [];

  constructor(bytes: number) {
    this.#common = new Uint8Array(bytes);
  }

  get bytes(): number {
    return this.#common.length;
  }

  /** The bytes that are the same for all threads; 0 where they differ. */
  get common(): Uint8Array {
    return this.#common;
  }

  /** Sets bytes that are the same for all threads. */
  put(at: number, bytes: Uint8Array): void {
    this.#common.set(bytes, at);
  }

  each(field: ThreadField): void {
    this.#byThread.push(field);
  }

  eachIndex(field: IndexField): void {
    this.#byIndex.push(field);
  }

  /** Returns the initial registers of a thread; valid until the next thread begins. */
  of(thread: ThreadStart): DataView {
    const view = (this.#views[thread.index] ??= this.#viewOf(thread.index));
    for (const field of this.#byThread) field(view, thread);
    return view;
  }

  #viewOf(index: number): DataView {
    const view = viewOf(this.#common.slice());
    for (const field of this.#byIndex) field(view, index);
    return view;
  }
}

/** The sections `.data.const` and `.data.global` of a compiled program. */
export type DataSurfaces = Readonly<Record<keyof typeof dataIndex, Surface>>;

/** The values that a payload is made of; `KernelInfo` says where they go. */
export interface PayloadContents {
  readonly width: number;
  readonly grfBytes: 32 | 64;
  /** The byte offsets at which the kernel's inputs begin in the registers. */
  readonly inputs: readonly number[];
  readonly size: WorkSize;
  readonly args: readonly ArgumentValue[];
  readonly threads: ThreadMemory;
  /** The address of the printf buffer, which is passed implicitly; 0 if there is none. */
  readonly printfBuffer: bigint;
  readonly data: DataSurfaces;
}

/**
 * Writes r0: the id of the group, the index of the thread in it (XeHP and later number sub-groups by it), and the
 * thread's scratch space.
 */
export function putR0(payload: Payload, { threads }: PayloadContents): void {
  payload.each((view, thread) => {
    view.setUint32(4, thread.group[0], true);
    view.setUint32(8, thread.index, true);
    view.setUint32(20, threads.scratchOffset(threads.numberOf(thread)), true);
    view.setUint32(24, thread.group[1], true);
    view.setUint32(28, thread.group[2], true);
  });
}

/**
 * The byte offsets in the registers at which a payload begins, and at which the part after the inline data continues.
 */
export interface PayloadPlace {
  readonly start: number;
  readonly rest: number;
}

/**
 * Finds the place of a payload, which comes after r0 and the per-thread values. Before XeHP, threads have a register
 * for per-thread values even if the kernel uses none, unless the kernel's inputs leave no room for it. After inline
 * data, the rest begins at the next register, or later if the alignment of its first value requires it; only the
 * kernel's inputs tell that.
 */
export function payloadPlace(
  { inlineBytes, perThread }: KernelInfo,
  grfBytes: 32 | 64,
  inputs: readonly number[],
): PayloadPlace {
  const own = perThread.reduce((sum, { size }) => sum + size, 0);
  const loadsItself = inlineBytes > 0 || grfBytes === 64;
  const tight = inputs.some((offset) => offset >= grfBytes && offset < 2 * grfBytes);
  const start = grfBytes + (own === 0 && !loadsItself && !tight ? grfBytes : own);
  if (inlineBytes === 0) return { start, rest: start };
  const next = start + Math.max(inlineBytes, grfBytes);
  const first = inputs.reduce((lowest, offset) => (offset >= next ? Math.min(lowest, offset) : lowest), Infinity);
  return { start, rest: first === Infinity ? next : first };
}

/** Lays out the payload of a compiled kernel. */
export function compiledPayload(info: KernelInfo, contents: PayloadContents): Payload {
  const { grfBytes, inputs } = contents;
  const { inlineBytes } = info;
  const { start, rest } = payloadPlace(info, grfBytes, inputs);
  const bytes = payloadBytes(info, contents);
  const payload = new Payload(
    Math.max(
      start + Math.min(bytes.length, inlineBytes),
      rest + Math.max(0, bytes.length - inlineBytes),
      grfBytes + greatest(info.perThread.map(({ offset, size }) => offset + size)),
    ),
  );
  putR0(payload, contents);
  for (const item of info.perThread) putLocalIds(payload, item, info, contents);
  payload.put(start, bytes.subarray(0, inlineBytes));
  payload.put(rest, bytes.subarray(inlineBytes));
  return payload;
}

/** The values common to all threads, at the offsets that `.ze_info` gives. */
function payloadBytes(info: KernelInfo, contents: PayloadContents): Uint8Array {
  const bytes = new Uint8Array(greatest(info.payload.map(({ offset, size }) => offset + size)));
  const view = viewOf(bytes);
  const slm = localOffsets(info, contents.args).offsets;
  for (const item of info.payload) putItem({ bytes, view }, item, contents, slm);
  return bytes;
}

/**
 * Writes local ids: for each dimension a vector of 16-bit numbers, padded to whole registers; or packed, for threads of
 * one work item.
 */
function putLocalIds(payload: Payload, item: PayloadItem, info: KernelInfo, contents: PayloadContents): void {
  const { width, grfBytes, size } = contents;
  const packed = item.type === "packed_local_ids";
  const stride = packed ? 2 : roundUp(2 * width, grfBytes);
  const dimensions = Math.min(3, Math.floor(item.size / stride));
  const items = size.local[0] * size.local[1] * size.local[2];
  payload.eachIndex((view, index) => {
    for (let lane = 0; lane < width; lane++) {
      let rest = index * width + lane;
      if (rest >= items) rest = 0;
      for (const dimension of info.walkOrder) {
        const extent = size.local[dimension]!;
        if (dimension < dimensions) {
          view.setUint16(grfBytes + item.offset + dimension * stride + 2 * lane, rest % extent, true);
        }
        rest = Math.floor(rest / extent);
      }
    }
  });
}

/**
 * The offsets of local memory given as arguments, which comes after what the kernel declares; and the end of all local
 * memory.
 */
export function localOffsets(
  info: KernelInfo,
  args: readonly ArgumentValue[],
): { readonly offsets: ReadonlyMap<number, number>; readonly end: number } {
  const offsets = new Map<number, number>();
  let end = info.slmBytes;
  args.forEach((arg, i) => {
    if (arg.kind !== "local") return;
    const start = roundUp(end, info.payload.find((item) => item.argument === i)?.slmAlignment ?? 1);
    offsets.set(i, start);
    end = start + arg.bytes;
  });
  return { offsets, end };
}

export const dwords = (values: readonly number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer);
export const qword = (value: bigint): Uint8Array => new Uint8Array(BigUint64Array.of(value).buffer);

/** The bytes of a payload, for all that is written there. */
interface PayloadBytes {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** Writes dwords to an item, as many as it has. */
function putDwords({ bytes, view }: PayloadBytes, { offset, size }: PayloadItem, values: readonly number[]): void {
  const count = Math.min(values.length, size >>> 2);
  for (let i = 0; i < count; i++) view.setUint32(offset + 4 * i, values[i]!, true);
  // An item of 2 bytes has the lower half of one.
  if (count < values.length && size % 4 > 0)
    bytes.set(dwords([values[count]!]).subarray(0, size % 4), offset + 4 * count);
}

function putQword({ bytes, view }: PayloadBytes, { offset, size }: PayloadItem, value: bigint): void {
  if (size >= 8) view.setBigUint64(offset, value, true);
  else bytes.set(qword(value).subarray(0, size), offset);
}

/** Writes an item of the payload; nothing for one that the kernel does not read. */
function putItem(
  to: PayloadBytes,
  item: PayloadItem,
  contents: PayloadContents,
  slm: ReadonlyMap<number, number>,
): void {
  const { size } = contents;
  switch (item.type) {
    case "arg_byvalue":
    case "arg_bypointer":
    case "buffer_address":
      putArgument(to, item, contents.args, slm);
      return;
    case "local_size":
    case "enqueued_local_size":
      putDwords(to, item, size.local);
      return;
    case "group_count":
      putDwords(to, item, size.groups);
      return;
    case "global_size":
      putDwords(to, item, size.global);
      return;
    case "work_dimensions":
      putDwords(to, item, [size.dimensions]);
      return;
    case "private_base_stateless":
      putQword(to, item, contents.threads.privateBase);
      return;
    case "printf_buffer":
      putQword(to, item, contents.printfBuffer);
      return;
    case "const_base":
    case "global_base":
      if (item.addressMode === "bindless") putDwords(to, item, [dataIndex[item.type], 0]);
      else putQword(to, item, contents.data[item.type].address);
      return;
    case "image_width":
    case "image_height":
    case "image_depth":
    case "image_array_size":
    case "image_num_samples":
    case "image_num_mip_levels":
    case "image_channel_data_type":
    case "image_channel_order":
    case "image_srgb_channel_order":
    case "sampler_address":
    case "sampler_normalized":
    case "sampler_snap_wa":
      if (item.argument !== null) putDwords(to, item, [attributeOf(item.type, contents.args[item.argument]!)]);
      return;
    // Includes `buffer_offset`: buffers begin where their surfaces do, so it is 0.
    default:
      return;
  }
}

function putArgument(
  to: PayloadBytes,
  item: PayloadItem,
  args: readonly ArgumentValue[],
  slm: ReadonlyMap<number, number>,
): void {
  const { argument, addressMode, sourceOffset, size } = item;
  if (argument === null) return;
  const value = args[argument]!;
  switch (value.kind) {
    case "value":
      to.bytes.set(value.bytes.subarray(sourceOffset, sourceOffset + size), item.offset);
      return;
    case "local":
      putQword(to, item, BigInt(slm.get(argument)!));
      return;
    case "image":
    case "sampler":
      if (addressMode === "bindless") putDwords(to, item, [bindlessIndex(argument), 0]);
      return;
    case "pointer":
      if (addressMode === "bindless") putDwords(to, item, [bindlessIndex(argument), 0]);
      else putQword(to, item, value.address);
      return;
  }
}

/** The supported kinds of payload values; others, such as those of images, are not modelled. */
const known: ReadonlySet<string> = new Set([
  "arg_byvalue",
  "arg_bypointer",
  "buffer_address",
  "buffer_offset",
  "global_id_offset",
  "local_size",
  "enqueued_local_size",
  "group_count",
  "global_size",
  "work_dimensions",
  "private_base_stateless",
  "printf_buffer",
  "const_base",
  "global_base",
  "local_id",
  "packed_local_ids",
  ...imageItems,
]);

/** The kind of the first payload value that is not supported, or null. */
export const unknownItem = ({ payload, perThread }: KernelInfo): string | null =>
  [...payload, ...perThread].find(({ type }) => !known.has(type))?.type ?? null;

/** The parameters of a compiled kernel, as far as its payload reveals them. */
export const parametersOf = (info: KernelInfo): Parameter[] =>
  info.args.map(({ name, type, elements, pointsTo }, i): Parameter => {
    const items = info.payload.filter(({ argument }) => argument === i);
    const space = items.find((item) => item.space !== "memory")?.space;
    if (space === "image" || space === "sampler") return { kind: space, name };
    if (items.some((item) => item.addressMode === "slm")) return { kind: "local", name };
    if (items.some((item) => item.type === "arg_byvalue")) {
      return { kind: "value", name, type, elements, bytes: argumentBytes(info, i) };
    }
    const bound = items.length > 0 || info.bindings.some(({ argument }) => argument === i);
    return bound ? { kind: "pointer", name, ...(pointsTo && { pointsTo }) } : { kind: "unused", name };
  });
