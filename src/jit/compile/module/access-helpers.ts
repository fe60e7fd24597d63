import { type Access, windows } from "../../../ir/index.ts";
import {
  type FunctionWriter,
  type MemoryOp,
  type ModuleWriter,
  type Wasm,
  wasm,
  type WasmTy,
} from "../../../wasm/index.ts";
import { type ContextLayout, recordBytes } from "../../abi/context-layout.ts";
import { callHost } from "./host-calls.ts";

/** `find(context, record, site, lanes, bytes, align)`: finds the places of the lanes of a mask from their addresses. */
export const findName = "find";

/** `spread(context, ...)`: writes the addresses of all lanes to the context, computed from what each form says. */
export const spreadName = {
  /** First address and stride. */
  affine: "spread:affine",
  /** The same in 32 bits. */
  affine32: "spread:affine32",
  /** Base (i64), index and its stride (i32), scale (i64); the index is extended. */
  signed: "spread:signed",
  unsigned: "spread:unsigned",
  /** What is added to all (i64), and an address for each lane. */
  each: "spread:each",
} as const;

/** `gather(context, offset)`: loads the values of all lanes from their places. */
export const gatherName = ({ bits, signed }: Access): string => `gather:${bits}${signed && bits < 32 ? "s" : "u"}`;

/** `scatter(context, offset, lanes, values)`: stores the values of the lanes of a mask at their places. */
export const scatterName = ({ bits }: Access): string => `scatter:${bits}`;

/** `fetch(offset, places)`: the values at a place for each lane, all of which may be read. */
export const fetchName = ({ bits, signed }: Access): string => `fetch:${bits}${signed && bits < 32 ? "s" : "u"}`;

/** `put(offset, places, values)`: stores the values at these places, all of which may be written. */
export const putName = ({ bits }: Access): string => `put:${bits}`;

export const scalarLoad = ({ bits, signed }: Pick<Access, "bits" | "signed">): MemoryOp =>
  bits === 64 ? "i64.load" : bits === 32 ? "i32.load" : `i32.load${bits}_${signed ? "s" : "u"}`;

/** How an access helper is written. Values for all lanes are vectors; `takes` and `gives` are the bits of a lane. */
interface Definition {
  readonly params: readonly WasmTy[];
  /** Values for all lanes, as the last parameters. */
  readonly takes?: 32 | 64;
  /** Whether vectors of places come before these. */
  readonly hasPlaces?: true;
  readonly gives?: 32 | 64;
  readonly write: (w: FunctionWriter, layout: ContextLayout, lanes: number, stackStride: number) => void;
}

const local = (ty: WasmTy, index: number): Wasm => wasm.local(ty, index);
const context = local("i32", 0);
const contextAt = (offset: number): Wasm => wasm.op("i32.add", context, wasm.i32(offset));

/** Once for each lane, with its number in a local. */
function eachLane(w: FunctionWriter, lanes: number, write: (lane: Wasm) => void): void {
  const counter = w.local("i32");
  const lane = local("i32", counter);
  w.assign([{ local: counter, value: wasm.i32(0) }]);
  w.loop((next) => {
    write(lane);
    w.assign([{ local: counter, value: wasm.op("i32.add", lane, wasm.i32(1)) }]);
    w.value(wasm.op("i32.lt_u", lane, wasm.i32(lanes)));
    w.brIf(next);
  });
}

/** The word or double word of a lane in a table at an offset in the context. */
const slot = (offset: number, lane: Wasm, bytes: number): Wasm =>
  wasm.op("i32.add", contextAt(offset), wasm.op("i32.mul", lane, wasm.i32(bytes)));

