import { type Space, tensorMapAlign, tensorMapBytes, type UnitOpOf } from "../../ir/index.ts";
import { Fault } from "../../machine/faults/fault.ts";
import { type AddressParts, parts } from "../../machine/memory/address-space.ts";
import { type Box, boxOf, type BoxRequest, requestProblem } from "../tensor/box.ts";
import { boxExtent, type BoxPlaces, denseBox, loadBox, storeBox, tensorBytes } from "../tensor/box-copy.ts";
import { interiorBox } from "../tensor/interior-box.ts";
import { isPadded } from "../tensor/element.ts";
import { tensorMapProblem } from "../tensor/map-problem.ts";
import { reducedBytes, reduces } from "../tensor/reduction.ts";
import { decodeTensorMap, type TensorMap } from "../tensor/tensor-map.ts";
import { bytesOf, reduced, stored } from "./bulk-copy.ts";
import { destinations } from "./destinations.ts";
import { issue } from "./effect.ts";
import { forEachLane, unitFault } from "./lanes.ts";
import { completeTransactions, mbarrierAt } from "./mbarrier.ts";
import type { Range, RangeRequest, UnitCall } from "./unit-call.ts";

type TensorOp = UnitOpOf<"box-load" | "box-store">;

/** Boxes in shared memory begin at multiples of this (sections 5.5.7, 9.7.9.27.1.2). */
const boxAlign = 128;

interface Request {
  readonly map: TensorMap;
  readonly elements: BoxRequest;
}

/** A box and the memory of the tensor that it takes. */
interface LocatedBox {
  readonly box: Box;
  readonly tensor: BoxPlaces["tensor"];
}

/** Tensor maps that kernels have used, by what their words add up to: decoding one takes long. */
const decoded = new Map<number, { readonly words: Int32Array; readonly map: TensorMap }>();
const mostDecoded = 64;
const tensorMapWords = tensorMapBytes / 4;

/** What 128 bytes say, or null if they are no tensor map that the driver would encode: then `invalid` has been told. */
function mapOf(range: Range, invalid: (why: string) => never): TensorMap {
  const { i32 } = range.views;
  // Maps lie at multiples of 64 bytes.
  const first = range.at >>> 2;
  let sum = 0;
  for (let i = 0; i < tensorMapWords; i++) sum = (Math.imul(sum, 31) + i32[first + i]!) | 0;
  const known = decoded.get(sum);
  if (known !== undefined && areWordsAt(i32, first, known.words)) return known.map;
  const bytes = bytesOf(range, tensorMapBytes);
  const map = decodeTensorMap(bytes);
  if (map === null) return invalid("is none: these are not the bytes that cuTensorMapEncode or a job made");
  const problem = tensorMapProblem(map);
  if (problem !== null) invalid(`is none that the driver would encode: ${problem}`);
  if (decoded.size >= mostDecoded) decoded.clear();
  decoded.set(sum, { words: i32.slice(first, first + tensorMapWords), map });
  return map;
}

function areWordsAt(i32: Int32Array, first: number, words: Int32Array): boolean {
  for (let i = 0; i < words.length; i++) if (i32[first + i] !== words[i]) return false;
  return true;
}

/**
 * The space of a tensor map's address. It is a generic one; that of a parameter or constant in its own space is taken,
 * too, as `mov` gives it, since nothing else can be meant.
 */
function mapSpace({ x }: UnitCall, address: AddressParts): Space {
  const found = x.warp.cta.grid.addresses.classify(address);
  const isOwn = (found.kind === "kernel-param" || found.kind === "const") && !found.generic;
  return isOwn ? found.kind : "generic";
}

