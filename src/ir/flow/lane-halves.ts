import type { Expr, Region, RegionLeaf } from "../../semantics/index.ts";
import type { Destination, Instruction, Op } from "../instruction.ts";
import type { Lanes } from "../lanes.ts";
import { mapOperands, operandsOf } from "../operands.ts";
import type { IrFunction } from "../module.ts";
import { byteOf, extentOf as extentOfRegion, strideOf } from "../region.ts";
import { retargeted } from "../retarget.ts";
import { fileLeavesOf, readsOf } from "./accesses.ts";
import { ruleOf } from "./file-accesses.ts";

/** What an instruction reads or writes of the byte file. */
export type Places = Pick<RegionLeaf, "bits" | "region">;

/** Returns the region of two operands together, whose elements are `stride` apart in each; null if they have none. */
export type UniteRegions = (a: Places, b: Places, stride: number) => Region | null;

/** The same, where it is not yet known how far apart elements are. */
type Unite = (a: Places, b: Places) => Region | null;

/**
 * Unites an instruction and a later one if they do the same for adjacent lanes, as compilers write it where the
 * hardware takes half of the lanes at once: `(M1, 16)` and `(M5, 16)` become one for 32 lanes. Null if they do not, or
 * if the second depends on what the first writes.
 */
function unitedHalves(a: Instruction, b: Instruction): Instruction | null {
  const [la, lb] = [a.lanes, b.lanes];
  if (la === undefined || lb === undefined) return null;
  return unitedWith(a, b, (x, y, stride) => {
    if (originOf(x, la, stride) !== originOf(y, lb, stride)) return null;
    return { at: byteOf(x.region, x.bits, la.first), first: la.first, vertical: stride, width: 1, horizontal: 0 };
  });
}

/** Unites two instructions as `unitedHalves` does, given which regions are united, and how. */
export function unitedWith(a: Instruction, b: Instruction, unite: UniteRegions): Instruction | null {
  const [la, lb] = [a.lanes, b.lanes];
  if (la === undefined || lb === undefined || la.count === 1 || lb.count === 1) return null;
  if (lb.first !== la.first + la.count || la.noMask !== lb.noMask || la.uniform || lb.uniform) return null;
  if (a.guard?.register !== b.guard?.register || a.guard?.negate !== b.guard?.negate) return null;
  if (a.guard?.collapse !== undefined || b.guard?.collapse !== undefined) return null;
  if (!sameOperation(a, b)) return null;
  const region: Unite = (x, y) => {
    const stride = strideOf(x.region, la);
    return stride === null || x.bits !== y.bits || stride !== strideOf(y.region, lb) ? null : unite(x, y, stride);
  };
  const operands = unitedOperands(a, b, region);
  const dst = a.dst.map((to, i) => unitedDestination(to, b.dst[i]!, region));
  if (operands === null || dst.includes(undefined) || dependsOn(b, a)) return null;
  const united = mapOperands({ ...a, undefinedCases: [] }, (expr) => operands.get(expr) ?? expr);
  return { ...united, dst: dst as Destination[], lanes: { ...la, count: la.count + lb.count } };
}

/** Whether two instructions are the same computation or access, but for their operands. */
function sameOperation({ op: a, dst }: Instruction, { op: b, dst: other }: Instruction): boolean {
  if (dst.length !== other.length) return false;
  if (a.kind === "pure") return b.kind === "pure";
  if ((a.kind !== "load" && a.kind !== "store" && a.kind !== "atomic") || b.kind !== a.kind) return false;
  if (a.place.kind !== b.place.kind || (a.kind === "atomic" && a.problem !== undefined)) return false;
  return JSON.stringify(a.access) === JSON.stringify(b.access);
}

function unitedOperands(a: Instruction, b: Instruction, unite: Unite): ReadonlyMap<Expr, Expr> | null {
  const [first, second] = [operandsOf(a.op), operandsOf(b.op)];
  if (first.length !== second.length) return null;
  const united = new Map<Expr, Expr>();
  for (const [i, expr] of first.entries()) {
    const both = unitedExpr(expr, second[i]!, unite);
    if (both === null) return null;
    united.set(expr, both);
  }
  return united;
}

