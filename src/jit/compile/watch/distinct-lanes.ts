import type { IrFunction } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { AddressSums, varyingWords } from "../analysis/access/address-sums.ts";
import type { WatchChoices } from "./watch-choices.ts";

/**
 * How the addresses of lanes that execute an access together lie: each lane certainly accesses other memory, all lanes
 * certainly the same, or anything else.
 */
export type LaneAddresses = "distinct" | "same" | "any";

/** Finds how the addresses of the lanes of a chunk lie, as far as all of them are in one row of the block. */
export class DistinctLanes {
  readonly #sums: AddressSums;
  readonly #inRows: boolean;

  constructor(ir: IrFunction, { block: [x, y, z], lanes }: WatchChoices) {
    this.#sums = new AddressSums(ir);
    this.#inRows = (y === 1 && z === 1) || x % lanes === 0;
  }

  /** `bytes`: what a lane accesses. */
  of(address: Expr, bytes: number): LaneAddresses {
    if (!this.#inRows) return "any";
    const sum = this.#sums.of(address);
    if ([...sum.keys()].some((term) => !/^tid\.[xyz]$/.test(term) && term.match(varyingWords) !== null)) return "any";
    const step = sum.get("tid.x") ?? 0n;
    if (step >= BigInt(bytes) && step <= 0x1_0000n) return "distinct";
    // Where no thread number is part of it, often one lane alone makes the access.
    return step === 0n && (sum.has("tid.y") || sum.has("tid.z")) ? "same" : "any";
  }
}
