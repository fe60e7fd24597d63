import type { Access } from "../../../ir/index.ts";
import type { Shape } from "../../../ir/uniformity/shape.ts";
import { wasm, type Wasm } from "../../../wasm/index.ts";
import type { LanePattern } from "../analysis/access/lane-patterns.ts";
import { foundOnce } from "../analysis/access/noted.ts";

/*
 * Byte offsets in a chunk of whole rows of the block: those of a row's lanes follow from where it starts. As vectors
 * they are the start in all lanes, plus constants, so that the offset of one lane is a sum of two scalars.
 */

/** The quads of a row of so many lanes, from its start on. */
export function rowOffsets(start: Wasm, step: number, length: number): readonly Wasm[] {
  const all = wasm.op("i32x4.splat", start);
  return Array.from({ length: length / 4 }, (_, q) =>
    wasm.op("i32x4.add", all, wasm.lanes([0, 1, 2, 3].map((lane) => (4 * q + lane) * step))),
  );
}

/** A vector of words whose distances from a scalar are known; null for others. */
export function splatAndWords(value: Wasm): { readonly scalar: Wasm; readonly words: Wasm } | null {
  if (value.kind !== "op" || value.op !== "i32x4.add") return null;
  const [all, words] = value.args;
  if (all!.kind !== "op" || all!.op !== "i32x4.splat" || words!.kind !== "const") return null;
  return { scalar: all!.args[0]!, words: words! };
}

/** Such quads, of which the starts alone are kept. */
export function keptByRow(quads: readonly Wasm[], kept: (start: Wasm) => Wasm): readonly Wasm[] {
  const starts = new Map<Wasm, Wasm>();
  return quads.map((quad) => {
    const { scalar, words } = splatAndWords(quad)!;
    const start = foundOnce(starts, scalar, () => kept(scalar));
    return wasm.op("i32x4.add", wasm.op("i32x4.splat", start), words);
  });
}

/** The pattern of addresses that follow each other in each row, in a chunk of so many lanes; null for others. */
export function runsInRows(
  { rows, scale }: Extract<Shape, { kind: "indexed" }>,
  { bits, count }: Access,
  lanes: number,
): LanePattern | null {
  if (rows === undefined || rows.x * scale !== (bits / 8) * count) return null;
  const numbers = Array.from({ length: lanes }, (_, lane) => lane);
  return {
    anchors: numbers.map((lane) => lane - (lane % rows.length)),
    distances: numbers.map((lane) => rows.x * scale * (lane % rows.length)),
    places: null,
  };
}
