import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { splitImmediate } from "../lanes/scalar.ts";
import type { ByteOffsets, CheckResult } from "./bounds-check.ts";
import type { CheckedAccess } from "./checked-access.ts";
import type { KnownObject } from "./known-object.ts";
import { keptByRow, splatAndWords } from "./row-offsets.ts";

/** The result of a group's check, in locals. */
export interface VerifiedGroup extends Omit<CheckedAccess, "release" | "wideLoad"> {
  readonly locals: readonly number[];
  /** Accesses of the group that are still to be written. */
  left: number;
}

/** What a check has found, in locals. */
export type KeptCheck = Pick<VerifiedGroup, "ok" | "offsets" | "immediate" | "locals" | "left">;

/** Moves the result of a check, which `count` accesses use, into locals. `context`: the local with the context. */
export function keepCheck(
  writer: FunctionWriter,
  context: number,
  { ok, offsets }: CheckResult,
  object: KnownObject,
  count: number,
): KeptCheck {
  const assignments: { readonly local: number; readonly value: Wasm }[] = [];
  const kept = (value: Wasm): Wasm => {
    if (value.kind === "const" || isFixedPlace(value, context)) return value;
    const local = writer.local(value.ty);
    assignments.push({ local, value });
    return wasm.local(value.ty, local);
  };
  const keptOk = kept(ok);
  let immediate = 0;
  let keptOffsets: ByteOffsets;
  if (offsets.kind === "each") {
    const { quads, byRow = false } = offsets;
    keptOffsets = { ...offsets, quads: byRow ? keptByRow(quads, kept) : quads.map(kept) };
  } else {
    // With a constant `delta` the constant part of the sum is not split off: without it the offset of an inactive lane
    // may be below 0, and adding an immediate does not wrap.
    const split = object.delta.kind === "const" ? { at: offsets.at, immediate: 0 } : splitImmediate(offsets.at);
    ({ immediate } = split);
    keptOffsets = { ...offsets, at: kept(split.at) };
  }
  writer.assign(assignments);
  return { ok: keptOk, offsets: keptOffsets, immediate, locals: assignments.map((a) => a.local), left: count };
}

/** Whether offsets are constants beyond the context: words of them cost less than a vector. */
function isFixedPlace(value: Wasm, context: number): boolean {
  const sum = splatAndWords(value)?.scalar;
  if (sum?.kind !== "op" || sum.op !== "i32.add" || sum.args[1]!.kind !== "const") return false;
  return sum.args[0]!.kind === "local" && sum.args[0]!.local === context;
}
