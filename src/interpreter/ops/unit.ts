import type { OpOf } from "../../ir/index.ts";
import { emit } from "../../machine/events.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { UnitStates } from "../../machine/state/unit-state.ts";
import { performUnit } from "../../program/units/index.ts";
import { findRange, type Range, type RangeRequest, type UnitCall } from "../../program/units/unit-call.ts";
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

  range(request: RangeRequest): Range {
    const { x, site } = this;
    const found = findRange(x, site, request, ({ views, at }) => ({ views, at }));
    const { observers } = x.warp.cta.grid;
    if (observers !== null)
      emit(observers, "range", { warp: x.warp, activation: x, site, mask: 1 << request.lane, ...request });
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
