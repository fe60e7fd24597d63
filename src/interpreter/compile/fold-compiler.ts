import { lowestLane } from "../../ir/lane-mask.ts";
import { windows } from "../../ir/index.ts";
import { byteOf } from "../../ir/region.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import { isScalarName, scalarIndex } from "../../machine/state/specials.ts";
import { nan32, nan64 } from "../../numeric/float-pattern.ts";
import { oldValue } from "../../program/old-value.ts";
import { type Expr, fold, type LeafValue, type RegionLeaf, type Value } from "../../semantics/index.ts";
import { patternOf } from "../../semantics/pattern.ts";
import type { ExprCompiler, FunctionContext } from "./expr-compiler.ts";
import type { Slot } from "./register-file.ts";

/**
 * Evaluates expressions with `fold`, lane by lane: for hosts that forbid code from text, and to test the loop compiler
 * against.
 */
export const foldCompiler: ExprCompiler = {
  assign: (context, assignments) => (x, mask) => {
    const clock = lazy(() => x.warp.cta.grid.clock());
    const writes: (() => void)[] = [];
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const leaf = leafOf(context, x, lane, clock, []);
      const memo = new Map<Expr, Value>();
      for (const { value, to } of assignments) {
        const result = fold(value, leaf, memo);
        if (!("kind" in to)) writes.push(() => write(x, to, lane, value.ty, result));
        else {
          const at = to.kind === "region" ? byteOf(to.region, to.bits, lane) : (fold(to.address, leaf, memo) as number);
          writes.push(() => writeBytes(context, x, at, to.bits, patternOf(value.ty, result)));
        }
      }
    }
    for (const write of writes) write();
  },
  lane: (context, expr) => (x, lane, old) =>
    fold(
      expr,
      leafOf(
        context,
        x,
        lane,
        lazy(() => x.warp.cta.grid.clock()),
        old,
      ),
    ),
};

function lazy<T>(compute: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= compute());
}

function write(x: Activation, to: Slot, lane: number, ty: Expr["ty"], value: Value): void {
  if (to.class === "pred") {
    x.i32[to.base] = (x.i32[to.base]! & ~(1 << lane)) | (value ? 1 << lane : 0);
    return;
  }
  const at = to.base + lane;
  if (ty === "i32") x.i32[at] = to.bits < 32 ? (value as number) & (2 ** to.bits - 1) : (value as number);
  else if (ty === "i64") x.i64[at] = value as bigint;
  else if (ty === "f32") {
    if (Number.isNaN(value)) x.i32[at] = nan32;
    else x.f32[at] = value as number;
  } else if (Number.isNaN(value)) x.i64[at] = nan64;
  else x.f64[at] = value as number;
}

function read(x: Activation, slot: Slot, lane: number, ty: Expr["ty"]): Value {
  const at = slot.base + lane;
  switch (ty) {
    case "pred":
      return ((x.i32[slot.base]! >>> lane) & 1) !== 0;
    case "i32":
      return x.i32[at]!;
    case "f32":
      return x.f32[at]!;
    case "i64":
      return x.i64[at]!;
    case "f64":
      return x.f64[at]!;
  }
}

export const leafOf =
  (context: FunctionContext, x: Activation, lane: number, clock: () => bigint, old: readonly Value[]): LeafValue =>
  (leaf) => {
    switch (leaf.kind) {
      case "reg":
        return read(x, context.file.slot(leaf.reg), lane, leaf.ty);
      case "old":
        return oldValue(leaf.ty, old[leaf.index]!);
      case "frame": {
        const low = windows.local.start + context.frameOffset(leaf.variable) + leaf.offset + x.base;
        return leaf.ty === "i32" ? low | 0 : BigInt(low) + (leaf.generic ? context.window : 0n);
      }
      case "special":
        return special(x, lane, leaf.name, leaf.ty, clock);
      case "symbol":
        throw new Error(`${leaf.symbol} has not been bound to its address`);
      case "lane-word":
        return x.i32[context.file.slot(leaf.reg).base]!;
      case "region":
        return readBytes(context, x, byteOf(leaf.region, leaf.bits, lane), leaf);
      case "indirect": {
        const at = fold(leaf.address, leafOf(context, x, lane, clock, old)) as number;
        const { byteFileBytes } = context.file;
        if (at >>> 0 > byteFileBytes - leaf.bits / 8) return leaf.ty === "i64" ? 0n : 0;
        return readBytes(context, x, at, leaf);
      }
    }
  };

/** An element at a byte of the file. Temporaries come after the file, so a read past its end stays in the buffer. */
function readBytes(
  { file }: FunctionContext,
  x: Activation,
  at: number,
  { bits, ty, signed }: Pick<RegionLeaf, "bits" | "ty" | "signed">,
): Value {
  const { data } = x.small;
  const from = file.byteFileAt + at;
  if (bits === 64) return ty === "f64" ? data.getFloat64(from, true) : data.getBigInt64(from, true);
  if (bits === 32) return ty === "f32" ? data.getFloat32(from, true) : data.getInt32(from, true);
  if (bits === 16) return signed ? data.getInt16(from, true) : data.getUint16(from, true);
  return signed ? data.getInt8(from) : data.getUint8(from);
}

function writeBytes({ file }: FunctionContext, x: Activation, at: number, bits: number, value: number | bigint): void {
  if (at >>> 0 > file.byteFileBytes - bits / 8) return;
  const { data } = x.small;
  const to = file.byteFileAt + at;
  if (bits === 64) data.setBigInt64(to, value as bigint, true);
  else if (bits === 32) data.setInt32(to, value as number, true);
  else if (bits === 16) data.setInt16(to, value as number, true);
  else data.setInt8(to, value as number);
}

function special(x: Activation, lane: number, name: string, ty: Expr["ty"], clock: () => bigint): Value {
  const { warp } = x;
  const tid = ["tid.x", "tid.y", "tid.z"].indexOf(name);
  const narrow =
    name === "laneid"
      ? lane
      : tid >= 0
        ? warp.tid[tid * 32 + lane]!
        : name === "warpid"
          ? warp.index
          : isScalarName(name)
            ? warp.cta.scalars[scalarIndex(name)]!
            : null;
  if (narrow !== null) return ty === "i64" ? BigInt(narrow >>> 0) : narrow;
  const time = name.endsWith("_hi") ? clock() >> 32n : clock();
  return ty === "i64" ? time : Number(BigInt.asIntN(32, time));
}