/** What a lane asks for. @throws Fault if its tensor map is none, or does not fit the instruction */
function requestOf(op: TensorOp, call: UnitCall, lane: number, first: number): Request {
  const invalid = (why: string): never => {
    throw unitFault(call, lane, "tensormap-invalid", `the tensor map ${why}`);
  };
  const address = call.address(1, lane);
  const space = mapSpace(call, address);
  const bytes = call.range({ lane, effect: "load", space, address, bytes: tensorMapBytes, align: tensorMapAlign });
  const map = mapOf(bytes, invalid);
  const words = (from: number, count: number): number[] => {
    const found: number[] = [];
    for (let i = 0; i < count; i++) found.push(call.word(first + from + i, lane));
    return found;
  };
  const info = op.op === "box-load" ? op.info : 0;
  const elements: BoxRequest = {
    mode: op.mode,
    coordinates: words(0, op.coordinates),
    info: words(op.coordinates, info),
  };
  const misfit = requestProblem(map, elements, op.rank);
  if (misfit !== null) invalid(misfit);
  return { map, elements };
}

/** How the runs of a box are accessed; `dense`: what is stored, where it is stored as it is. */
interface RunAccess extends Pick<RangeRequest, "effect" | "kind"> {
  readonly dense?: () => Uint8Array;
}

/** Finds the box that is loaded and its memory: if nobody observes accesses, all of an interior box together. */
function locate(call: UnitCall, lane: number, { map, elements }: Request): LocatedBox {
  const access = { effect: "load" } as const;
  const interior = isObserved(call) ? null : interiorBox(map, elements);
  const found = interior === null ? null : spanOf(call, lane, map, access, interior.from, interior.end);
  if (found !== null) return { box: interior!.box, tensor: found };
  const box = boxOf(map, elements);
  return { box, tensor: rangesOf(call, lane, map, box, access) };
}

const isObserved = ({ x }: UnitCall): boolean => x.warp.cta.grid.observers !== null;

/**
 * The memory of the tensor that the runs of a box use; null for those outside. Where accesses are observed, bytes in
 * between must not be shown.
 */
const rangesOf = (
  call: UnitCall,
  lane: number,
  map: TensorMap,
  box: Box,
  access: RunAccess,
): readonly (Range | null)[] =>
  (isObserved(call) ? null : rangesInSpan(call, lane, map, box, access)) ?? eachRange(call, lane, map, box, access);

function eachRange(
  call: UnitCall,
  lane: number,
  { type, globalAddress }: TensorMap,
  { runs }: Box,
  { dense, ...access }: RunAccess,
): readonly (Range | null)[] {
  return runs.map((run) => {
    if (run.from === null) return null;
    const how =
      dense === undefined ? access : { ...access, contents: () => dense().subarray(run.at, run.at + run.bytes) };
    const address = parts(globalAddress + BigInt(run.from));
    return call.range({ lane, ...how, space: "global", address, bytes: tensorBytes(type, run), align: 1 });
  });
}

/** Ranges that are found together; null if not all lies in one allocation. */
function rangesInSpan(
  call: UnitCall,
  lane: number,
  map: TensorMap,
  { runs }: Box,
  access: RunAccess,
): readonly (Range | null)[] | null {
  let [first, end] = [Infinity, 0];
  for (const run of runs) {
    if (run.from === null) continue;
    first = Math.min(first, run.from);
    end = Math.max(end, run.from + tensorBytes(map.type, run));
  }
  if (first >= end) return runs.map(() => null);
  const found = spanOf(call, lane, map, access, first, end - first);
  return found && runs.map(({ from }) => (from === null ? null : { ...found, at: found.at + from - first }));
}

