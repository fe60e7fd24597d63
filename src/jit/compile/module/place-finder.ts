import { windows } from "../../../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { type ContextLayout, recordBytes } from "../../abi/context-layout.ts";
import { extentOfName } from "./extent-search.ts";
import { context, contextAt, eachLane, local, slot } from "./helper-code.ts";
import { callHost } from "./host-calls.ts";

/** Writes `find`: looks in the records of the instruction, then in the tables of extents; then asks the launcher. */
export class PlaceFinder {
  readonly #w: FunctionWriter;
  readonly #layout: ContextLayout;
  readonly #lanes: number;
  readonly #record: number;
  readonly #from: number;
  readonly #room: number;
  readonly #delta: number;
  readonly #found: number;

  constructor(w: FunctionWriter, layout: ContextLayout, lanes: number) {
    this.#w = w;
    this.#layout = layout;
    this.#lanes = lanes;
    [this.#record, this.#delta, this.#found] = [w.local("i32"), w.local("i32"), w.local("i32")];
    [this.#from, this.#room] = [w.local("i64"), w.local("i64")];
  }

  /** `window`: see `AccessHelperNeeds`. */
  write(stackStride: number, window: bigint | null, named: (helper: string) => string): void {
    const { sites } = this.#layout;
    const search = window === null ? null : (address: Wasm) => this.#search(address, window, named(extentOfName));
    this.#loadRecord(sites);
    if (stackStride === 0) this.#look(0, search);
    else {
      // Searches find nothing in the stacks: where the instruction has been there, these are looked at before.
      this.#look(0, null);
      this.#unlessFound(() => this.#lookInStacks(stackStride));
      if (search !== null) {
        this.#unlessFound(() => {
          this.#loadRecord(sites);
          this.#look(0, search);
        });
      }
    }
    this.#unlessFound(() => this.#translate());
  }

  #lookInStacks(stride: number): void {
    const { stackSites, words } = this.#layout;
    const w = this.#w;
    this.#loadRecord(stackSites);
    w.value(wasm.op("i64.ge_s", local("i64", this.#room), wasm.i64(0n)));
    w.if(() => {
      w.value(context);
      w.memory("i32.load", 4, words.stacks);
      w.i32(windows.local.start);
      w.op("i32.sub");
      w.set(this.#delta);
      this.#look(stride, null);
    });
  }

  #loadRecord(table: number): void {
    this.#w.assign([{ local: this.#record, value: slot(table, local("i32", 1), recordBytes) }]);
    this.#loadFrom(this.#record);
  }

  /** Loads an object's extent, and what is added to its addresses, from a record or an entry of a table. */
  #loadFrom(at: number): void {
    const w = this.#w;
    w.get(at);
    w.memory("i64.load", 8);
    w.set(this.#from);
    w.get(at);
    w.memory("i64.load32_u", 4, 8);
    w.value(wasm.op("i64.extend_i32_u", local("i32", 4)));
    w.op("i64.sub");
    w.set(this.#room);
    w.get(at);
    w.memory("i32.load", 4, 12);
    w.set(this.#delta);
  }

  #isInside(address: Wasm): Wasm {
    const room = local("i64", this.#room);
    const inside = wasm.op("i64.le_u", wasm.op("i64.sub", address, local("i64", this.#from)), room);
    return wasm.op("i32.and", inside, wasm.op("i64.ge_s", room, wasm.i64(0n)));
  }

  /**
   * Looks whether all lanes are where the instruction was before, or where `search` finds them; each lane's place is so
   * much further.
   */
  #look(further: number, search: ((address: Wasm) => void) | null): void {
    const w = this.#w;
    const [mask, align] = [local("i32", 3), local("i32", 5)];
    const address = w.local("i64");
    w.assign([{ local: this.#found, value: wasm.i32(1) }]);
    eachLane(w, this.#lanes, (lane) => {
      // Lanes that do not matter have a place anyway.
      w.values([slot(this.#layout.places, lane, 4), contextAt(this.#layout.values)]);
      w.memory("i32.store", 4);
      w.value(wasm.op("i32.and", wasm.op("i32.shr_u", mask, lane), wasm.i32(1)));
      w.if(() => {
        const at = local("i64", address);
        w.value(slot(this.#layout.addresses, lane, 8));
        w.memory("i64.load", 8);
        w.set(address);
        if (search !== null) {
          w.value(wasm.op("i32.eqz", this.#isInside(at)));
          w.if(() => search(at));
        }
        const low = wasm.op("i32.wrap_i64", at);
        const isAligned = wasm.op("i32.eqz", wasm.op("i32.and", low, wasm.op("i32.sub", align, wasm.i32(1))));
        const good = wasm.op("i32.and", this.#isInside(at), isAligned);
        w.assign([{ local: this.#found, value: wasm.op("i32.and", local("i32", this.#found), good) }]);
        const place = wasm.op("i32.add", low, local("i32", this.#delta));
        const own = further === 0 ? place : wasm.op("i32.add", place, wasm.op("i32.mul", lane, wasm.i32(further)));
        w.values([slot(this.#layout.places, lane, 4), own]);
        w.memory("i32.store", 4);
      });
    });
  }

  /** Takes the object of an address from the tables, and notes it in the record. */
  #search(address: Wasm, window: bigint, extentOf: string): void {
    const w = this.#w;
    const entry = w.local("i32");
    w.values([context, local("i32", 6), address, wasm.i64(window)]);
    w.call(extentOf);
    w.set(entry);
    w.get(entry);
    w.if(() => {
      this.#loadFrom(entry);
      // An entry has the address within its space, which generic addresses have in their lower half.
      const [low, from] = [wasm.op("i32.wrap_i64", address), wasm.op("i32.wrap_i64", local("i64", this.#from))];
      const distance = wasm.op("i64.extend_i32_u", wasm.op("i32.sub", low, from));
      w.assign([{ local: this.#from, value: wasm.op("i64.sub", address, distance) }]);
      w.values([local("i32", this.#record), local("i64", this.#from)]);
      w.memory("i64.store", 8);
      w.get(this.#record);
      w.get(entry);
      w.memory("i64.load", 8, 8);
      w.memory("i64.store", 8, 8);
    });
  }

  #unlessFound(otherwise: () => void): void {
    this.#w.value(wasm.op("i32.eqz", local("i32", this.#found)));
    this.#w.if(otherwise);
  }

  #translate(): void {
    this.#w.values([context, local("i32", 2), local("i32", 3)]);
    callHost(this.#w, "translate");
  }
}
