import type { Expr } from "../../../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { anyOf, foldWords, laneBits } from "../lanes/mask-bits.ts";
import { bothMasks } from "../lanes/mask.ts";
import { type FunctionContext, pushWord, storeWord } from "../module/function-context.ts";
import { callHost, importHost } from "../module/host-calls.ts";
import type { ModuleUnit } from "../module/module-unit.ts";

/** Stores which lanes have not exited, as bits, for functions that are about to be called. */
export function storeLive(w: FunctionWriter, memory: FunctionContext, live: Wasm): void {
  storeWord(w, memory, "live", live);
}

/** Loads which lanes had not exited when this function was called, as bits. */
export function loadLive(w: FunctionWriter, memory: FunctionContext, to: number): void {
  pushWord(w, memory, "live");
  w.set(to);
}

/**
 * In a function, gives the launch up if an operation names lanes that are not active in it: such lanes may be elsewhere
 * in the caller, or suspended, and would have to be waited for. `named`: the member mask of each active lane.
 */
export function requireNamed(
  chunk: Chunk,
  unit: ModuleUnit,
  memory: FunctionContext,
  named: Expr,
  { active: here, ended }: { readonly active: readonly Wasm[]; readonly ended: readonly Wasm[] },
): void {
  const { writer: w } = chunk;
  const others = w.local("i32");
  loadLive(w, memory, others);
  const known = here.map((lanes, q) => (ended[q] === undefined ? lanes : wasm.op("v128.or", lanes, ended[q])));
  const missing = wasm.op("i32.and", wasm.local("i32", others), wasm.op("i32.xor", laneBits(known), wasm.i32(-1)));
  w.assign([{ local: others, value: missing }]);
  const value = chunk.value(named);
  if (value.kind === "uniform") {
    w.value(wasm.op("i32.and", value.scalar, wasm.local("i32", others)));
  } else {
    // Lanes that name different ones perform the operation separately, which this code does not do.
    const masks = chunk.vector(named).quads.flat();
    const any = foldWords("v128.or", bothMasks(masks, here)!);
    const absent = here.map((lanes) => wasm.op("v128.not", lanes));
    const all = foldWords(
      "v128.and",
      masks.map((part, q) => wasm.op("v128.or", part, absent[q]!)),
    );
    const elsewhere = wasm.op("i32.and", any, wasm.local("i32", others));
    const differ = wasm.op("i32.and", wasm.op("i32.xor", any, all), wasm.op("i32.sub", wasm.i32(0), anyOf(here)));
    w.value(wasm.op("i32.or", elsewhere, differ));
  }
  importHost(unit.module, "giveUp");
  w.if(() => callHost(w, "giveUp"));
  w.release(others);
}
