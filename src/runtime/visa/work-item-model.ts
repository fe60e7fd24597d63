import { fileLayout, type PayloadPart, type PayloadSource, type WorkItemModel } from "../../ir/index.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import { AddressSpace, parts } from "../../machine/memory/address-space.ts";
import type { Surface } from "../../machine/state/thread-model.ts";
import { payloadPlaces } from "../../visa/lower/layout.ts";
import type { BoundRoutine } from "../../visa/symbols.ts";
import type { KernelInput } from "./handwritten-payload.ts";
import { type Payload, payloadPlace } from "./payload.ts";
import { roundUp, stateOfThread } from "./thread-memory.ts";
import type { KernelInfo } from "./zeinfo.ts";

/** A kernel without its thread: where things are, which depends on the program alone, and the launch's values. */
interface WorkItems {
  readonly model: WorkItemModel;
  readonly params: Uint8Array;
}

/** A part of the payload, at a byte of the registers with which a thread begins. */
interface Piece {
  readonly offset: number;
  readonly bytes: number;
  readonly source: PayloadSource;
}

const addresses = new AddressSpace(64);

/** What a launch knows of a kernel's interface: its `.ze_info`, or the inputs of a hand-written one. */
type Known = { readonly info: KernelInfo } | { readonly inputs: readonly KernelInput[] };

/** The same for all launches whose payloads have one size, and which bind the same surfaces. */
interface Layout {
  readonly model: WorkItemModel;
  /** The pieces of the payload that are among the launch's parameters: where they are in it, and there. */
  readonly copied: readonly { readonly offset: number; readonly bytes: number; readonly to: number }[];
}

/** What has been found of kernels, by the sizes of their payloads and what they bind. */
export class WorkItemLayouts {
  readonly #found = new Map<BoundRoutine, Map<string, Layout>>();

  /**
   * Describes a kernel to code that does without threads; null where that is not possible: work items in another
   * order than x first, or a surface that is a part of an allocation, whose end no check of an allocation finds. A
   * launch like an earlier one gets the same model.
   */
  workItems(
    routine: BoundRoutine,
    known: Known,
    payload: Payload,
    surfaces: ReadonlyMap<number, Surface>,
    { memory, privateBytes }: { readonly memory: DeviceMemory; readonly privateBytes: number },
  ): WorkItems | null {
    if ("info" in known && known.info.walkOrder.some((dimension, i) => dimension !== i)) return null;
    for (const surface of surfaces.values()) if (!isWhole(surface, memory)) return null;
    const indices = [...surfaces.keys()];
    const key = `${payload.bytes} ${indices.join()}`;
    let layouts = this.#found.get(routine);
    if (layouts === undefined) this.#found.set(routine, (layouts = new Map()));
    let layout = layouts.get(key);
    if (layout === undefined) {
      if (layouts.size >= maxLayouts) layouts.clear();
      layouts.set(key, (layout = layoutOf(routine, known, payload, { indices, privateBytes })));
    }
    const { model, copied } = layout;
    const params = new Uint8Array(model.paramBytes);
    for (const { offset, bytes, to } of copied) params.set(payload.common.subarray(offset, offset + bytes), to);
    const view = new DataView(params.buffer);
    for (const [index, { address }] of surfaces) view.setBigUint64(model.surfaces.get(index)!, address, true);
    return { model, params };
  }
}

/** Layouts that are kept of a kernel, at most. */
const maxLayouts = 16;

function layoutOf(
  routine: BoundRoutine,
  known: Known,
  payload: Payload,
  { indices, privateBytes }: { readonly indices: readonly number[]; readonly privateBytes: number },
): Layout {
  const { pieces, pointers, privateBase, constantBytes } =
    "info" in known ? compiledPieces(routine, known.info, payload) : handwrittenPieces(routine, known.inputs);
  const places = payloadPlaces(routine);
  const partsOfFile = places.flatMap(({ offset, size, at }): PayloadPart[] =>
    pieces.flatMap((piece) => {
      const from = Math.max(offset, piece.offset);
      const end = Math.min(offset + size, piece.offset + piece.bytes);
      if (from >= end) return [];
      return [{ at: at + from - offset, bytes: end - from, from: from - piece.offset, source: piece.source }];
    }),
  );
  const start = roundUp(constantBytes, 16);
  const table = new Map(indices.map((index, i) => [index, start + 8 * i]));
  const model: WorkItemModel = {
    parts: [...partsOfFile, ...groupIds],
    filled: places,
    pointers: [...pointers, ...table.values()],
    paramBytes: start + 8 * indices.length,
    surfaces: table,
    privateMemory: {
      bytes: privateBytes,
      base: privateBase,
      stateOf: (thread) => stateOfThread(thread, routine.platform),
    },
  };
  const copied = pieces.flatMap(({ offset, bytes, source }) =>
    source.kind === "param" ? [{ offset, bytes, to: source.offset }] : [],
  );
  return { model, copied };
}

const dimensions = [0, 1, 2] as const;

/** The predefined variables with the group's id. */
const groupIds: readonly PayloadPart[] = dimensions.map((dimension) => ({
  at: [fileLayout.group_id_x, fileLayout.group_id_y, fileLayout.group_id_z][dimension]!.at,
  bytes: 4,
  from: 0,
  source: { kind: "group-id", dimension },
}));

/** The doublewords of r0 with the group's id. */
const groupWords = [1, 6, 7] as const;

/**
 * The doubleword of r0 with the number of the thread. That of its scratch space, 5, is nothing that work items know.
 */
