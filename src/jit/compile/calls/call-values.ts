import type { CallOp } from "../../../ir/calls.ts";
import { valuesOf } from "../../../ir/flow/accesses.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { Unsupported } from "../../abi/refusal.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Mask } from "../lanes/mask.ts";
import { fitted } from "../lanes/register-class.ts";
import { type Value, vectorOf, widenMask } from "../lanes/value.ts";
import type { Frame } from "../memory/frame.ts";
import { type Convention, type Slot, slotValue, typesOfSlot } from "../plan/calling-convention.ts";
import type { CallSite, StackSlots } from "./call-site.ts";

/** Locals with a call's results and, if lanes may exit in the callee, the mask of those that have returned. */
export interface Returned {
  readonly lanes: readonly number[] | null;
  /** By result and register. */
  readonly results: readonly (readonly (readonly number[])[])[];
}

const offset = (slot: Wasm, bytes: number): Wasm => (bytes === 0 ? slot : wasm.op("i32.add", slot, wasm.i32(bytes)));

export const allOf = ({ lanes, results }: Returned): number[] => [...(lanes ?? []), ...results.flat(2)];

const vector = (local: number): Wasm => wasm.local("v128", local);

/** Arguments and results of PTX calls, which are passed in registers or in the lanes' stacks. */
export class CallValues {
  readonly #chunk: Chunk;
  readonly #frame: Frame;
  readonly #writer: FunctionWriter;

  constructor(chunk: Chunk, frame: Frame) {
    this.#chunk = chunk;
    this.#frame = frame;
    this.#writer = chunk.writer;
  }

  /** Merges the results of some lanes (null: of all) into those of others. */
  merge(all: Returned, some: Returned, lanes: readonly Wasm[] | null): void {
    if (lanes === null) {
      const from = allOf(some);
      this.#writer.assign(allOf(all).map((local, i) => ({ local, value: vector(from[i]!) })));
      return;
    }
    const masks = some.lanes?.map((local, q) => ({
      local: all.lanes![q]!,
      value: wasm.op("v128.or", vector(all.lanes![q]!), vector(local)),
    }));
    const results = some.results.flatMap((registers, i) =>
      registers.flatMap((parts, j) =>
        parts.map((local, p) => {
          const wide = parts.length > lanes.length;
          const mask = wide ? widenMask(lanes[p >> 1]!)[p & 1]! : lanes[p]!;
          const to = all.results[i]![j]![p]!;
          return { local: to, value: wasm.blend(mask, vector(local), vector(to)) };
        }),
      ),
    );
    this.#writer.assign([...(masks ?? []), ...results]);
  }