const find: Definition = {
  params: ["i32", "i32", "i32", "i32", "i32", "i32"],
  write: (w, layout, lanes, stride) => {
    const [index, site, mask, bytes, align] = [1, 2, 3, 4, 5].map((i) => local("i32", i)) as [
      Wasm,
      Wasm,
      Wasm,
      Wasm,
      Wasm,
    ];
    const [record, from, room, delta, address, found] = [
      w.local("i32"),
      w.local("i64"),
      w.local("i64"),
      w.local("i32"),
      w.local("i64"),
      w.local("i32"),
    ];
    const load = (op: "i64.load" | "i64.load32_u" | "i32.load", offset: number): void => {
      w.get(record);
      w.memory(op, 4, offset);
    };
    /** Loads what is remembered in one of the tables, but for what is added to addresses. */
    const loadRecord = (table: number): void => {
      w.assign([{ local: record, value: slot(table, index, recordBytes) }]);
      load("i64.load", 0);
      w.set(from);
      load("i64.load32_u", 8);
      w.value(wasm.op("i64.extend_i32_u", bytes));
      w.op("i64.sub");
      w.set(room);
    };
    /** Looks whether all lanes are where the instruction was before; each lane's place is so much further. */
    const look = (further: number): void => {
      w.assign([{ local: found, value: wasm.i32(1) }]);
      eachLane(w, lanes, (lane) => {
        const at = local("i64", address);
        w.value(slot(layout.addresses, lane, 8));
        w.memory("i64.load", 8);
        w.set(address);
        const isOn = wasm.op("i32.and", wasm.op("i32.shr_u", mask, lane), wasm.i32(1));
        const inside = wasm.op("i64.le_u", wasm.op("i64.sub", at, local("i64", from)), local("i64", room));
        const low = wasm.op("i32.wrap_i64", at);
        const aligned = wasm.op("i32.eqz", wasm.op("i32.and", low, wasm.op("i32.sub", align, wasm.i32(1))));
        const good = wasm.op("i32.or", wasm.op("i32.eqz", isOn), wasm.op("i32.and", inside, aligned));
        w.assign([{ local: found, value: wasm.op("i32.and", local("i32", found), good) }]);
        // Lanes that do not matter find something anyway.
        const place = wasm.op("i32.add", low, local("i32", delta));
        const own = further === 0 ? place : wasm.op("i32.add", place, wasm.op("i32.mul", lane, wasm.i32(further)));
        w.values([slot(layout.places, lane, 4), wasm.select(isOn, own, contextAt(layout.values))]);
        w.memory("i32.store", 4);
      });
    };
    const unlessFound = (otherwise: () => void): void => {
      const known = wasm.op("i32.and", local("i32", found), wasm.op("i64.ge_s", local("i64", room), wasm.i64(0n)));
      w.value(wasm.op("i32.eqz", known));
      w.if(otherwise);
    };
    const translate = (): void => {
      w.values([context, site, mask]);
      callHost(w, "translate");
    };
    loadRecord(layout.sites);
    load("i32.load", 12);
    w.set(delta);
    look(0);
    unlessFound(() => {
      if (stride === 0) {
        translate();
        return;
      }
      loadRecord(layout.stackSites);
      w.value(context);
      w.memory("i32.load", 4, layout.words.stacks);
      w.i32(windows.local.start);
      w.op("i32.sub");
      w.set(delta);
      look(stride);
      unlessFound(translate);
    });
  },
};

const affine: Definition = {
  params: ["i32", "i64", "i64"],
  write: (w, layout, lanes) =>
    eachLane(w, lanes, (lane) => {
      const distance = wasm.op("i64.mul", wasm.op("i64.extend_i32_u", lane), local("i64", 2));
      w.values([slot(layout.addresses, lane, 8), wasm.op("i64.add", local("i64", 1), distance)]);
      w.memory("i64.store", 8);
    }),
};

const affine32: Definition = {
  params: ["i32", "i32", "i32"],
  write: (w, layout, lanes) =>
    eachLane(w, lanes, (lane) => {
      const address = wasm.op("i32.add", local("i32", 1), wasm.op("i32.mul", lane, local("i32", 2)));
      w.values([slot(layout.addresses, lane, 8), wasm.op("i64.extend_i32_u", address)]);
      w.memory("i64.store", 8);
    }),
};

