import { windows } from "../ir/index.ts";
import { functionStride } from "../machine/address-space.ts";
import { type Wasm, wasm } from "../wasm/index.ts";
import type { CallOp } from "./call-graph.ts";
import type { Chunk } from "./chunk.ts";

import type { Faults } from "./faults.ts";
import { anyOf, laneBits } from "./lane-bits.ts";
import type { MemoryContext } from "./locator.ts";
import { fullAddresses } from "./address.ts";
import { targetTable } from "./target-table.ts";
import type { Unit } from "./unit.ts";

const add = (a: Wasm, b: Wasm): Wasm => wasm.op("i32.add", a, b);
const local = (index: number): Wasm => wasm.local("i32", index);

/** The functions that lanes call by address: each once, with all lanes that call it, in the order of their first lanes. */
export class CallTargets {
  readonly #chunk: Chunk;
  readonly #unit: Unit;
  readonly #memory: MemoryContext;
  readonly #faults: Faults;

  constructor(chunk: Chunk, unit: Unit, memory: MemoryContext, faults: Faults) {
    this.#chunk = chunk;
    this.#unit = unit;
    this.#memory = memory;
    this.#faults = faults;
  }

  /**
   * Writes a loop in which `call` is given a function, as its place in the program, and the lanes that call it. Before, all
   * targets are found to be good.
   */
  each(index: number, op: CallOp, lanes: readonly Wasm[], call: (number: Wasm, lanes: readonly Wasm[]) => void): void {
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
    const [first, word, number] = [w.local("i32"), w.local("i32"), w.local("i32")];
    const vector = (l: number): Wasm => wasm.local("v128", l);

    /** Goes through the different targets of lanes that have yet to call. */
    const targets = (body: () => void): void => {
      w.assign(rest.map((l, q) => ({ local: l, value: lanes[q]! })));
      w.loop((next) => {
        // Each time, since a callee leaves its own there.
        for (const [q, l] of low.entries()) this.#storeAddresses(q, vector(l), vector(high[q]!));
        const lane = wasm.op("i32.ctz", laneBits(rest.map(vector)));
        w.assign([{ local: first, value: add(local(context), wasm.op("i32.shl", lane, wasm.i32(3))) }]);
        for (const [to, offset] of [
          [number, 0],
          [word, 4],
        ] as const) {
          w.get(first);
          w.memory("i32.load", 4, layout.addresses + offset);
          w.set(to);
        }
        const is = (parts: readonly number[], to: number, q: number): Wasm =>
          wasm.op("i32x4.eq", vector(parts[q]!), wasm.op("i32x4.splat", local(to)));
        w.assign(
          here.map((l, q) => ({
            local: l,
            value: wasm.op("v128.and", vector(rest[q]!), wasm.op("v128.and", is(low, number, q), is(high, word, q))),
          })),
        );
        w.assign(rest.map((l, q) => ({ local: l, value: wasm.op("v128.andnot", vector(l), vector(here[q]!)) })));
        body();
        w.value(anyOf(rest.map(vector)));
        w.brIf(next);
      });
    };
    targets(() => this.#check(index, op, lanes, { low: number, high: word }));
    const distance = wasm.op("i32.sub", local(number), wasm.i32(windows.function.start));
    targets(() => call(wasm.op("i32.shr_u", distance, wasm.i32(Math.log2(functionStride))), here.map(vector)));
    for (const l of [...words, ...rest, ...here, first, word, number]) w.release(l);
  }

  /** Puts the addresses of four lanes where single ones can be read, here and by the launcher. */
  #storeAddresses(quad: number, low: Wasm, high: Wasm): void {
    const { writer: w } = this.#chunk;
    const { context, layout } = this.#memory;
    [wasm.shuffle32(low, high, [0, 4, 1, 5]), wasm.shuffle32(low, high, [2, 6, 3, 7])].forEach((pair, i) => {
      w.get(context);
      w.value(pair);
      w.memory("v128.store", 16, layout.addresses + 32 * quad + 16 * i);
    });
  }

  /** Lets the launcher end the launch if the address in two locals is no good. */
  #check(index: number, op: CallOp, lanes: readonly Wasm[], at: { readonly low: number; readonly high: number }): void {
    const { writer: w } = this.#chunk;
    const { context, layout } = this.#memory;
    const count = this.#unit.facts.callables.list.length;
    const distance = wasm.op("i32.sub", local(at.low), wasm.i32(windows.function.start));
    const isFunction = wasm.op(
      "i32.and",
      wasm.op("i32.lt_u", distance, wasm.i32(count * functionStride)),
      wasm.op(
        "i32.eqz",
        wasm.op("i32.or", local(at.high), wasm.op("i32.and", local(at.low), wasm.i32(functionStride - 1))),
      ),
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
      this.#faults.raise(index, lanes);
    });
    w.release(good);
  }
}
