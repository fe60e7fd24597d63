import type { OpOf } from "../../ir/index.ts";
import { emit, type TensorCells } from "../../machine/events.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { UnitStates } from "../../machine/state/unit-state.ts";
import { performUnit } from "../../program/units/index.ts";
import {
  accessOfRange,
  findRange,
  type Range,
  type RangeRequest,
  type UnitCall,
} from "../../program/units/unit-call.ts";
import type { Decoding } from "../compile/decoding.ts";
import type { Run } from "../compile/expr-compiler.ts";
import type { Slot } from "../compile/register-file.ts";

/** The operands of lanes in the registers of an activation. */
class RegisterCall implements UnitCall {
  readonly #operands: readonly Slot[];
  readonly #results: readonly (Slot | null)[];
  readonly site: UnitCall["site"];
  x!: Activation;
  lanes = 0;

  constructor(site: UnitCall["site"], operands: readonly Slot[], results: readonly (Slot | null)[]) {
    this.site = site;
    this.#operands = operands;
    this.#results = results;
  }

  get states(): UnitStates {
    return this.x.warp.cta.units;
  }

  word(n: number, lane: number): number {
    const { class: size, base } = this.#operands[n]!;
    if (size === "pred") return (this.x.i32[base]! >>> lane) & 1;
    return this.x.i32[size === "b64" ? 2 * (base + lane) : base + lane]!;
  }

  address(n: number, lane: number): AddressParts {
    const { class: size, base } = this.#operands[n]!;
    const high = size === "b64" ? this.x.i32[2 * (base + lane) + 1]! >>> 0 : 0;
    return { high, low: this.word(n, lane) >>> 0 };
  }

  give(n: number, lane: number, low: number, high = 0): void {
    const to = this.#results[n];
    if (to === null || to === undefined) return;
    const { i32 } = this.x;
    if (to.class === "pred") i32[to.base] = (i32[to.base]! & ~(1 << lane)) | ((low & 1) << lane);
    else if (to.class === "b32") i32[to.base + lane] = to.bits < 32 ? low & (2 ** to.bits - 1) : low;
    else {
      i32[2 * (to.base + lane)] = low;
      i32[2 * (to.base + lane) + 1] = high;
    }
  }

  words(n: number, count: number, into: Int32Array): void {
    for (let i = 0; i < count; i++) {
      const { base } = this.#operands[n + i]!;
      into.set(this.x.i32.subarray(base, base + 32), 32 * i);
    }
  }

  giveWords(n: number, count: number, from: Int32Array): void {
    for (let i = 0; i < count; i++) {
      const to = this.#results[n + i];
      if (to !== null && to !== undefined) this.x.i32.set(from.subarray(32 * i, 32 * i + 32), to.base);
    }
  }

  touch(mask: number, effect: "load" | "store", cells: TensorCells): void {
    const { x, site } = this;
    const { observers } = x.warp.cta.grid;
    if (observers !== null) emit(observers, "cells", { warp: x.warp, activation: x, site, mask, effect, cells });
  }

  range(request: RangeRequest): Range {
    const { x, site } = this;
    const found = findRange(x, site, request, ({ views, at }) => ({ views, at }));
    const { observers } = x.warp.cta.grid;
    const { lane, effect, address } = request;
    if (observers !== null) {
      const access = accessOfRange(request);
      emit(observers, "range", { warp: x.warp, activation: x, site, mask: 1 << lane, lane, effect, access, address });
    }
    return found;
  }
}

/** Makes the code of an operation that a unit of the machine performs. */
export function makeUnit({ site, operands, results }: Decoding, op: OpOf<"unit">): Run {
  const call = new RegisterCall(
    site,
    op.operands.map((operand) => operands.slot(operand)),
    results,
  );
  const { prepare } = operands;
  return (x, mask) => {
    if (mask === 0) return;
    prepare(x, mask);
    call.x = x;
    call.lanes = mask;
    performUnit(op.unit, call);
  };
}
