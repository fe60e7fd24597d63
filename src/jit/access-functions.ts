import type { ModuleWriter } from "../wasm/index.ts";
import type { ContextLayout } from "./context-layout.ts";
import { gatherName, scalarLoad } from "./memory.ts";

const widths = [8, 16, 32, 64] as const;

/** Functions that load lane by lane, at the places in the context: `gather(context, offset)` fills the values of all lanes. */
export function accessFunctions(m: ModuleWriter, layout: ContextLayout, lanes: number): void {
  const [context, offset] = [0, 1];
  for (const bits of widths) {
    const size = bits === 64 ? 8 : 4;
    for (const signed of bits < 32 ? [true, false] : [false]) {
      const access = { ...plain, bits, signed };
      const w = m.function(gatherName(access), ["i32", "i32"], []);
      for (let lane = 0; lane < lanes; lane++) {
        w.get(context);
        w.get(context);
        w.memory("i32.load", 4, layout.places + 4 * lane);
        w.get(offset);
        w.op("i32.add");
        w.memory(scalarLoad(access), 1);
        w.memory(bits === 64 ? "i64.store" : "i32.store", 4, layout.values + size * lane);
      }
    }
  }
}

const plain = {
  space: "global",
  bits: 32,
  signed: false,
  count: 1,
  align: 4,
  volatile: false,
  order: "weak",
  scope: null,
} as const;