/** So many bytes of a tensor, which begin `from` bytes after its first; null if they do not lie in one allocation. */
function spanOf(
  call: UnitCall,
  lane: number,
  { globalAddress }: TensorMap,
  access: RunAccess,
  from: number,
  bytes: number,
): Range | null {
  const address = parts(globalAddress + BigInt(from));
  const { effect, kind } = access;
  const request = { lane, effect, space: "global", address, bytes, align: 1 } as const;
  try {
    return call.range(kind === undefined ? request : { ...request, kind });
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

/** Where a box begins in its tensor; where the tensor begins if nothing of the box lies in it. */
function beginning({ map, elements }: Request): AddressParts {
  const first = boxOf(map, elements).runs.find(({ from }) => from !== null);
  return parts(map.globalAddress + BigInt(first?.from ?? 0));
}

/** The numbers of operands of a load. */
const operandsOfLoad = { target: 0, mbarrier: 2, mask: 3 } as const;

/** Copies a box of a tensor to shared memory, for each lane (section 9.7.9.27.1.2). */
export const boxLoad = (op: UnitOpOf<"box-load">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const request = requestOf(op, call, lane, 4);
    const { map } = request;
    const { box, tensor } = locate(call, lane, request);
    const { to: space, multicast, pairs } = op;
    const to = call.address(0, lane);
    const completion = { to: space, completion: "mbarrier", multicast, pairs } as const;
    const targets = destinations(completion, call, lane, operandsOfLoad).map(({ target, mbarrier }) => {
      const address = target.low;
      const bytes = boxExtent(map.swizzle, address, box.bytes);
      const shared = call.range({ lane, effect: "store", space, address: target, bytes, align: boxAlign });
      return { address, bytes, shared, mbarrier: mbarrierAt(call, lane, space, mbarrier!) };
    });
    const { x, site } = call;
    issue(call, lane, {
      copy: () => ({ from: beginning(request), to, bytes: box.transactions }),
      mbarriers: targets.map(({ mbarrier }) => mbarrier),
      // Nothing waits for the reading of a load alone.
      read: () => {},
      perform: () => {
        for (const { address, bytes, shared, mbarrier } of targets) {
          loadBox(map, box, { address, shared: bytesOf(shared, bytes), tensor });
          completeTransactions({ x, site, lane }, mbarrier, box.transactions);
        }
      },
    });
  });

/** How a box is stored into a tensor of a map. @throws Fault if its elements cannot be */
function storing(op: UnitOpOf<"box-store">, { type }: TensorMap, call: UnitCall, lane: number) {
  const invalid = (why: string): Fault =>
    unitFault(call, lane, "tensormap-invalid", `the tensor map has elements of type ${type}, ${why}`);
  if (op.reduction === null) {
    if (type === "16u4_align16b") throw invalid("which are not stored");
    return { how: stored, reduction: null };
  }
  if (!reduces(op.reduction, type)) throw invalid(`which .${op.reduction} does not reduce`);
  return { how: reduced(reducedBytes(type)), reduction: { op: op.reduction, type } };
}

/**
 * Copies a box from shared memory to a tensor, or reduces it into the tensor, for each lane (sections 9.7.9.27.1.2 and
 * 9.7.9.27.1.3).
 */
export const boxStore = (op: UnitOpOf<"box-store">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const request = requestOf(op, call, lane, 2);
    const { map, elements } = request;
    const box = boxOf(map, elements);
    const source = call.address(0, lane);
    const bytes = boxExtent(map.swizzle, source.low, box.bytes);
    const shared = call.range({ lane, effect: "load", space: "shared", address: source, bytes, align: boxAlign });
    const { how, reduction } = storing(op, map, call, lane);
    const places = { address: source.low, shared: bytesOf(shared, bytes) };
    const isPlain = reduction === null && !isPadded(map.type);
    const dense = (): Uint8Array => denseBox(map, box, places);
    const tensor = rangesOf(call, lane, map, box, isPlain ? { ...how, dense } : how);
    let taken: Uint8Array | null = null;
    const read = (): Uint8Array => taken ?? bytesOf(shared, bytes);
    issue(call, lane, {
      copy: () => ({ from: source, to: beginning(request), bytes: box.transactions }),
      mbarriers: [],
      read: () => {
        taken = read().slice();
      },
      perform: () => storeBox(map, box, { address: source.low, shared: read(), tensor }, reduction),
    });
  });
