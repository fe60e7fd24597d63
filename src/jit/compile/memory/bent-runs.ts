import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { EndTest, StraightAddress } from "../analysis/access/straight-addresses.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Mask } from "../lanes/mask.ts";
import { both } from "../lanes/scalar.ts";
import type { Value, Vector } from "../lanes/value.ts";

/** Addresses that follow each other if `holds` (i32): then `value` is the address of each active lane. */
export interface BentRun {
  readonly holds: Wasm;
  readonly value: Value;
  /** The locals that `value` reads, and their values. */
  readonly locals: readonly { readonly local: number; readonly value: Wasm }[];
}

/**
 * The addresses of lanes, `bytes` apart from each other as long as none of the active ones has been clamped; null where
 * they are not of that kind. Those at the ends of a chunk are clamped more often than one in the middle, from which the
 * others are computed.
 */
export function bentRun(chunk: Chunk, base: Value, bytes: number, mask: Mask): BentRun | null {
  if (base.kind === "vector" && base.ty === "i32") {
    const { first, holds, local } = runOf(chunk, base, bytes, mask);
    return { holds, value: { kind: "affine", ty: "i32", base: local, stride: bytes }, locals: [first] };
  }
  if (base.kind !== "indexed" || base.index.kind !== "vector") return null;
  const step = bytes / base.scale;
  if (!Number.isInteger(step)) return null;
  const { first, holds, local } = runOf(chunk, base.index, step, mask);
  const index: Value = { kind: "affine", ty: "i32", base: local, stride: step };
  return { holds, value: { ...base, index }, locals: [first] };
}

function runOf({ writer, quads, lanes }: Chunk, words: Vector, step: number, mask: Mask) {
  const middle = wasm.lane("i32x4.extract_lane", 0, words.quads[quads / 2]![0]!);
  const first = { local: writer.local("i32"), value: wasm.op("i32.sub", middle, wasm.i32((lanes / 2) * step)) };
  const local = wasm.local("i32", first.local);
  const all = wasm.op("i32x4.splat", local);
  const others = words.quads.map(([own], q) => {
    const distances = [0, 1, 2, 3].map((lane) => (4 * q + lane) * step);
    // Words that differ: not 0 is enough, and a comparison takes two instructions more.
    const other = wasm.op("v128.xor", own!, wasm.op("i32x4.add", all, wasm.lanes(distances)));
    return mask === null ? other : wasm.op("v128.and", other, mask[q]!);
  });
  const any = wasm.op(
    "v128.any_true",
    others.reduce((a, b) => wasm.op("v128.or", a, b)),
  );
  return { first, holds: wasm.op("i32.eqz", any), local };
}

/** The same where it is known what the addresses are if no lane is clamped: only the ends of the chunk are tested. */
export function straightRun(chunk: Chunk, { address, tests }: StraightAddress): BentRun {
  const holds = tests.flatMap((test, i) => {
    // Of what does not wrap around that has been tested.
    const isKnown = tests.slice(0, i).some((t) => t.signed === test.signed && isSameExpr(t.growing, test.growing));
    const { rises, compared } = endTest(chunk, test);
    return isKnown ? [compared] : [rises, compared];
  });
  return { holds: holds.reduce(both), value: chunk.value(address), locals: [] };
}

const isSameExpr = (a: Expr, b: Expr): boolean =>
  a === b || (a.kind === "reg" && b.kind === "reg" && a.reg === b.reg && a.ty === b.ty);

function endTest(chunk: Chunk, { growing, bound, order, signed }: EndTest) {
  const [value, limit] = [chunk.value(growing), chunk.value(bound)];
  if (value.kind !== "affine" || limit.kind !== "uniform") throw new Error("what grows from lane to lane does not");
  const sign = signed ? "s" : "u";
  const last = wasm.op("i32.add", value.base, wasm.i32((chunk.lanes - 1) * value.stride));
  const [low, high] = value.stride > 0 ? [value.base, last] : [last, value.base];
  const [below, above] = [wasm.op(`i32.lt_${sign}`, high, limit.scalar), wasm.op(`i32.gt_${sign}`, low, limit.scalar)];
  const compared = {
    lt: () => below,
    le: () => wasm.op(`i32.le_${sign}`, high, limit.scalar),
    gt: () => above,
    ge: () => wasm.op(`i32.ge_${sign}`, low, limit.scalar),
    ne: () => wasm.op("i32.or", below, above),
  }[order]();
  return { rises: wasm.op(`i32.le_${sign}`, low, high), compared };
}
