import type { OpOf } from "../../ir/index.ts";
import { emit, type TensorCells } from "../../machine/events.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Activation, Cta } from "../../machine/state/launch-state.ts";
import { performUnit } from "../../program/units/index.ts";
import {
  accessOfRange,
  findRange,
  type KeptRegisters,
  type Range,
  type RangeRequest,
  type UnitCall,
} from "../../program/units/unit-call.ts";
import type { Decoding } from "../compile/decoding.ts";
import type { Run } from "../compile/expr-compiler.ts";
import type { Slot } from "../compile/register-file.ts";

/** The registers of an instruction. */
interface Registers {
  readonly operands: readonly Slot[];
  /** Of the operands, whether they are registers, and not values of expressions. */
  readonly areRegisters: readonly boolean[];
  readonly results: readonly (Slot | null)[];
}

/** The operands of lanes in the registers of an activation. */
class RegisterCall implements UnitCall {
  readonly #registers: Registers;
  readonly #operands: readonly Slot[];
  readonly #results: readonly (Slot | null)[];
  readonly site: UnitCall["site"];
  x!: Activation;
  lanes = 0;

  constructor(site: UnitCall["site"], registers: Registers) {
    this.site = site;
    this.#registers = registers;
    this.#operands = registers.operands;
    this.#results = registers.results;
  }

  kept(): KeptRegisters {
    const call = new RegisterCall(this.site, this.#registers);
    const { x, lanes } = this;
    Object.assign(call, { x, lanes });
    const values = this.#operands.map(({ base }, n) =>
      this.#registers.areRegisters[n] === true ? null : x.i32.slice(base, base + 32),
    );
    const { serial } = x;
    const exists = (): boolean => x.serial === serial;
    return {
      words(n, count, into) {
        call.words(n, count, into);
        for (let i = 0; i < count; i++) if (values[n + i]) into.set(values[n + i]!, 32 * i);
      },
      resultWords(n, count, into) {
        for (let i = 0; i < count; i++) {
          const to = call.#results[n + i];
          if (to) into.set(x.i32.subarray(to.base, to.base + 32), 32 * i);
        }
      },
      give(n, lane, low, high) {
        if (exists()) call.give(n, lane, low, high);
      },
      giveWords(n, count, from) {
        if (exists()) call.giveWords(n, count, from);
      },
    };
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

  touch(mask: number, effect: "load" | "store", cells: TensorCells, owner: Cta): void {
    const { x, site } = this;
    const { observers } = x.warp.cta.grid;
    if (observers !== null) emit(observers, "cells", { warp: x.warp, activation: x, site, mask, effect, cells, owner });
  }

  range(request: RangeRequest): Range {
    const { x, site } = this;
    const found = findRange(x, site, request, ({ views, at }) => ({ views, at }));
    const { observers } = x.warp.cta.grid;
    const { lane, effect, address, contents = null } = request;
    if (observers !== null) {
      const access = accessOfRange(request);
      emit(observers, "range", {
        warp: x.warp,
        activation: x,
        site,
        mask: 1 << lane,
        lane,
        effect,
        access,
        address,
        contents,
      });
    }
    return found;
  }
}

/** Makes the code of an operation that a unit of the machine performs. */
export function makeUnit({ site, operands, results }: Decoding, op: OpOf<"unit">): Run {
  const call = new RegisterCall(site, {
    operands: op.operands.map((operand) => operands.slot(operand)),
    areRegisters: op.operands.map(({ kind }) => kind === "reg"),
    results,
  });
  const { prepare } = operands;
  return (x, mask) => {
    if (mask === 0) return;
    prepare(x, mask);
    call.x = x;
    call.lanes = mask;
    performUnit(op.unit, call);
  };
}
