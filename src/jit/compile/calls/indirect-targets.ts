import { windows } from "../../../ir/index.ts";
import { functionStride } from "../../../machine/memory/address-space.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { fullAddresses } from "../emit/lane-addresses.ts";
import { anyOf, laneBits } from "../lanes/mask-bits.ts";
import { targetTable } from "../module/call-target-table.ts";
import type { Caller } from "./caller.ts";
import type { CallSite } from "./call-site.ts";

const add = (a: Wasm, b: Wasm): Wasm => wasm.op("i32.add", a, b);
const local = (index: number): Wasm => wasm.local("i32", index);

const vector = (index: number): Wasm => wasm.local("v128", index);

/** The addresses that lanes call, while they are sorted by target: locals. */
interface Search {
  readonly addresses: readonly (readonly Wasm[])[];
  /** The halves of each lane's address. */
  readonly low: readonly number[];
  readonly high: readonly number[];
  /** The lanes whose target has not been found, and those that call the one just found. */
  readonly rest: readonly number[];
  readonly here: readonly number[];
  /** Scratch space: where the address of one lane lies. */
  readonly first: number;
  /** The low half of the address of the target. */
  readonly target: number;
}

/**
 * The functions that lanes call by address: each once, with all lanes that call it, in the order of their first lanes.
 */
export class IndirectTargets {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Writes calls by address, once all targets have been checked. `call` receives a function's number, the lanes that
   * call it, and whether these are all that call. It is written twice: for one function that all lanes call, and in a
   * loop over several.
   */
  each(
    site: CallSite,
    lanes: readonly Wasm[],
    call: (callee: Wasm, lanes: readonly Wasm[], isOnly: boolean) => void,
  ): void {
    const { writer: w } = this.#caller.chunk;
    const search = this.#begin(site);
    const { low, high, rest, here, first, target } = search;
    const isLeft = anyOf(rest.map(vector));
    const all = rest.map((l, q) => ({ local: l, value: lanes[q]! }));
    const callee = functionNumber(target);
    // Most often all lanes have the target of the first one, and no function lies where the high word counts.
    w.assign([{ local: target, value: wasm.lane("i32x4.extract_lane", 0, vector(low[0]!)) }]);
    const zeroth = wasm.op("i32x4.splat", local(target));
    const others = low.map((l, q) => {
      const other = wasm.op("v128.or", wasm.op("v128.xor", vector(l), zeroth), vector(high[q]!));
      return wasm.op("v128.and", other, lanes[q]!);
    });
    w.value(anyOf(others));
    w.if(
      () => {
        this.#storeAddresses(search);
        w.value(anyOf(high.map((l, q) => wasm.op("v128.and", vector(l), lanes[q]!))));
        w.if(() => this.#caller.faults.raise(site.index, lanes));
        // All are checked before any is called.
        w.assign(all);
        w.loop((next) => {
          this.#findNext(search);
          this.#check(site, lanes, search);
          w.value(isLeft);
          w.brIf(next);
        });
        w.assign(all);
        w.loop((next) => {
          // Each time, since a callee leaves its own there.
          this.#storeAddresses(search);
          this.#findNext(search);
          call(callee, here.map(vector), false);
          w.value(isLeft);
          w.brIf(next);
        });
      },
      () => {
        this.#check(site, lanes, search);
        call(callee, lanes, true);
      },
    );
    for (const l of [...low, ...high, ...rest, ...here, first, target]) w.release(l);
  }

  #begin({ op }: CallSite): Search {
    if (op.target.kind !== "indirect") throw new Error("a call by address has one");
    const { writer: w, active } = this.#caller.chunk;
    const addresses = fullAddresses(this.#caller.chunk, op.target.address).quads;
    const low = active.map(() => w.local("v128"));
    const high = active.map(() => w.local("v128"));
    w.assign(
      addresses.flatMap(([a, b], q) => [
        { local: low[q]!, value: wasm.shuffle32(a!, b!, [0, 2, 4, 6]) },
        { local: high[q]!, value: wasm.shuffle32(a!, b!, [1, 3, 5, 7]) },
      ]),
    );
    const rest = active.map(() => w.local("v128"));
    const here = active.map(() => w.local("v128"));
    return { addresses, low, high, rest, here, first: w.local("i32"), target: w.local("i32") };
  }

  /** Finds the target of the first lane in `rest`, and moves the lanes with the same target to `here`. */
  #findNext({ low, rest, here, first, target }: Search): void {
    const { writer: w } = this.#caller.chunk;
    const { context, layout } = this.#caller.memory;
    const lane = wasm.op("i32.ctz", laneBits(rest.map(vector)));
    w.assign([{ local: first, value: add(local(context), wasm.op("i32.shl", lane, wasm.i32(3))) }]);
    w.get(first);
    w.memory("i32.load", 4, layout.addresses);
    w.set(target);
    const all = wasm.op("i32x4.splat", local(target));
    w.assign(
      here.map((l, q) => ({
        local: l,
        value: wasm.op("v128.and", vector(rest[q]!), wasm.op("i32x4.eq", vector(low[q]!), all)),
      })),
    );
    w.assign(rest.map((l, q) => ({ local: l, value: wasm.op("v128.andnot", vector(l), vector(here[q]!)) })));
  }

  /** Stores the addresses where single ones can be read, here and by the launcher. */
  #storeAddresses({ addresses }: Search): void {
    const { writer: w } = this.#caller.chunk;
    const { context, layout } = this.#caller.memory;
    for (const [q, pair] of addresses.entries()) {
      pair.forEach((half, i) => {
        w.get(context);
        w.value(half);
        w.memory("v128.store", 16, layout.addresses + 32 * q + 16 * i);
      });
    }
  }

  /** Lets the launcher end the launch if the address in `target` is none of a function that may be called here. */
  #check({ index, targets }: CallSite, lanes: readonly Wasm[], search: Search): void {
    const { writer: w } = this.#caller.chunk;
    const { context, layout } = this.#caller.memory;
    const count = this.#caller.memory.unit.facts.functions.list.length;
    const address = local(search.target);
    const isFunction = wasm.op(
      "i32.and",
      wasm.op("i32.lt_u", distanceOf(search.target), wasm.i32(count * functionStride)),
      wasm.op("i32.eqz", wasm.op("i32.and", address, wasm.i32(functionStride - 1))),
    );
    const isValid = w.local("i32");
    w.assign([{ local: isValid, value: isFunction }]);
    w.get(isValid);
    w.if(() => {
      w.value(add(local(context), functionNumber(search.target)));
      w.memory("i32.load8_u", 1, layout.targets + targetTable(this.#caller.memory.unit, targets) * count);
      w.set(isValid);
    });
    w.value(wasm.op("i32.eqz", local(isValid)));
    w.if(() => {
      this.#storeAddresses(search);
      this.#caller.faults.raise(index, lanes);
    });
    w.release(isValid);
  }
}

/** From the first function to the address in a local, in bytes. */
const distanceOf = (address: number): Wasm => wasm.op("i32.sub", local(address), wasm.i32(windows.function.start));

/** The number of the function with an address. */
const functionNumber = (address: number): Wasm =>
  wasm.op("i32.shr_u", distanceOf(address), wasm.i32(Math.log2(functionStride)));
