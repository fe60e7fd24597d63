import type { Access } from "../../../ir/index.ts";
import {
  type FunctionWriter,
  type MemoryOp,
  type ModuleWriter,
  type Wasm,
  wasm,
  type WasmTy,
} from "../../../wasm/index.ts";
import type { ContextLayout } from "../../abi/context-layout.ts";
import { inAllocationsName, writeInAllocations } from "./allocated-granules.ts";
import { extentOfName, searchName, writeExtentOf, writeSearch } from "./extent-search.ts";
import { context, eachLane, local, slot } from "./helper-code.ts";
import { PlaceFinder } from "./place-finder.ts";

/**
 * `find(context, record, site, lanes, bytes, align, spaces)`: finds the places of the lanes of a mask from their
 * addresses. `spaces`: where the tables of extents may be searched (`findable`).
 */
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
  readonly result?: WasmTy;
  readonly write: (w: FunctionWriter, needs: AccessHelperNeeds, named: (helper: string) => string) => void;
}

/** What access helpers depend on. */
export interface AccessHelperNeeds {
  readonly layout: ContextLayout;
  readonly lanes: number;
  /** Bytes from one lane's stack to the next; 0 where there are none. */
  readonly stackStride: number;
  /**
   * Added to addresses within a space to make them generic; null where code may not search the tables of extents, since
   * device code may free what they name.
   */
  readonly window: bigint | null;
}

const find: Definition = {
  params: ["i32", "i32", "i32", "i32", "i32", "i32", "i32"],
  write: (w, { layout, lanes, stackStride, window }, named) =>
    new PlaceFinder(w, layout, lanes).write(stackStride, window, named),
};

const affine: Definition = {
  params: ["i32", "i64", "i64"],
  write: (w, { layout, lanes }) =>
    eachLane(w, lanes, (lane) => {
      const distance = wasm.op("i64.mul", wasm.op("i64.extend_i32_u", lane), local("i64", 2));
      w.values([slot(layout.addresses, lane, 8), wasm.op("i64.add", local("i64", 1), distance)]);
      w.memory("i64.store", 8);
    }),
};

const affine32: Definition = {
  params: ["i32", "i32", "i32"],
  write: (w, { layout, lanes }) =>
    eachLane(w, lanes, (lane) => {
      const address = wasm.op("i32.add", local("i32", 1), wasm.op("i32.mul", lane, local("i32", 2)));
      w.values([slot(layout.addresses, lane, 8), wasm.op("i64.extend_i32_u", address)]);
      w.memory("i64.store", 8);
    }),
};

const indexed = (extend: "i64.extend_i32_s" | "i64.extend_i32_u"): Definition => ({
  params: ["i32", "i64", "i32", "i32", "i64"],
  write: (w, { layout, lanes }) =>
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
  write: (w, { layout }) => {
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
  write: (w, { layout, lanes }) => {
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
  write: (w, { layout, lanes }) => {
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
  write: (w, { lanes }) => {
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
  write: (w, { lanes }) => {
    for (let lane = 0; lane < lanes; lane++) {
      w.value(placeIn(lane));
      w.value(laneOf(1 + lanes / 4, lane, bits === 64 ? 64 : 32));
      w.memory(bits === 64 ? "i64.store" : bits === 32 ? "i32.store" : `i32.store${bits}`, 1);
    }
  },
});

const inAllocations: Definition = {
  params: ["i32", "i32"],
  hasPlaces: true,
  result: "i32",
  write: (w, { layout }) => writeInAllocations(w, layout),
};

const definitions: Readonly<Record<string, Definition>> = {
  [inAllocationsName]: inAllocations,
  [findName]: find,
  [searchName]: { params: ["i32", "i32", "i64"], result: "i32", write: writeSearch },
  [extentOfName]: {
    params: ["i32", "i32", "i64", "i64"],
    result: "i32",
    write: (w, { layout }, named) => writeExtentOf(w, layout, named(searchName)),
  },
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
  readonly #needs: AccessHelperNeeds;
  readonly #written = new Set<string>();

  constructor(module: ModuleWriter, needs: AccessHelperNeeds) {
    this.#module = module;
    this.#needs = needs;
  }

  /** Whether a helper has been written, for any number of lanes. */
  has(definition: string): boolean {
    return [...this.#written].some((name) => name === definition || name.startsWith(`${definition}:`));
  }

  /** Whether code may rely on what has been allocated when the launch began: device code frees nothing. */
  get knowsAllocations(): boolean {
    return this.#needs.window !== null;
  }

  /** The name of a helper in the module. `lanes`: how many values it takes and gives. */
  named(definition: string, lanes = this.#needs.lanes): string {
    const name = lanes === this.#needs.lanes ? definition : `${definition}:${lanes}`;
    if (this.#written.has(name)) return name;
    this.#written.add(name);
    const { params, hasPlaces, takes, gives, result, write } = definitions[definition]!;
    const vectors = [...vectorsOf(lanes, hasPlaces && 32), ...vectorsOf(lanes, takes)];
    const results = result === undefined ? vectorsOf(lanes, gives) : [result];
    const w = this.#module.function(name, [...params, ...vectors], results);
    write(w, { ...this.#needs, lanes }, (helper) => this.named(helper));
    return name;
  }
}
