import { type Space, tensorMapAlign, tensorMapBytes, type UnitOpOf } from "../../ir/index.ts";
import { type AddressParts, parts } from "../../machine/memory/address-space.ts";
import { type Box, boxOf, type BoxRequest, requestProblem } from "../tensor/box.ts";
import { boxExtent, loadBox, storeBox } from "../tensor/box-copy.ts";
import { tensorMapProblem } from "../tensor/map-problem.ts";
import { reducedBytes, reduces } from "../tensor/reduction.ts";
import { decodeTensorMap, type TensorMap } from "../tensor/tensor-map.ts";
import { bytesOf, reduced, stored } from "./bulk-copy.ts";
import { destinations } from "./destinations.ts";
import { forEachLane, unitFault } from "./lanes.ts";
import { completeTransactions } from "./mbarrier.ts";
import type { RangeRequest, UnitCall } from "./unit-call.ts";

type TensorOp = UnitOpOf<"tensor-load" | "tensor-store">;

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
  const info = op.op === "tensor-load" ? op.info : 0;
  const request: BoxRequest = {
    mode: op.mode,
    coordinates: Array.from({ length: op.coordinates }, (_, i) => word(i)),
    info: Array.from({ length: info }, (_, i) => word(op.coordinates + i)),
  };
  const misfit = requestProblem(map, request, op.rank);
  if (misfit !== null) invalid(misfit);
  return { map, box: boxOf(map, request) };
}

/** The bytes of the tensor, which a run of the box reads or writes. */
function tensorOf(call: UnitCall, lane: number, { map }: Request, how: Pick<RangeRequest, "effect" | "kind">) {
  return (from: number, bytes: number): Uint8Array => {
    const address = parts(map.globalAddress + BigInt(from));
    return bytesOf(call.range({ lane, ...how, space: "global", address, bytes, align: 1 }), bytes);
  };
}

/** The address of a box in shared memory, which swizzling goes by: that within the block's window. */
const boxAddress = ({ low }: AddressParts): number => low;

/** Copies a box of a tensor to shared memory, for each lane (section 9.7.9.27.1.2). */
export const tensorLoad = (op: UnitOpOf<"tensor-load">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const request = requestOf(op, call, lane, 4);
    const { map, box } = request;
    const completion = { ...op, completion: "mbarrier" } as const;
    for (const { target, mbarrier } of destinations(completion, call, lane, { target: 0, mbarrier: 2, mask: 3 })) {
      const bytes = boxExtent(map.swizzle, boxAddress(target), box.bytes);
      const shared = call.range({ lane, effect: "store", space: op.to, address: target, bytes, align: boxAlign });
      const places = { address: boxAddress(target), shared: bytesOf(shared, bytes) };
      loadBox(map, box, { ...places, tensor: tensorOf(call, lane, request, { effect: "load" }) });
      if (mbarrier !== null) completeTransactions(call, lane, mbarrier, box.transactions);
    }
  });

/**
 * Copies a box from shared memory to a tensor, or reduces it into the tensor, for each lane (sections 9.7.9.27.1.2 and
 * 9.7.9.27.1.3).
 */
export const tensorStore = (op: UnitOpOf<"tensor-store">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const request = requestOf(op, call, lane, 2);
    const { map, box } = request;
    const { type } = map;
    const source = call.address(0, lane);
    const bytes = boxExtent(map.swizzle, boxAddress(source), box.bytes);
    const shared = call.range({ lane, effect: "load", space: "shared", address: source, bytes, align: boxAlign });
    const places = { address: boxAddress(source), shared: bytesOf(shared, bytes) };
    if (op.reduction === null) {
      if (type === "16u4_align16b") {
        throw unitFault(
          call,
          lane,
          "tensormap-invalid",
          "the tensor map has elements of type 16u4_align16b, which are not stored",
        );
      }
      storeBox(map, box, { ...places, tensor: tensorOf(call, lane, request, stored) }, null);
      return;
    }
    if (!reduces(op.reduction, type)) {
      const message = `the tensor map has elements of type ${type}, which .${op.reduction} does not reduce`;
      throw unitFault(call, lane, "tensormap-invalid", message);
    }
    const reduction = { op: op.reduction, type };
    storeBox(map, box, { ...places, tensor: tensorOf(call, lane, request, reduced(reducedBytes(type))) }, reduction);
  });
