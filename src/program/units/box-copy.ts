import { type Space, tensorMapAlign, tensorMapBytes, type UnitOpOf } from "../../ir/index.ts";
import { Fault } from "../../machine/faults/fault.ts";
import { type AddressParts, parts } from "../../machine/memory/address-space.ts";
import { type Box, boxOf, type BoxRequest, type BoxRun, requestProblem } from "../tensor/box.ts";
import { boxExtent, denseBox, loadBox, storeBox, tensorBytes } from "../tensor/box-copy.ts";
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
  readonly box: Box;
}

/**
 * The place of a tensor map. Its address is a generic one; that of a parameter or constant in its own space is taken,
 * too, as `mov` gives it, since nothing else can be meant.
 */
function mapPlace({ x }: UnitCall, address: AddressParts): { readonly space: Space; readonly address: AddressParts } {
  const found = x.warp.cta.grid.addresses.classify(address);
  const isOwn = (found.kind === "kernel-param" || found.kind === "const") && !found.generic;
  return { space: isOwn ? found.kind : "generic", address };
}

/** What a lane asks for. @throws Fault if its tensor map is none, or does not fit the instruction */
function requestOf(op: TensorOp, call: UnitCall, lane: number, first: number): Request {
  const invalid = (why: string): never => {
    throw unitFault(call, lane, "tensormap-invalid", `the tensor map ${why}`);
  };
  const bytes = call.range({
    ...{ lane, effect: "load", ...mapPlace(call, call.address(1, lane)) },
    ...{ bytes: tensorMapBytes, align: tensorMapAlign },
  });
  const map = decodeTensorMap(bytesOf(bytes, tensorMapBytes));
  if (map === null) return invalid("is none: these are not the bytes that cuTensorMapEncode or a job made");
  const problem = tensorMapProblem(map);
  if (problem !== null) invalid(`is none that the driver would encode: ${problem}`);
  const word = (n: number): number => call.word(first + n, lane);
  const info = op.op === "box-load" ? op.info : 0;
  const request: BoxRequest = {
    mode: op.mode,
    coordinates: Array.from({ length: op.coordinates }, (_, i) => word(i)),
    info: Array.from({ length: info }, (_, i) => word(op.coordinates + i)),
  };
  const misfit = requestProblem(map, request, op.rank);
  if (misfit !== null) invalid(misfit);
  return { map, box: boxOf(map, request) };
}

/** How the runs of a box are accessed; `dense`: what is stored, where it is stored as it is. */
interface RunAccess extends Pick<RangeRequest, "effect" | "kind"> {
  readonly dense?: () => Uint8Array;
}

/** The memory of the tensor that the runs of a box use; null for those outside. */
function tensorRanges(call: UnitCall, lane: number, request: Request, { dense, ...access }: RunAccess) {
  const { map, box } = request;
  const whole = call.x.warp.cta.grid.observers === null ? spanOfRuns(call, lane, request, access) : null;
  if (whole !== null) return whole;
  return box.runs.map((run) => {
    if (run.from === null) return null;
    const how =
      dense === undefined ? access : { ...access, contents: () => dense().subarray(run.at, run.at + run.bytes) };
    const address = parts(map.globalAddress + BigInt(run.from));
    const bytes = tensorBytes(map.type, run);
    return call.range({ lane, ...how, space: "global", address, bytes, align: 1 });
  });
}

/**
 * The same, found together, as nearly always all bytes between the first run and the last lie in one allocation. Null
 * if they do not. Where accesses are observed, those in between must not be shown.
 */
function spanOfRuns(
  call: UnitCall,
  lane: number,
  { map, box: { runs } }: Request,
  access: RunAccess,
): (Range | null)[] | null {
  let [first, end] = [Infinity, 0];
  for (const run of runs) {
    if (run.from === null) continue;
    first = Math.min(first, run.from);
    end = Math.max(end, run.from + tensorBytes(map.type, run));
  }
  if (first >= end) return runs.map(() => null);
  const address = parts(map.globalAddress + BigInt(first));
  try {
    const { views, at } = call.range({ lane, ...access, space: "global", address, bytes: end - first, align: 1 });
    return runs.map(({ from }) => (from === null ? null : { views, at: at + from - first }));
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

/** What copies a box between the ranges of a tensor and shared memory. */
const placesOf = (ranges: readonly (Range | null)[], address: number, shared: Uint8Array) => ({
  ...{ address, shared },
  tensor: (_: BoxRun, i: number) => ({ bytes: ranges[i]!.views.u8, at: ranges[i]!.at }),
});

/** Copies a box of a tensor to shared memory, for each lane (section 9.7.9.27.1.2). */
export const boxLoad = (op: UnitOpOf<"box-load">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const request = requestOf(op, call, lane, 4);
    const { map, box } = request;
    const ranges = tensorRanges(call, lane, request, { effect: "load" });
    const completion = { ...op, completion: "mbarrier" } as const;
    const targets = destinations(completion, call, lane, { target: 0, mbarrier: 2, mask: 3 }).map((to) => {
      const address = to.target.low;
      const bytes = boxExtent(map.swizzle, address, box.bytes);
      const shared = call.range({ lane, ...stored, space: op.to, address: to.target, bytes, align: boxAlign });
      return { address, bytes, shared, mbarrier: mbarrierAt(call, lane, op.to, to.mbarrier!) };
    });
    const { x, site } = call;
    issue(call, lane, {
      copy: { from: parts(map.globalAddress), to: call.address(0, lane), bytes: box.transactions },
      mbarriers: targets.map(({ mbarrier }) => mbarrier),
      // Nothing waits for the reading of a load alone.
      read: () => {},
      perform: () => {
        for (const { address, bytes, shared, mbarrier } of targets) {
          loadBox(map, box, placesOf(ranges, address, bytesOf(shared, bytes)));
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
    const { map, box } = request;
    const source = call.address(0, lane);
    const bytes = boxExtent(map.swizzle, source.low, box.bytes);
    const shared = call.range({ lane, effect: "load", space: "shared", address: source, bytes, align: boxAlign });
    const { how, reduction } = storing(op, map, call, lane);
    const places = { address: source.low, shared: bytesOf(shared, bytes) };
    const isPlain = reduction === null && !isPadded(map.type);
    const dense = (): Uint8Array => denseBox(map, box, places);
    const ranges = tensorRanges(call, lane, request, isPlain ? { ...how, dense } : how);
    let taken: Uint8Array | null = null;
    const read = (): Uint8Array => taken ?? bytesOf(shared, bytes);
    issue(call, lane, {
      copy: { from: source, to: parts(map.globalAddress), bytes: box.transactions },
      mbarriers: [],
      read: () => {
        taken = read().slice();
      },
      perform: () => storeBox(map, box, placesOf(ranges, source.low, read()), reduction),
    });
  });