const indexed = (extend: "i64.extend_i32_s" | "i64.extend_i32_u"): Definition => ({
  params: ["i32", "i64", "i32", "i32", "i64"],
  write: (w, layout, lanes) =>
    eachLane(w, lanes, (lane) => {
      const index = wasm.op("i32.add", local("i32", 2), wasm.op("i32.mul", lane, local("i32", 3)));
      const distance = wasm.op("i64.mul", wasm.op(extend, index), local("i64", 4));
      w.values([slot(layout.addresses, lane, 8), wasm.op("i64.add", local("i64", 1), distance)]);
      w.memory("i64.store", 8);
    }),
});

const vectorsOf = (lanes: number, bits: 32 | 64 | undefined): readonly WasmTy[] =>
  new Array<WasmTy>(bits === undefined ? 0 : (lanes * bits) / 128).fill("v128");

/** Puts the vectors among the parameters, from the n-th on, into the context. */
function storeVectors(w: FunctionWriter, from: number, at: number, change = (vector: Wasm): Wasm => vector): void {
  for (let i = from; i < w.params.length; i++) {
    w.values([context, change(local("v128", i))]);
    w.memory("v128.store", 16, at + (i - from) * 16);
  }
}

const each: Definition = {
  params: ["i32", "i64"],
  takes: 64,
  write: (w, layout) => {
    const more = wasm.op("i64x2.splat", local("i64", 1));
    storeVectors(w, 2, layout.addresses, (vector) => wasm.op("i64x2.add", vector, more));
  },
};

const placeOf = (w: FunctionWriter, layout: ContextLayout, lane: Wasm): void => {
  w.value(slot(layout.places, lane, 4));
  w.memory("i32.load", 4);
  w.get(1);
  w.op("i32.add");
};

const gather = (bits: Access["bits"], signed: boolean): Definition => ({
  params: ["i32", "i32"],
  gives: bits === 64 ? 64 : 32,
  write: (w, layout, lanes) => {
    eachLane(w, lanes, (lane) => {
      w.value(slot(layout.values, lane, bits === 64 ? 8 : 4));
      placeOf(w, layout, lane);
      w.memory(scalarLoad({ bits, signed }), 1);
      w.memory(bits === 64 ? "i64.store" : "i32.store", 4);
    });
    w.results.forEach((_, i) => {
      w.get(0);
      w.memory("v128.load", 16, layout.values + i * 16);
    });
  },
});

const scatter = (bits: Access["bits"]): Definition => ({
  params: ["i32", "i32", "i32"],
  takes: bits === 64 ? 64 : 32,
  write: (w, layout, lanes) => {
    storeVectors(w, 3, layout.values);
    eachLane(w, lanes, (lane) => {
      w.value(wasm.op("i32.and", wasm.op("i32.shr_u", local("i32", 2), lane), wasm.i32(1)));
      w.if(() => {
        placeOf(w, layout, lane);
        w.value(slot(layout.values, lane, bits === 64 ? 8 : 4));
        w.memory(bits === 64 ? "i64.load" : "i32.load", 4);
        w.memory(bits === 64 ? "i64.store" : bits === 32 ? "i32.store" : `i32.store${bits}`, 1);
      });
    });
  },
});

/** Of vectors that lie in locals, from the n-th on, the word or double word of a lane. */
const laneOf = (from: number, lane: number, bits: 32 | 64): Wasm => {
  const perVector = 128 / bits;
  const vector = local("v128", from + Math.floor(lane / perVector));
  return wasm.lane(bits === 64 ? "i64x2.extract_lane" : "i32x4.extract_lane", lane % perVector, vector);
};

