import type { FileTarget } from "../ir/index.ts";
import type { Expr, Region } from "../semantics/index.ts";
import { byteOf, type Lanes, strideOf } from "./region.ts";

/** What an instruction reads or writes of the byte file: a region, or anything at all. */
type Touch = { readonly region: Region; readonly bits: number } | "anywhere";

/**
 * Whether a lane may read what another one has written before, if each lane reads all and then writes. `once`: what is the
 * same in all lanes has been read before; lanes go in their order. Otherwise nothing is known of either.
 */
export function interferes(
  values: readonly Expr[],
  targets: readonly FileTarget[],
  lanes: Lanes,
  once: boolean,
): boolean {
  if (targets.length === 0 || lanes.count === 1) return false;
  const reads = readsOf(
    [...values, ...targets.flatMap((to) => (to.kind === "indirect" ? [to.address] : []))],
    lanes,
    once,
  );
  for (const read of reads) {
    for (const target of targets) {
      if (read === "anywhere" || target.kind === "indirect" || meet(read, target, lanes, once)) return true;
    }
  }
  return false;
}

/** Whether an expression is the same in all lanes, as far as the byte file goes. */
export function isUniform(expr: Expr, lanes: Lanes, memo: Map<Expr, boolean>): boolean {
  const known = memo.get(expr);
  if (known !== undefined) return known;
  const uniform = uniformNode(expr, lanes, memo);
  memo.set(expr, uniform);
  return uniform;
}

function uniformNode(expr: Expr, lanes: Lanes, memo: Map<Expr, boolean>): boolean {
  switch (expr.kind) {
    case "const":
    case "lane-word":
      return true;
    case "region":
      return strideOf(expr.region, lanes) === 0;
    case "indirect":
      return isUniform(expr.address, lanes, memo);
    case "prim":
      return expr.args.every((a) => isUniform(a, lanes, memo));
    default:
      return false;
  }
}

function readsOf(roots: readonly Expr[], lanes: Lanes, once: boolean): ReadonlySet<Touch> {
  const reads = new Set<Touch>();
  const seen = new Set<Expr>();
  const uniform = new Map<Expr, boolean>();
  const visit = (expr: Expr): void => {
    if (seen.has(expr)) return;
    seen.add(expr);
    if (expr.kind === "prim") expr.args.forEach(visit);
    else if (expr.kind === "region" || expr.kind === "indirect") {
      if (expr.kind === "indirect") visit(expr.address);
      if (!once || !isUniform(expr, lanes, uniform)) reads.add(expr.kind === "region" ? expr : "anywhere");
    }
  };
  roots.forEach(visit);
  return reads;
}

/** Whether an element that a lane writes and one that another lane (`later`: one after it) reads have a byte in common. */
function meet(
  read: Exclude<Touch, "anywhere">,
  written: Exclude<Touch, "anywhere">,
  { first, count }: Lanes,
  later: boolean,
): boolean {
  const [readBytes, writtenBytes] = [read.bits / 8, written.bits / 8];
  for (let writer = first; writer < first + count; writer++) {
    const at = byteOf(written.region, written.bits, writer);
    for (let reader = later ? writer + 1 : first; reader < first + count; reader++) {
      if (reader === writer) continue;
      const from = byteOf(read.region, read.bits, reader);
      if (from < at + writtenBytes && at < from + readBytes) return true;
    }
  }
  return false;
}
