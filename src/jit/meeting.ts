import type { Expr } from "../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import type { Chunk } from "./chunk.ts";
import { anyOf } from "./control-flow.ts";
import { giveUpImport } from "./given-up.ts";
import { laneBits } from "./lane-bits.ts";
import type { MemoryContext } from "./locator.ts";
import type { Unit } from "./unit.ts";

/** Tells functions that are about to be called which lanes have not ended: a bit for each. */
export function tellLive(w: FunctionWriter, { context, layout }: MemoryContext, live: Wasm): void {
  w.get(context);
  w.value(live);
  w.memory("i32.store", 4, layout.words.live);
}

/** Which lanes have not ended, as a function has been told. */
export function loadLive(w: FunctionWriter, { context, layout }: MemoryContext, to: number): void {
  w.get(context);
  w.memory("i32.load", 4, layout.words.live);
  w.set(to);
}

/**
 * In a function: lanes that an operation names (in `named`, for each lane that is active) may not be in it, or may have returned, and
 * would have to be waited for. Then the launch is given up.
 */
export function requireNamed(
  chunk: Chunk,
  unit: Unit,
  memory: MemoryContext,
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
    const all = wasm.op("i32x4.splat", wasm.local("i32", others));
    const masks = chunk.vector(named).quads.flat();
    w.value(anyOf(masks.map((part, q) => wasm.op("v128.and", wasm.op("v128.and", part, all), here[q]!))));
  }
  unit.module.importFunction(giveUpImport, [], []);
  unit.mayGiveUp = true;
  w.if(() => w.call(giveUpImport));
  w.release(others);
}
