import type { Access, Space } from "../../ir/index.ts";
import { accessFault } from "../../machine/faults/access-fault.ts";
import { locate, type Place } from "../../machine/faults/locate.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Views } from "../../machine/memory/views.ts";
import type { Site } from "../../machine/state/code.ts";
import type { CallFrame } from "../../machine/state/launch-state.ts";
import type { UnitStates } from "../../machine/state/unit-state.ts";

/** Bytes of memory that follow each other. */
export interface Range {
  readonly views: Views;
  /** The first of them, in `views`. */
  readonly at: number;
}

/** A range that a unit accesses on behalf of a lane. */
export interface RangeRequest {
  readonly lane: number;
  readonly effect: "load" | "store" | "atomic";
  readonly space: Space;
  readonly address: AddressParts;
  /** At least 1. */
  readonly bytes: number;
  /** The address must be a multiple of this. */
  readonly align: number;
}

/**
 * The lanes for which a unit acts, with their operands and results, and the memory that they see. An engine makes one,
 * and fills it for each instruction. Lanes are those of the warp.
 */
export interface UnitCall {
  readonly x: CallFrame;
  readonly site: Site;
  /** The lanes, as bits: at least one. */
  readonly lanes: number;
  /** What units remember for the block. */
  readonly states: UnitStates;
  /** The n-th operand of a lane: its lower 32 bits, as a signed number. */
  word(n: number, lane: number): number;
  /** The n-th operand of a lane, of 64 bits, or of 32 with zeros above. */
  address(n: number, lane: number): AddressParts;
  /** Writes the n-th result of a lane; of one with 64 bits `high` is the upper half. */
  give(n: number, lane: number, low: number, high?: number): void;
  /**
   * The bytes of a range, which lies in one variable or allocation.
   *
   * @throws Fault if the lane must not access them
   */
  range(request: RangeRequest): Range;
}

/** What an engine adds to find memory: the bytes at the beginning of a place. */
type BytesOf = (place: Place) => Range;

/**
 * Finds a range that a lane accesses at an instruction.
 *
 * @throws Fault if the lane must not access it
 */
export function findRange(x: CallFrame, site: Site, request: RangeRequest, bytesOf: BytesOf): Range {
  const { lane, effect, space, address, bytes, align } = request;
  const access: Access = {
    ...{ space, bits: 8, signed: false, count: bytes, align },
    ...{ volatile: false, order: "weak", scope: null },
  };
  const place = locate(x, lane, address);
  const fault = accessFault({ x, lane, site, effect, access, address, place });
  if (fault !== null) throw fault;
  const { views, at } = bytesOf(place!);
  return { views, at: at + (address.low - place!.start) };
}
