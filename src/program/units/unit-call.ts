import type { Access, Space } from "../../ir/index.ts";
import type { TensorCells } from "../../machine/events.ts";
import { accessFault } from "../../machine/faults/access-fault.ts";
import { locate, type Place } from "../../machine/faults/locate.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Views } from "../../machine/memory/views.ts";
import type { Site } from "../../machine/state/code.ts";
import type { CallFrame, Cta } from "../../machine/state/launch-state.ts";

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
  /** How the memory model sees the access, if it is not a weak one to bytes. */
  readonly kind?: RangeKind;
  /** What is going to be stored, for sanitizers. */
  readonly contents?: () => Uint8Array;
}

/** An access to elements of `bits` bits, with an order. */
export type RangeKind = Pick<Access, "bits" | "order" | "scope">;

/**
 * The lanes for which a unit acts, with their operands and results, and the memory that they see. An engine makes one,
 * and fills it for each instruction. Lanes are those of the warp.
 */
export interface UnitCall {
  readonly x: CallFrame;
  readonly site: Site;
  /** The lanes, as bits: at least one. */
  readonly lanes: number;
  /** The n-th operand of a lane: its lower 32 bits, as a signed number. */
  word(n: number, lane: number): number;
  /** The n-th operand of a lane, of 64 bits, or of 32 with zeros above. */
  address(n: number, lane: number): AddressParts;
  /** Writes the n-th result of a lane; of one with 64 bits `high` is the upper half. */
  give(n: number, lane: number, low: number, high?: number): void;
  /** Copies operands of 32 bits, from the n-th on: for each the words of the 32 lanes of a warp. */
  words(n: number, count: number, into: Int32Array): void;
  /** Writes results of 32 bits in all lanes, from the n-th on, as `words` reads operands. */
  giveWords(n: number, count: number, from: Int32Array): void;
  /** The registers that the instruction names, for an operation that takes effect later. */
  kept(): KeptRegisters;
  /**
   * The bytes of a range, which lies in one variable or allocation.
   *
   * @throws Fault if the lane must not access them
   */
  range(request: RangeRequest): Range;
  /** Tells those who observe the launch that lanes access the tensor memory of a block. */
  touch(lanes: number, effect: "load" | "store", cells: TensorCells, owner: Cta): void;
}

/**
 * Registers that an instruction names, once it is over. Operands that are not registers have the values that they had;
 * those of a function that has returned stay as they are.
 */
export interface KeptRegisters extends Pick<UnitCall, "words" | "giveWords" | "give"> {
  /** Copies the words of results, from the n-th on, as `words` does those of operands. */
  resultWords(n: number, count: number, into: Int32Array): void;
}

const weakBytes: RangeKind = { bits: 8, order: "weak", scope: null };

/** The access that a range is. */
export function accessOfRange({ space, bytes, align, kind }: RangeRequest): Access {
  const { bits, order, scope } = kind ?? weakBytes;
  return { space, bits, signed: false, count: (8 * bytes) / bits, align, volatile: false, order, scope };
}

/** What an engine adds to find memory: the bytes at the beginning of a place. */
type BytesOf = (place: Place) => Range;

/**
 * Finds a range that a lane accesses at an instruction.
 *
 * @throws Fault if the lane must not access it
 */
export function findRange(x: CallFrame, site: Site, request: RangeRequest, bytesOf: BytesOf): Range {
  const { lane, effect, address } = request;
  const access = accessOfRange(request);
  const place = locate(x, lane, address);
  const fault = accessFault({ x, lane, site, effect, access, address, place });
  if (fault !== null) throw fault;
  const { views, at } = bytesOf(place!);
  return { views, at: at + (address.low - place!.start) };
}
