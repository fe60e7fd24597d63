import type { WarpOp } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { anyOf, foldWords, laneBits } from "../lanes/mask-bits.ts";
import { bothMasks } from "../lanes/mask.ts";
import { type FunctionContext, pushWord, storeWord } from "../module/function-context.ts";
import { giveUp, giveUpIf } from "../module/host-calls.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import { isForGroups, MaskGroups } from "./mask-groups.ts";

/** Stores which lanes have not exited, as bits, for functions that are about to be called. */
export function storeLive(w: FunctionWriter, memory: FunctionContext, live: Wasm): void {
  storeWord(w, memory, "live", live);
}

/** Loads which lanes had not exited when this function was called, as bits. */
export function loadLive(w: FunctionWriter, memory: FunctionContext, to: number): void {
  pushWord(w, memory, "live");
  w.set(to);
}

/** The lanes of a function that arrive at an operation, and those of its lanes that have exited. */
export interface Arrivals {
  readonly active: readonly Wasm[];
  readonly ended: readonly Wasm[];
}

/**
 * In a function, performs an operation of lanes that name others, group by group if they name different ones. Gives the
 * launch up if lanes are named that are not active in it: they may be elsewhere in the caller, or suspended, and would
 * have to be waited for. `perform`: for the lanes of a group, or for all of them.
 */
export function performNamed(
  chunk: Chunk,
  { module }: ModuleUnit,
  memory: FunctionContext,
  { warp, mask }: { readonly warp: WarpOp; readonly mask: Expr },
  { active: here, ended }: Arrivals,
  perform: (group: readonly Wasm[] | null) => void,
): void {
  const { writer: w } = chunk;
  const giveUpFor = (missing: Wasm): void => giveUpIf(module, w, missing, "namedElsewhere");
  const others = w.local("i32");
  loadLive(w, memory, others);
  const elsewhere = wasm.local("i32", others);
  const known = here.map((lanes, q) => (ended[q] === undefined ? lanes : wasm.op("v128.or", lanes, ended[q])));
  const missing = wasm.op("i32.and", elsewhere, wasm.op("i32.xor", laneBits(known), wasm.i32(-1)));
  w.assign([{ local: others, value: missing }]);
  const value = chunk.value(mask);
  if (value.kind === "uniform") {
    giveUpFor(wasm.op("i32.and", value.scalar, elsewhere));
    w.release(others);
    perform(null);
    return;
  }
  const masks = chunk.vector(mask).quads.flat();
  const [any, differ] = [w.local("i32"), w.local("i32")];
  const named = wasm.local("i32", any);
  w.assign([{ local: any, value: foldWords("v128.or", bothMasks(masks, here)!) }]);
  const all = foldWords(
    "v128.and",
    masks.map((part, q) => wasm.op("v128.or", part, wasm.op("v128.not", here[q]!))),
  );
  const isMixed = wasm.op("i32.and", wasm.op("i32.xor", named, all), wasm.op("i32.sub", wasm.i32(0), anyOf(here)));
  giveUpFor(wasm.op("i32.and", named, elsewhere));
  w.assign([{ local: differ, value: isMixed }]);
  w.value(wasm.local("i32", differ));
  w.if(
    () => {
      if (isForGroups(warp)) performInGroups(chunk, masks, here, giveUpFor, perform);
      else giveUp(module, w, "namedGroups");
    },
    () => perform(null),
  );
  for (const local of [others, any, differ]) w.release(local);
}

function performInGroups(
  chunk: Chunk,
  masks: readonly Wasm[],
  here: readonly Wasm[],
  giveUpFor: (missing: Wasm) => void,
  perform: (group: readonly Wasm[]) => void,
): void {
  const { writer: w } = chunk;
  const [arrived, missing] = [w.local("i32"), w.local("i32")];
  w.assign([
    { local: arrived, value: laneBits(here) },
    { local: missing, value: wasm.i32(0) },
  ]);
  const groups = new MaskGroups(chunk, masks, here, arrived);
  groups.addMissing(wasm.local("i32", arrived), missing);
  giveUpFor(wasm.local("i32", missing));
  groups.each(perform);
  groups.release();
  for (const local of [arrived, missing]) w.release(local);
}
