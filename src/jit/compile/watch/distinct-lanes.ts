import type { IrFunction } from "../../../ir/index.ts";
import type { Dim3 } from "../../../machine/reports/report.ts";
import type { Expr } from "../../../semantics/index.ts";
import { AddressSums } from "../analysis/access/address-sums.ts";
import { warpLanes } from "./watch-choices.ts";

/** What may differ between lanes at the same instruction: registers written in several places, too. */
const varying = /(?<![a-z])(r\d|rounds|tid\.|laneid|warpid|clock|globaltimer|old|lane-)/;

/** Tells where the lanes of a warp that execute an access together certainly access different memory. */
export class DistinctLanes {
  readonly #sums: AddressSums;
  /** Lanes of a chunk lie in one row of the block. */
  readonly #inRows: boolean;

  constructor(ir: IrFunction, [x, y, z]: Dim3) {
    this.#sums = new AddressSums(ir);
    this.#inRows = (y === 1 && z === 1) || x % warpLanes === 0;
  }

  /** `bytes`: what a lane accesses. */
  has(address: Expr, bytes: number): boolean {
    if (!this.#inRows) return false;
    const sum = this.#sums.of(address);
    const step = sum.get("tid.x") ?? 0n;
    if (step < BigInt(bytes) || step > 0x1_0000n) return false;
    return [...sum.keys()].every((term) => /^tid\.[xyz]$/.test(term) || !varying.test(term));
  }
}