function unitedExpr(a: Expr, b: Expr, unite: Unite): Expr | null {
  if (a.kind !== b.kind || a.ty !== b.ty) return null;
  switch (a.kind) {
    case "const":
      return b.kind === "const" && Object.is(a.value, b.value) ? a : null;
    case "reg":
      return b.kind === "reg" && a.reg === b.reg ? a : null;
    case "special":
      return b.kind === "special" && a.name === b.name ? a : null;
    case "region": {
      const region = b.kind === "region" && a.signed === b.signed ? unite(a, b) : null;
      return region === null ? null : { ...a, region };
    }
    case "old":
      return b.kind === "old" && a.index === b.index ? a : null;
    case "prim": {
      if (b.kind !== "prim" || a.prim !== b.prim) return null;
      const args = a.args.map((arg, i) => unitedExpr(arg, b.args[i]!, unite));
      return args.includes(null) ? null : { ...a, args: args as Expr[] };
    }
    default:
      return null;
  }
}

/** The byte at which lane 0 would have its element. */
const originOf = ({ region, bits }: Places, { first }: Lanes, stride: number): number =>
  byteOf(region, bits, first) - (stride * first * bits) / 8;

/** Undefined if the destinations are not one row. */
function unitedDestination(a: Destination, b: Destination, unite: Unite): Destination | undefined {
  if (a === null || b === null || typeof a === "number" || typeof b === "number") return a === b ? a : undefined;
  if (a.kind === "indirect" || b.kind === "indirect") return undefined;
  const region = unite(a, b);
  return region === null ? undefined : { ...a, region };
}

// ---- A whole function -----------------------------------------------------------------------------------------------

/** The most instructions between the two for halves of a vector. */
const mostBetween = 3;

/**
 * The function with instructions for adjacent lanes united, also where a few others are between them. A constant that
 * is written where it already is is dropped: compilers name the surface again for the second half of an access.
 */
export function uniteHalves(ir: IrFunction, width: number): { readonly ir: IrFunction; readonly origins: number[] } {
  const targets = new Set(ir.instructions.flatMap(({ op }) => (op.kind === "branch" ? [op.target] : [])));
  const instructions: Instruction[] = [];
  const origins: number[] = [];
  const places: number[] = [];
  const constants = new KnownConstants(width);
  const touched = new TouchedBytes(width);
  let blockStart = 0;
  for (const [i, instruction] of ir.instructions.entries()) {
    if (targets.has(i)) {
      blockStart = instructions.length;
      constants.forget();
    }
    places.push(instructions.length);
    if (constants.has(instruction)) continue;
    constants.note(instruction);
    if (unitedWithEarlier(instruction, instructions, blockStart, touched)) continue;
    instructions.push(instruction);
    origins.push(i);
    if (!ownMoves.has(instruction.op.kind)) blockStart = instructions.length;
  }
  places.push(instructions.length);
  const moved = instructions.map((instruction) => retargeted(instruction, (target) => places[target]!));
  return { ir: { ...ir, instructions: moved }, origins };
}

/** Operations past which others may be moved. */
const ownMoves: ReadonlySet<Op["kind"]> = new Set(["pure", "load", "store", "atomic", "nothing"]);

/** Unites an instruction with an earlier one of its block, if that can be; the list has the result. */
function unitedWithEarlier(
  instruction: Instruction,
  list: Instruction[],
  blockStart: number,
  touched: TouchedBytes,
): boolean {
  if ((instruction.lanes?.first ?? 0) === 0) return false;
  for (let at = list.length - 1; at >= Math.max(blockStart, list.length - 1 - mostBetween); at--) {
    const united = unitedHalves(list[at]!, instruction);
    if (united !== null) {
      list[at] = united;
      return true;
    }
    if (!areIndependent(list[at]!, instruction, touched)) return false;
  }
  return false;
}

/** Whether it makes no difference which of two instructions is first. */
function areIndependent(a: Instruction, b: Instruction, touched: TouchedBytes): boolean {
  const onlyLoad = a.op.kind === "load" && b.op.kind === "load";
  if (!onlyLoad && a.op.kind !== "pure" && b.op.kind !== "pure") return false;
  const [ofA, ofB] = [touched.by(a), touched.by(b)];
  if (ofA === null || ofB === null) return false;
  return !meet(ofA.writes, ofB.reads) && !meet(ofA.reads, ofB.writes) && !meet(ofA.writes, ofB.writes);
}

/** What an instruction reads and writes: ranges of bytes of the file; predicates are ranges below 0. */
interface Touched {
  readonly reads: readonly Extent[];
  readonly writes: readonly Extent[];
}

type Extent = readonly [from: number, end: number];

