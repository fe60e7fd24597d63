import type { ModuleWriter, Wasm } from "../../../wasm/index.ts";
import { wasm } from "../../../wasm/index.ts";
import { interleaved, transposed } from "../lanes/interleave.ts";

/** Records of two or four elements of 32 bits. */
export type RecordCount = 2 | 4;

const local = (index: number): Wasm => wasm.local("v128", index);
const place = (lane: number): Wasm => wasm.lane("i32x4.extract_lane", lane, local(0));

/** The bytes of two vectors whose elements of 16 bits alternate: of their first halves, and of their second ones. */
const alternating = [0, 4].map((first) =>
  [0, 1, 2, 3].flatMap((i) => [0, 16].flatMap((vector) => [0, 1].map((byte) => vector + 2 * (first + i) + byte))),
);

/** Functions that move the records of four lanes, each at a place of its own; they are written when first needed. */
export class RecordHelpers {
  readonly #module: ModuleWriter;
  readonly #written = new Set<string>();

  constructor(module: ModuleWriter) {
    this.#module = module;
  }

  /** The name of a function (places, all in one vector) that returns a vector for each element. */
  load(count: RecordCount): string {
    return this.#once(`records:load:${count}`, (name) => {
      const w = this.#module.function(name, ["v128"], new Array<"v128">(count).fill("v128"));
      const vectors = Array.from({ length: count }, () => w.local("v128"));
      for (let lane = 0; lane < 4; lane++) {
        const vector = vectors[count === 4 ? lane : lane >> 1]!;
        w.value(place(lane));
        if (count === 4) w.memory("v128.load", 4);
        else if ((lane & 1) === 0) w.memory("v128.load64_zero", 4);
        else {
          w.get(vector);
          w.memory("v128.load64_lane", 4, 0, 1);
        }
        w.set(vector);
      }
      w.values(transposed(vectors.map(local), 32));
    });
  }

  /** The name of a function (places, a vector for each element) that stores them. */
  store(count: RecordCount): string {
    return this.#once(`records:store:${count}`, (name) => {
      const w = this.#module.function(name, new Array<"v128">(1 + count).fill("v128"), []);
      const elements = Array.from({ length: count }, (_, i) => local(1 + i));
      const records = interleaved(elements, 32).map((value) => {
        const record = w.local("v128");
        w.assign([{ local: record, value }]);
        return record;
      });
      for (let lane = 0; lane < 4; lane++) {
        w.value(place(lane));
        w.get(records[count === 4 ? lane : lane >> 1]!);
        if (count === 4) w.memory("v128.store", 4);
        else w.memory("v128.store64_lane", 4, 0, lane & 1);
      }
    });
  }

  /** The name of a function that transposes eight vectors of eight elements of 16 bits. */
  transpose(): string {
    return this.#once("records:transpose", (name) => {
      const eight = new Array<"v128">(8).fill("v128");
      const w = this.#module.function(name, eight, eight);
      // Element e of row r is number 8r + e. Each round rotates the bits of these numbers by one, to 8e + r in the end.
      for (let round = 0; round < 3; round++) {
        w.assign(
          eight.map((_, i) => ({
            local: i,
            value: wasm.shuffle(local(i >> 1), local((i >> 1) + 4), alternating[i & 1]!),
          })),
        );
      }
      w.values(eight.map((_, i) => local(i)));
    });
  }

  #once(name: string, write: (name: string) => void): string {
    if (!this.#written.has(name)) {
      this.#written.add(name);
      write(name);
    }
    return name;
  }
}