const threadWord = 2;
const unknownWord = 5;

/** What r0 holds: see `payload.ts`. */
const r0Pieces = (grfBytes: number): readonly Piece[] =>
  Array.from({ length: grfBytes / 4 }, (_, word) => word)
    .filter((word) => word !== unknownWord)
    .map((word): Piece => {
      const dimension = dimensions.find((d) => groupWords[d] === word);
      const kind = word === threadWord ? "thread-index" : "zero";
      const source: PayloadSource = dimension === undefined ? { kind } : { kind: "group-id", dimension };
      return { offset: 4 * word, bytes: 4, source };
    });

interface Pieces {
  readonly pieces: readonly Piece[];
  /** Offsets of addresses among what is common to all threads, and how many bytes that has. */
  readonly pointers: readonly number[];
  /** The offset there of the address of the first thread's private memory; null if there is none. */
  readonly privateBase: number | null;
  readonly constantBytes: number;
}

/** The pieces of a hand-written kernel's payload. */
function handwrittenPieces(routine: BoundRoutine, inputs: readonly KernelInput[]): Pieces {
  const pieces: Piece[] = [...r0Pieces(routine.grfBytes)];
  const pointers: number[] = [];
  let constantBytes = 0;
  let privateBytes = 0;
  for (const { name, kind, ...input } of inputs) {
    const place = routine.inputs.find(({ variable }) => variable.name === name);
    if (place === undefined) continue;
    const { offset, size: bytes } = place;
    if ("bytesPerThread" in input) {
      if (bytes >= 8) pieces.push({ offset, bytes: 8, source: { kind: "private", offset: privateBytes } });
      privateBytes += roundUp(input.bytesPerThread, 64);
      continue;
    }
    const type = "type" in input ? input.type : null;
    if (kind === "lane-id") {
      if (type === "u32") pieces.push({ offset, bytes, source: { kind: "item-index" } });
      continue;
    }
    if (type === "u64" && bytes >= 8) pointers.push(constantBytes);
    pieces.push({ offset, bytes, source: { kind: "param", offset: constantBytes } });
    constantBytes += roundUp(bytes, 8);
  }
  return { pieces, pointers, privateBase: null, constantBytes };
}

/** The pieces of a compiled kernel's payload. */
function compiledPieces({ grfBytes, inputs }: BoundRoutine, info: KernelInfo, payload: Payload): Pieces {
  const pieces: Piece[] = [...r0Pieces(grfBytes)];
  for (const { type, offset, size } of info.perThread) {
    if (type !== "local_id") continue;
    const stride = roundUp(2 * info.simd, grfBytes);
    for (const dimension of dimensions.slice(0, Math.floor(size / stride))) {
      const at = grfBytes + offset + dimension * stride;
      pieces.push({ offset: at, bytes: 2 * info.simd, source: { kind: "local-id", dimension } });
    }
  }
  const place = payloadPlace(
    info,
    grfBytes,
    inputs.map(({ offset }) => offset),
  );
  const { inlineBytes } = info;
  // What is common to all threads keeps its offsets, and with them its alignment.
  const inline = { offset: place.start, bytes: inlineBytes, source: { kind: "param", offset: 0 } } as const;
  const bytes = Math.max(0, payload.bytes - place.rest);
  const rest = { offset: place.rest, bytes, source: { kind: "param", offset: inlineBytes } } as const;
  pieces.push(...sizePieces(info, (at) => (at < inlineBytes ? place.start + at : place.rest + at - inlineBytes)));
  pieces.push(...[inline, rest].filter((piece) => piece.bytes > 0));
  const pointers = info.payload.flatMap(({ type, offset, size, addressMode }) => {
    const isAddress = type === "buffer_address" || (type === "arg_bypointer" && addressMode === "stateless");
    return isAddress && size === 8 && offset % 8 === 0 ? [offset] : [];
  });
  const base = info.payload.find(({ type, size }) => type === "private_base_stateless" && size === 8);
  return { pieces, pointers, privateBase: base?.offset ?? null, constantBytes: inlineBytes + bytes };
}

/** What work items find of sizes in a compiled kernel's payload: they have special registers for it. */
const sizes: Readonly<Record<string, "group-size" | "group-count" | "item-count" | "zero">> = {
  local_size: "group-size",
  enqueued_local_size: "group-size",
  group_count: "group-count",
  global_size: "item-count",
  // No launch has another one.
  global_id_offset: "zero",
};

/** The doublewords of a payload that are sizes. `placeOf`: where an offset of `.ze_info` is in the payload. */
const sizePieces = ({ payload }: KernelInfo, placeOf: (offset: number) => number): readonly Piece[] =>
  payload.flatMap(({ type, offset, size }) => {
    const kind = sizes[type];
    if (kind === undefined) return [];
    return dimensions
      .filter((dimension) => 4 * (dimension + 1) <= size)
      .map((dimension): Piece => {
        const source: PayloadSource = kind === "zero" ? { kind } : { kind, dimension };
        return { offset: placeOf(offset + 4 * dimension), bytes: 4, source };
      });
  });

/** Whether a surface is all of an allocation, or empty and in none. */
function isWhole({ address, bytes }: Surface, memory: DeviceMemory): boolean {
  const found = addresses.classify(parts(address));
  if (found.kind !== "global") return bytes === 0;
  const allocation = memory.find(found.offset);
  if (allocation === null) return bytes === 0;
  return allocation.start === found.offset && allocation.end - allocation.start === bytes;
}