/** The place of a lane: parameters are the offset, then vectors of places. */
const placeIn = (lane: number): Wasm => wasm.op("i32.add", local("i32", 0), laneOf(1, lane, 32));

const fetch = (bits: Access["bits"], signed: boolean): Definition => ({
  params: ["i32"],
  hasPlaces: true,
  gives: bits === 64 ? 64 : 32,
  write: (w, _, lanes) => {
    const perVector = bits === 64 ? 2 : 4;
    const values = w.results.map(() => w.local("v128"));
    for (let lane = 0; lane < lanes; lane++) {
      const value = values[Math.floor(lane / perVector)]!;
      w.get(value);
      w.value(placeIn(lane));
      w.memory(scalarLoad({ bits, signed }), 1);
      w.op(bits === 64 ? "i64x2.replace_lane" : "i32x4.replace_lane", [lane % perVector]);
      w.set(value);
    }
    for (const value of values) w.get(value);
  },
});

const put = (bits: Access["bits"]): Definition => ({
  params: ["i32"],
  hasPlaces: true,
  takes: bits === 64 ? 64 : 32,
  write: (w, _, lanes) => {
    for (let lane = 0; lane < lanes; lane++) {
      w.value(placeIn(lane));
      w.value(laneOf(1 + lanes / 4, lane, bits === 64 ? 64 : 32));
      w.memory(bits === 64 ? "i64.store" : bits === 32 ? "i32.store" : `i32.store${bits}`, 1);
    }
  },
});

const definitions: Readonly<Record<string, Definition>> = {
  [findName]: find,
  [spreadName.affine]: affine,
  [spreadName.affine32]: affine32,
  [spreadName.signed]: indexed("i64.extend_i32_s"),
  [spreadName.unsigned]: indexed("i64.extend_i32_u"),
  [spreadName.each]: each,
  "gather:8s": gather(8, true),
  "gather:8u": gather(8, false),
  "gather:16s": gather(16, true),
  "gather:16u": gather(16, false),
  "gather:32u": gather(32, false),
  "gather:64u": gather(64, false),
  "fetch:8s": fetch(8, true),
  "fetch:8u": fetch(8, false),
  "fetch:16s": fetch(16, true),
  "fetch:16u": fetch(16, false),
  "fetch:32u": fetch(32, false),
  "fetch:64u": fetch(64, false),
  "put:8": put(8),
  "put:16": put(16),
  "put:32": put(32),
  "put:64": put(64),
  "scatter:8": scatter(8),
  "scatter:16": scatter(16),
  "scatter:32": scatter(32),
  "scatter:64": scatter(64),
};

/**
 * Functions that access memory lane by lane, by what the context holds for each lane: its address, the byte of memory
 * that it means, a value. Each is written when it is first called.
 */
export class AccessHelpers {
  readonly #module: ModuleWriter;
  readonly #layout: ContextLayout;
  readonly #lanes: number;
  readonly #stackStride: number;
  readonly #written = new Set<string>();

  /** `stackStride`: bytes from one lane's stack to the next; 0 where there are none. */
  constructor(module: ModuleWriter, layout: ContextLayout, lanes: number, stackStride: number) {
    this.#module = module;
    this.#layout = layout;
    this.#lanes = lanes;
    this.#stackStride = stackStride;
  }

  /** The name of a helper in the module. `lanes`: how many values it takes and gives. */
  named(definition: string, lanes = this.#lanes): string {
    const name = lanes === this.#lanes ? definition : `${definition}:${lanes}`;
    if (this.#written.has(name)) return name;
    this.#written.add(name);
    const { params, hasPlaces, takes, gives, write } = definitions[definition]!;
    const vectors = [...vectorsOf(lanes, hasPlaces && 32), ...vectorsOf(lanes, takes)];
    const w = this.#module.function(name, [...params, ...vectors], vectorsOf(lanes, gives));
    write(w, this.#layout, lanes, this.#stackStride);
    return name;
  }
}