  /** The arguments that are passed in registers. */
  inRegisters({ convention, op }: CallSite): readonly Wasm[] {
    const { quads } = this.#chunk;
    return convention.params.flatMap((slots, i) => {
      const arg = op.args[i];
      const values = arg === undefined ? [] : valuesOf(arg);
      return slots.flatMap((slot, j): readonly Wasm[] => {
        if (slot.kind === "memory") return [];
        if (values[j] === undefined) throw new Unsupported("memory that is passed in registers");
        const value = fitted(this.#chunk.value(values[j]), slot.class, quads);
        if (!slot.isUniform) return vectorOf(value, quads).quads.flat();
        if (value.kind !== "uniform") throw new Error("an argument varies that is passed as one number");
        return [value.scalar];
      });
    });
  }

  /** Where the callee finds arguments and results that are passed in the stacks. */
  slotsOf({ params, returns }: Convention, op: CallOp): StackSlots {
    const frame = this.#frame;
    let staged = 0;
    const room = (count: number): Wasm => {
      const slot = frame.staging(staged);
      staged += 8 * count;
      return slot;
    };
    const isMemory = (slots: readonly Slot[]): boolean => slots.some((slot) => slot.kind === "memory");
    const args = params.flatMap((slots, i): [number, Wasm][] => {
      const arg = op.args[i];
      if (!isMemory(slots) || arg === undefined) return [];
      return [[i, arg.kind === "frame" ? frame.offsetOf(arg.variable) : room(valuesOf(arg).length)]];
    });
    const results = returns.flatMap((slots, i): [number, Wasm][] => {
      const result = op.results[i];
      if (!isMemory(slots)) return [];
      if (result === undefined || result.kind === "discard") return [[i, wasm.i32(-1)]];
      return [[i, result.kind === "frame" ? frame.offsetOf(result.variable) : room(result.registers.length)]];
    });
    return { params: args, results };
  }

  /** Stores the arguments that the callee finds in the stacks, unless they are there already. */
  stage({ op, memory }: CallSite): void {
    for (const [i, slot] of memory.params) {
      const arg = op.args[i]!;
      if (arg.kind !== "frame") this.#stage(valuesOf(arg), slot);
    }
  }

  /** Stores values eight bytes apart. */
  #stage(exprs: readonly Expr[], slot: Wasm): void {
    const { quads } = this.#chunk;
    exprs.forEach((expr, j) => {
      const value = fitted(this.#chunk.value(expr), "b64", quads);
      this.#frame.store(offset(slot, 8 * j), vectorOf(value, quads).quads.flat(), "b64", null);
    });
  }

  /** Allocates locals for the results that are passed in registers. */
  locals({ returns, mayExit: losesLanes }: Convention): Returned {
    const w = this.#writer;
    const { quads, active } = this.#chunk;
    return {
      lanes: losesLanes ? active.map(() => w.local("v128")) : null,
      results: returns.map((slots) => slots.map((slot) => typesOfSlot(slot, quads).map((ty) => w.local(ty)))),
    };
  }

  /** Allocates locals in which the results of several groups of lanes are merged, however each result is passed. */
  accumulators({ convention, op: { results } }: CallSite): Returned {
    const w = this.#writer;
    const { function: f, quads } = this.#chunk;
    const { lanes, results: passed } = this.locals(convention);
    if (lanes !== null) w.assign(lanes.map((local) => ({ local, value: wasm.i32x4(0) })));
    const all = passed.map((registers, i) => {
      const result = results[i];
      if (convention.returns[i]![0]?.kind !== "memory" || result?.kind !== "register") return registers;
      return result.registers.map((register) =>
        typesOfSlot({ kind: "register", class: f.registers[register]!.class, isUniform: false }, quads).map((ty) =>
          w.local(ty),
        ),
      );
    });
    return { lanes, results: all };
  }

  /** Takes results from the WebAssembly stack. */
  pop(returned: Returned): void {
    for (const local of allOf(returned).reverse()) this.#writer.set(local);
  }

  /** Loads the results that were passed in the stacks and go to registers. */
  fetch(returned: Returned, { convention, op: { results }, memory }: CallSite): Returned {
    const { registers } = this.#chunk.function;
    const fetched = convention.returns.map((slots, i) => {
      const result = results[i];
      const found = memory.results.find(([to]) => to === i);
      if (slots[0]?.kind !== "memory" || found === undefined || result?.kind !== "register")
        return returned.results[i]!;
      return result.registers.map((r, j) => {
        const c = registers[r]!.class;
        if (c === "pred") throw new Unsupported("a predicate in memory");
        return this.#frame.load(offset(found[1], 8 * j), c, this.#chunk.quads);
      });
    });
    return { ...returned, results: fetched };
  }

  /** Writes results to the registers that the call names, in the lanes of a guard. */
  write(block: number, { convention, op }: CallSite, { results }: Returned, guard: Mask): void {
    const { registers } = this.#chunk.function;
    const dst: number[] = [];
    const values: Value[] = [];
    convention.returns.forEach((slots, i) => {
      const result = op.results[i];
      if (result === undefined || result.kind === "discard") return;
      if (result.kind === "frame") {
        if (slots.some((slot) => slot.kind !== "memory")) throw new Unsupported("registers that return to memory");
        return;
      }
      result.registers.forEach((register, j) => {
        const { class: c } = registers[register]!;
        const slot = slots[j];
        const from: Slot = slot?.kind === "register" ? slot : { kind: "register", class: c, isUniform: false };
        const locals = results[i]![j];
        if (locals === undefined) return;
        dst.push(register);
        values.push(fitted(slotValue(from, locals), c, this.#chunk.quads));
      });
    });
    this.#chunk.write(block, dst, values, guard);
  }
}
