import { type Assignment, type Wasm, wasm } from "../../../wasm/index.ts";
import { type Narrow, type NarrowBits, narrowed, narrowedMask } from "../lanes/narrow.ts";
import { type Value, vectorOf } from "../lanes/value.ts";

/** The vectors of a value as a register in narrow lanes keeps it. */
export function narrowPartsOf(value: Value | Narrow, bits: NarrowBits, quads: number): readonly Wasm[] {
  if (value.kind === "narrow") return value.parts;
  const words = vectorOf(value, quads).quads.map(([quad]) => quad!);
  if (value.ty === "pred") return narrowedMask(words, bits).parts;
  const fits = value.kind === "vector" && value.bits !== undefined && value.bits <= bits;
  return narrowed(words, bits, fits ? "unsigned" : null).parts;
}

/** The assignments of vectors to locals in those lanes that are in all of some masks; null: all lanes. */
export const narrowAssignments = (
  locals: readonly number[],
  parts: readonly Wasm[],
  masks: readonly (readonly Wasm[] | null)[],
): Assignment[] =>
  locals.map((local, i) => {
    const old = wasm.local("v128", local);
    return {
      local,
      value: masks.reduce((part, mask) => (mask === null ? part : wasm.blend(mask[i]!, part, old)), parts[i]!),
    };
  });
