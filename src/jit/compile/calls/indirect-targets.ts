import type { CallOp } from "../../../ir/calls.ts";
import { windows } from "../../../ir/index.ts";
import { functionStride } from "../../../machine/memory/address-space.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Faults } from "../emit/faults.ts";
import { fullAddresses } from "../emit/lane-addresses.ts";
import { anyOf, laneBits } from "../lanes/mask-bits.ts";
import { targetTable } from "../module/call-target-table.ts";
import type { FunctionContext } from "../module/function-context.ts";
import type { ModuleUnit } from "../module/module-unit.ts";

const add = (a: Wasm, b: Wasm): Wasm => wasm.op("i32.add", a, b);

const local = (index: number): Wasm => wasm.local("i32", index);

/** The functions that lanes call by address: each once, with all lanes that call it, in the order of their first lanes. */
export class IndirectTargets {
  readonly #chunk: Chunk;
  readonly #unit: ModuleUnit;
  readonly #memory: FunctionContext;
  readonly #faults: Faults;

  constructor(chunk: Chunk, unit: ModuleUnit, memory: FunctionContext, faults: Faults) {
    this.#chunk = chunk;
    this.#unit = unit;
    this.#memory = memory;
    this.#faults = faults;
  }

  /**
   * Writes calls by address, before which all targets are found to be good. `call` is given a function, as its place in the program, the
   * lanes that call it, and whether these are all that call: it is written for a function that all call, and for a loop over several.
   */
  each(
    index: number,
    op: CallOp,
    lanes: readonly Wasm[],
    call: (number: Wasm, lanes: readonly Wasm[], isOnly: boolean) => void,
  ): void {
    if (op.target.kind !== "indirect") throw new Error("a call by address has one");
    const { writer: w, active, quads } = this.#chunk;
    const { context, layout } = this.#memory;
    const addresses = fullAddresses(this.#chunk, op.target.address).quads;
    const words = Array.from({ length: 2 * quads }, () => w.local("v128"));
    const [low, high] = [words.slice(0, quads), words.slice(quads)];
    w.assign(
      addresses.flatMap(([a, b], q) => [
        { local: low[q]!, value: wasm.shuffle32(a!, b!, [0, 2, 4, 6]) },
        { local: high[q]!, value: wasm.shuffle32(a!, b!, [1, 3, 5, 7]) },
      ]),
    );
    const rest = active.map(() => w.local("v128"));
    const here = active.map(() => w.local("v128"));
    const [first, number] = [w.local("i32"), w.local("i32")];
    const vector = (l: number): Wasm => wasm.local("v128", l);

    const storeAddresses = (): void => {
      for (const [q, pair] of addresses.entries()) this.#store(q, pair);
    };
    /** Finds the target of the first lane that is left, and the lanes that have the same: they are left no longer. */
    const findNext = (): void => {
      const lane = wasm.op("i32.ctz", laneBits(rest.map(vector)));
      w.assign([{ local: first, value: add(local(context), wasm.op("i32.shl", lane, wasm.i32(3))) }]);
      w.get(first);
      w.memory("i32.load", 4, layout.addresses);
      w.set(number);
      const target = wasm.op("i32x4.splat", local(number));
      w.assign(
        here.map((l, q) => ({
          local: l,
          value: wasm.op("v128.and", vector(rest[q]!), wasm.op("i32x4.eq", vector(low[q]!), target)),
        })),
      );
      w.assign(rest.map((l, q) => ({ local: l, value: wasm.op("v128.andnot", vector(l), vector(here[q]!)) })));
    };
    const isLeft = anyOf(rest.map(vector));
    const all = rest.map((l, q) => ({ local: l, value: lanes[q]! }));
    const check = (): void => this.#check(index, op, lanes, number, storeAddresses);
    const distance = wasm.op("i32.sub", local(number), wasm.i32(windows.function.start));
    const place = wasm.op("i32.shr_u", distance, wasm.i32(Math.log2(functionStride)));
    // Most often all lanes have the target of the first one, and no function lies where the high word counts.
    w.assign([{ local: number, value: wasm.lane("i32x4.extract_lane", 0, vector(low[0]!)) }]);
    const zeroth = wasm.op("i32x4.splat", local(number));
    const others = low.map((l, q) => {
      const other = wasm.op("v128.or", wasm.op("v128.xor", vector(l), zeroth), vector(high[q]!));
      return wasm.op("v128.and", other, lanes[q]!);
    });
    w.value(anyOf(others));
    w.if(
      () => {
        storeAddresses();
        w.value(anyOf(high.map((l, q) => wasm.op("v128.and", vector(l), lanes[q]!))));
        w.if(() => this.#faults.raise(index, lanes));
        // All are looked at before any is called.
        w.assign(all);
        w.loop((next) => {
          findNext();
          check();
          w.value(isLeft);
          w.brIf(next);
        });
        w.assign(all);
        w.loop((next) => {
          // Each time, since a callee leaves its own there.
          storeAddresses();
          findNext();
          call(place, here.map(vector), false);
          w.value(isLeft);
          w.brIf(next);
        });
      },
      () => {
        check();
        call(place, lanes, true);
      },
    );
    for (const l of [...words, ...rest, ...here, first, number]) w.release(l);
  }

  /** Puts the addresses of four lanes where single ones can be read, here and by the launcher. */
  #store(quad: number, pairs: readonly Wasm[]): void {
    const { writer: w } = this.#chunk;
    const { context, layout } = this.#memory;
    pairs.forEach((pair, i) => {
      w.get(context);
      w.value(pair);
      w.memory("v128.store", 16, layout.addresses + 32 * quad + 16 * i);
    });
  }

  /** Lets the launcher end the launch if the low word of an address, in a local, is no good; `tell`: puts all addresses where it looks. */
  #check(index: number, op: CallOp, lanes: readonly Wasm[], address: number, tell: () => void): void {
    const { writer: w } = this.#chunk;
    const { context, layout } = this.#memory;
    const count = this.#unit.facts.callables.list.length;
    const distance = wasm.op("i32.sub", local(address), wasm.i32(windows.function.start));
    const isFunction = wasm.op(
      "i32.and",
      wasm.op("i32.lt_u", distance, wasm.i32(count * functionStride)),
      wasm.op("i32.eqz", wasm.op("i32.and", local(address), wasm.i32(functionStride - 1))),
    );
    const good = w.local("i32");
    w.assign([{ local: good, value: isFunction }]);
    w.get(good);
    w.if(() => {
      w.value(add(local(context), wasm.op("i32.shr_u", distance, wasm.i32(Math.log2(functionStride)))));
      w.memory("i32.load8_u", 1, layout.targets + targetTable(this.#unit, this.#unit.graph.targetsOf(op)) * count);
      w.set(good);
    });
    w.value(wasm.op("i32.eqz", local(good)));
    w.if(() => {
      tell();
      this.#faults.raise(index, lanes);
    });
    w.release(good);
  }
}
