import type { WarpOp } from "../../../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { Associative } from "../lanes/lane-fold.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { bothMasks, type Mask } from "../lanes/mask.ts";
import { permuted } from "../lanes/shuffle.ts";
import type { Value } from "../lanes/value.ts";

/*
 * Results of warp-wide operations of groups of lanes, for all groups at once. `lanes`: those that take part; null: all.
 */

/** By lane, the vote of its group; `masks` has the lanes of these. */
export function votesOfGroups(
  mode: Extract<WarpOp, { op: "vote" }>["mode"],
  votes: readonly Wasm[],
  lanes: Mask,
  masks: readonly Wasm[],
): Value {
  const none = wasm.i32x4(0);
  const those = (found: readonly Wasm[]): readonly Wasm[] => {
    const bits = wasm.op("i32x4.splat", laneBits(bothMasks(found, lanes)!));
    return masks.map((own) => wasm.op("v128.and", bits, own));
  };
  if (mode === "ballot") return vector(those(votes), "i32");
  const any = (): readonly Wasm[] => those(votes).map((found) => wasm.op("i32x4.ne", found, none));
  if (mode === "any") return vector(any(), "pred");
  const against = those(votes.map((vote) => wasm.op("v128.not", vote)));
  const all = against.map((found) => wasm.op("i32x4.eq", found, none));
  if (mode === "all") return vector(all, "pred");
  const nobody = any().map((some) => wasm.op("v128.not", some));
  return vector(bothOr(all, nobody), "pred");
}

/** Combines the words of the lanes of each tile of so many: in each step those of two halves, in both of them. */
export function reduceTiles(
  writer: FunctionWriter,
  { op, identity }: Associative,
  { words, lanes, size }: { readonly words: readonly Wasm[]; readonly lanes: Mask; readonly size: number },
  write: (totals: Value) => void,
): void {
  const rest = wasm.i32x4(identity);
  const locals = words.map(() => writer.local("v128"));
  writer.assign(
    locals.map((local, q) => ({ local, value: lanes === null ? words[q]! : wasm.blend(lanes[q]!, words[q]!, rest) })),
  );
  const totals = locals.map((local) => wasm.local("v128", local));
  for (let step = 1; step < size; step *= 2) {
    const from = Array.from({ length: 4 * totals.length }, (_, lane) => lane ^ step);
    const others = permuted(totals, from);
    writer.assign(locals.map((local, q) => ({ local, value: wasm.op(op, totals[q]!, others[q]!) })));
  }
  write(vector(totals, "i32"));
  for (const local of locals) writer.release(local);
}

const bothOr = (a: readonly Wasm[], b: readonly Wasm[]): readonly Wasm[] =>
  a.map((part, q) => wasm.op("v128.or", part, b[q]!));

const vector = (quads: readonly Wasm[], ty: "i32" | "pred"): Value => ({
  kind: "vector",
  ty,
  quads: quads.map((q) => [q]),
});
