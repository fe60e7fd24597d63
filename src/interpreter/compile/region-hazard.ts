import type { FileTarget } from "../../ir/index.ts";
import { byteOf, type Lanes, strideOf } from "../../ir/region.ts";
import type { Expr, Region } from "../../semantics/index.ts";

/** Bytes of the byte file that an instruction reads or writes: a region, or unknown ones. */
type Touch = { readonly region: Region; readonly bits: number } | "anywhere";

/**
 * Whether a lane may read bytes that another lane has written, if each lane reads all of its operands and then writes.
 * `once`: lanes run in order, and values that are the same in all lanes are read before any lane; otherwise neither is
 * known.
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
      if (read === "anywhere" || target.kind === "indirect" || overlap(read, target, lanes, once)) return true;
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

/** Whether an element that a lane writes overlaps one that another lane (`later`: a lane after it) reads. */
function overlap(
  read: Exclude<Touch, "anywhere">,
  written: Exclude<Touch, "anywhere">,
  lanes: Lanes,
  later: boolean,
): boolean {
  const [from, to] = [bytesOf(read, lanes), bytesOf(written, lanes)];
  const [readBytes, writtenBytes] = [read.bits / 8, written.bits / 8];
  if (Math.min(...from) >= Math.max(...to) + writtenBytes) return false;
  if (Math.min(...to) >= Math.max(...from) + readBytes) return false;
  return to.some((at, writer) =>
    from.some(
      (start, reader) =>
        (later ? reader > writer : reader !== writer) && start < at + writtenBytes && at < start + readBytes,
    ),
  );
}

/** The first byte of each lane's element. */
const bytesOf = ({ region, bits }: Exclude<Touch, "anywhere">, { first, count }: Lanes): number[] =>
  Array.from({ length: count }, (_, i) => byteOf(region, bits, first + i));