const meet = (a: readonly Extent[], b: readonly Extent[]): boolean =>
  a.some(([from, end]) => b.some(([start, after]) => from < after && start < end));

/** The most lanes of an instruction. */
const mostLanes = 32;

/** The bits of a predicate in some lanes, as bytes below 0. */
const predicate = (register: number, { first, count }: Lanes = { first: 0, count: mostLanes }): Extent => {
  const at = -mostLanes * (register + 1);
  return [at + first, at + first + count];
};

/** What instructions read and write, which each of them is asked for by several later ones. */
class TouchedBytes {
  readonly #width: number;
  readonly #known = new Map<Instruction, Touched | null>();

  constructor(width: number) {
    this.#width = width;
  }

  /** Null where bytes are computed. */
  by(instruction: Instruction): Touched | null {
    let found = this.#known.get(instruction);
    if (found === undefined) this.#known.set(instruction, (found = touchedBy(instruction, this.#width)));
    return found;
  }
}

/** Null where bytes are computed. */
function touchedBy(instruction: Instruction, width: number): Touched | null {
  const rule = ruleOf(instruction, width);
  const reads: Extent[] = [];
  for (const leaf of fileLeavesOf(instruction)) {
    if (leaf.kind === "indirect") return null;
    reads.push(extentOf(leaf, rule));
  }
  readsOf(instruction, {
    register: (r) => reads.push(predicate(r, rule)),
    // A collapsed predicate, or a word of lanes. A register read without a mask is read in the instruction's lanes.
    acrossLanes: (r) => reads.push(predicate(r)),
  });
  const writes: Extent[] = [];
  for (const to of instruction.dst) {
    if (to === null) continue;
    if (typeof to === "number") writes.push(predicate(to, rule));
    else if (to.kind === "indirect") return null;
    else writes.push(extentOf(to, rule));
  }
  return { reads, writes };
}

/** Bytes of an element, at most. */
const mostBytes = 8;

/** Constants that elements of the byte file are known to hold. */
class KnownConstants {
  readonly #width: number;
  /** By byte at which an element begins. */
  readonly #known = new Map<number, { readonly value: Expr; readonly extent: Extent }>();

  constructor(width: number) {
    this.#width = width;
  }

  forget(): void {
    this.#known.clear();
  }

  /** Whether an instruction only writes a constant that its destination holds. */
  has(instruction: Instruction): boolean {
    const written = constantOf(instruction);
    const known = written === null ? undefined : this.#known.get(written.extent[0]);
    return known !== undefined && known.extent[1] === written!.extent[1] && sameConstant(known.value, written!.value);
  }

  /** Forgets what meets an extent. */
  #forgetIn(extent: Extent): void {
    if (this.#known.size === 0) return;
    const forget = (at: number): void => {
      const known = this.#known.get(at);
      if (known !== undefined && meet([known.extent], [extent])) this.#known.delete(at);
    };
    const from = extent[0] - mostBytes;
    if (this.#known.size < extent[1] - from) for (const at of this.#known.keys()) forget(at);
    else for (let at = from; at < extent[1]; at++) forget(at);
  }

  note(instruction: Instruction): void {
    if (!ownMoves.has(instruction.op.kind)) this.forget();
    const rule = ruleOf(instruction, this.#width);
    for (const to of instruction.dst) {
      if (to === null || typeof to === "number") continue;
      if (to.kind === "indirect") this.forget();
      else {
        this.#forgetIn(extentOf(to, rule));
      }
    }
    const written = constantOf(instruction);
    if (written !== null) this.#known.set(written.extent[0], written);
  }
}

/** The constant that an instruction writes to one element of the file for all lanes, and where; null if it does not. */
function constantOf({ op, dst, guard, lanes }: Instruction): { readonly value: Expr; readonly extent: Extent } | null {
  const [to] = dst;
  if (op.kind !== "pure" || dst.length !== 1 || guard !== null || lanes?.noMask !== true || lanes.count !== 1)
    return null;
  const [value] = op.values;
  if (value?.kind !== "const" || to === null || typeof to !== "object" || to.kind === "indirect") return null;
  return { value, extent: extentOf(to, lanes) };
}

const sameConstant = (a: Expr, b: Expr): boolean =>
  a.kind === "const" && b.kind === "const" && a.ty === b.ty && Object.is(a.value, b.value);

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

const extentOf = ({ region, bits }: Places, lanes: Lanes): Extent => extentOfRegion(region, bits, lanes);
