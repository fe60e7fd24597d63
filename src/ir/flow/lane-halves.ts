import type { Expr, RegionLeaf } from "../../semantics/index.ts";
import type { Destination, Instruction } from "../instruction.ts";
import type { Lanes } from "../lanes.ts";
import { mapOperands, operandsOf } from "../operands.ts";
import { byteOf, strideOf } from "../region.ts";
import { fileLeavesOf } from "./accesses.ts";

/**
 * Unites an instruction and the one after it if they do the same for adjacent lanes, as compilers write it where the
 * hardware takes half of the lanes at once: `(M1, 16)` and `(M5, 16)` become one for 32 lanes. Null if they do not, or
 * if the second depends on what the first writes.
 */
export function unitedHalves(a: Instruction, b: Instruction): Instruction | null {
  const [la, lb] = [a.lanes, b.lanes];
  if (la === undefined || lb === undefined || la.count === 1 || lb.count === 1) return null;
  if (lb.first !== la.first + la.count || la.noMask !== lb.noMask || la.uniform || lb.uniform) return null;
  if (a.guard?.register !== b.guard?.register || a.guard?.negate !== b.guard?.negate) return null;
  if (a.guard?.collapse !== undefined || b.guard?.collapse !== undefined) return null;
  if (!sameOperation(a, b) || dependsOn(b, a)) return null;
  const operands = unitedOperands(a, b, la, lb);
  const dst = a.dst.map((to, i) => unitedDestination(to, b.dst[i]!, la, lb));
  if (operands === null || dst.includes(undefined)) return null;
  const united = mapOperands({ ...a, undefinedCases: [] }, (expr) => operands.get(expr) ?? expr);
  return { ...united, dst: dst as Destination[], lanes: { ...la, count: la.count + lb.count } };
}

/** Whether two instructions are the same computation or access, but for their operands. */
function sameOperation({ op: a, dst }: Instruction, { op: b, dst: other }: Instruction): boolean {
  if (dst.length !== other.length) return false;
  if (a.kind === "pure") return b.kind === "pure";
  if ((a.kind !== "load" && a.kind !== "store") || b.kind !== a.kind || a.place.kind !== b.place.kind) return false;
  return JSON.stringify(a.access) === JSON.stringify(b.access);
}

function unitedOperands(a: Instruction, b: Instruction, la: Lanes, lb: Lanes): ReadonlyMap<Expr, Expr> | null {
  const [first, second] = [operandsOf(a.op), operandsOf(b.op)];
  if (first.length !== second.length) return null;
  const united = new Map<Expr, Expr>();
  for (const [i, expr] of first.entries()) {
    const both = unitedExpr(expr, second[i]!, la, lb);
    if (both === null) return null;
    united.set(expr, both);
  }
  return united;
}

function unitedExpr(a: Expr, b: Expr, la: Lanes, lb: Lanes): Expr | null {
  if (a.kind !== b.kind || a.ty !== b.ty) return null;
  switch (a.kind) {
    case "const":
      return b.kind === "const" && Object.is(a.value, b.value) ? a : null;
    case "reg":
      return b.kind === "reg" && a.reg === b.reg ? a : null;
    case "special":
      return b.kind === "special" && a.name === b.name ? a : null;
    case "region":
      return b.kind === "region" && a.signed === b.signed ? unitedRegion(a, b, la, lb) : null;
    case "prim": {
      if (b.kind !== "prim" || a.prim !== b.prim) return null;
      const args = a.args.map((arg, i) => unitedExpr(arg, b.args[i]!, la, lb));
      return args.includes(null) ? null : { ...a, args: args as Expr[] };
    }
    default:
      return null;
  }
}

type Places = Pick<RegionLeaf, "bits" | "region">;

function unitedRegion<T extends Places>(a: T, b: Places, la: Lanes, lb: Lanes): T | null {
  const [x, y] = [rowOf(a, la), rowOf(b, lb)];
  if (x === null || y === null || a.bits !== b.bits || x.stride !== y.stride || x.origin !== y.origin) return null;
  const at = byteOf(a.region, a.bits, la.first);
  return { ...a, region: { at, first: la.first, vertical: x.stride, width: 1, horizontal: 0 } };
}

/** A region as a function of the lane: elements from lane to lane, and the byte at which lane 0 would be. */
function rowOf({ region, bits }: Places, lanes: Lanes): { readonly stride: number; readonly origin: number } | null {
  const stride = strideOf(region, lanes);
  if (stride === null) return null;
  return { stride, origin: byteOf(region, bits, lanes.first) - (stride * lanes.first * bits) / 8 };
}

/** Undefined if the destinations are not one row. */
function unitedDestination(a: Destination, b: Destination, la: Lanes, lb: Lanes): Destination | undefined {
  if (a === null || b === null || typeof a === "number" || typeof b === "number") return a === b ? a : undefined;
  if (a.kind === "indirect" || b.kind === "indirect") return undefined;
  return unitedRegion(a, b, la, lb) ?? undefined;
}

/** Whether an instruction reads bytes of the file that another one writes. */
function dependsOn(reader: Instruction, writer: Instruction): boolean {
  const written = writer.dst.flatMap((to) => (to === null || typeof to === "number" ? [] : [to]));
  return fileLeavesOf(reader).some((leaf) => {
    if (leaf.kind === "indirect") return true;
    const [from, end] = extentOf(leaf, reader.lanes!);
    return written.some((to) => {
      if (to.kind === "indirect") return true;
      const [start, after] = extentOf(to, writer.lanes!);
      return from < after && start < end;
    });
  });
}

function extentOf({ region, bits }: Places, { first, count }: Lanes): readonly [from: number, end: number] {
  const places = Array.from({ length: count }, (_, i) => byteOf(region, bits, first + i));
  return [Math.min(...places), Math.max(...places) + bits / 8];
}
