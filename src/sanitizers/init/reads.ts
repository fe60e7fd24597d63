import type { FileTarget, Instruction, Op } from "../../ir/index.ts";
import { allLanes, byteOf, type Lanes, maskOf } from "../../ir/region.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Expr, Region, SpecialName } from "../../semantics/index.ts";

export type Leaf = Exclude<Expr, { readonly kind: "prim" | "const" }>;

/** Elements of the byte file that lanes read or write: where each lane's begins. */
export interface Elements {
  readonly bytes: number;
  readonly at: Int32Array;
  /** All of them lie in `[from, to)`. */
  readonly from: number;
  readonly to: number;
  /** The lanes that have one, and whether these lie one behind the other. */
  readonly lanes: number;
  readonly packed: boolean;
}

/** What some expressions read. */
export interface Reads {
  readonly registers: readonly number[];
  /** Predicates whose lanes are read as a number. */
  readonly words: readonly number[];
  readonly elements: readonly Elements[];
  /** Bytes whose place is computed: any may be undefined. */
  readonly computed: boolean;
}

/** An operand that decides what an instruction does, rather than what its results are. */
interface Use {
  readonly expr: Expr;
  /** How messages go on after "the value is". */
  readonly role: string;
  /** Whether there is no sense in going on with such a value. */
  readonly ends: boolean;
}

/** What an instruction makes of its operands: found once for each. */
export interface Plan {
  readonly uses: readonly Use[];
  readonly usesRead: Reads;
  /** Of what is computed, stored or passed from lane to lane. */
  readonly values: readonly (Expr | null)[];
  readonly valuesRead: Reads;
  /** By result, where it goes in the byte file; null for registers and computed places. */
  readonly targets: readonly (Elements | null)[];
  /** Something happens that other lanes or threads see, or control moves. */
  readonly hasEffect: boolean;
}

const plans = new WeakMap<Site, Plan>();

export function planOf(site: Site): Plan {
  let plan = plans.get(site);
  if (plan === undefined) plans.set(site, (plan = makePlan(site.instruction, site.code.ir.file?.bytes ?? 0)));
  return plan;
}

function makePlan(instruction: Instruction, fileBytes: number): Plan {
  const { op, dst } = instruction;
  const lanes = instruction.lanes ?? allLanes;
  const places = dst.filter((to): to is FileTarget => to !== null && typeof to !== "number");
  const uses = usesOf(op).concat(
    places.flatMap((to) => (to.kind === "indirect" ? [use(to.address, "the address of a register", false)] : [])),
  );
  const values = valuesOf(op, dst);
  return {
    uses,
    usesRead: readsOf(
      uses.map(({ expr }) => expr),
      lanes,
      fileBytes,
    ),
    values,
    valuesRead: readsOf(
      values.filter((v) => v !== null),
      lanes,
      fileBytes,
    ),
    targets: dst.map((to) =>
      to === null || typeof to === "number" || to.kind === "indirect"
        ? null
        : elementsOf(to.region, to.bits, lanes, fileBytes),
    ),
    hasEffect: !["pure", "load", "activemask", "nothing", "fence", "sleep", "breakpoint"].includes(op.kind),
  };
}

const use = (expr: Expr, role: string, ends = true): Use => ({ expr, role, ends });

function usesOf(op: Op): Use[] {
  switch (op.kind) {
    case "load":
    case "store":
    case "atomic": {
      const what = op.surface === undefined ? "the address" : "the offset";
      return [
        use(
          op.address,
          `${what} of ${op.kind === "load" ? "a load" : op.kind === "store" ? "a store" : "an atomic operation"}`,
        ),
        ...(op.surface === undefined ? [] : [use(op.surface, "the index of a surface")]),
      ];
    }
    case "warp":
      return op.mask === null ? [] : [use(op.mask, "a member mask")];
    case "barrier":
      return [
        use(op.id, "the number of a barrier"),
        ...(op.count === null ? [] : [use(op.count, "the count of a barrier")]),
      ];
    case "branch-indexed":
      return [use(op.index, "the index of a branch")];
    case "call":
    case "file-call":
      return op.target.kind === "indirect" ? [use(op.target.address, "the address of a call")] : [];
    case "alloca":
      return [use(op.size, "the size of an allocation")];
    default:
      return [];
  }
}

function valuesOf(op: Op, dst: Instruction["dst"]): readonly (Expr | null)[] {
  switch (op.kind) {
    case "pure":
      return op.values.map((v, i) => ((dst[i] ?? null) === null ? null : v));
    case "store":
      return op.values;
    case "atomic":
      return op.combine;
    case "warp":
      return operandsOf(op);
    default:
      return [];
  }
}

/** What a warp-wide operation takes from a lane: the value, and what chooses the lane it comes from. */
export const operandsOf = ({ warp }: Extract<Op, { kind: "warp" }>): readonly Expr[] =>
  "a" in warp ? (warp.op === "shfl" ? [warp.a, warp.b, warp.c] : [warp.a]) : [];

function readsOf(roots: readonly Expr[], lanes: Lanes, fileBytes: number): Reads {
  const leaves = new Set(roots.flatMap((root) => leavesOf(root)));
  const registers = new Set<number>();
  const words = new Set<number>();
  const elements: Elements[] = [];
  let computed = false;
  for (const leaf of leaves) {
    if (leaf.kind === "reg") registers.add(leaf.reg);
    else if (leaf.kind === "lane-word") words.add(leaf.reg);
    else if (leaf.kind === "region") elements.push(elementsOf(leaf.region, leaf.bits, lanes, fileBytes));
    else if (leaf.kind === "indirect") computed = true;
  }
  return { registers: [...registers], words: [...words], elements, computed };
}

/** Elements outside of the file are put at its end, where there is nothing. */
function elementsOf(region: Region, bits: number, { first, count }: Lanes, fileBytes: number): Elements {
  const bytes = bits / 8;
  const at = new Int32Array(32).fill(fileBytes);
  let from = fileBytes;
  let to = 0;
  let packed = true;
  for (let lane = first; lane < first + count; lane++) {
    const place = byteOf(region, bits, lane);
    const inside = place >= 0 && place + bytes <= fileBytes;
    packed &&= inside && (lane === first || place === at[lane - 1]! + bytes);
    if (!inside) continue;
    at[lane] = place;
    from = Math.min(from, place);
    to = Math.max(to, place + bytes);
  }
  return { bytes, at, from, to, lanes: maskOf({ first, count }), packed };
}

const leaves = new WeakMap<Expr, readonly Leaf[]>();

/** What an expression reads and is not known beforehand, in the order in which it is written. */
export function leavesOf(expr: Expr): readonly Leaf[] {
  let found = leaves.get(expr);
  if (found === undefined) {
    const list: Leaf[] = [];
    collect(expr, new Set(), list);
    leaves.set(expr, (found = list));
  }
  return found;
}

function collect(expr: Expr, seen: Set<Expr>, into: Leaf[]): void {
  if (seen.has(expr)) return;
  seen.add(expr);
  if (expr.kind === "const") return;
  if (expr.kind === "prim") for (const arg of expr.args) collect(arg, seen, into);
  else if (isDataLeaf(expr)) into.push(expr);
}

/** Leaves that may be undefined: all but the lane's place in the grid and the addresses of variables. */
export const isDataLeaf = (
  expr: Expr,
): expr is Exclude<Leaf, { kind: "special" | "symbol" | "frame"; name?: SpecialName }> =>
  expr.kind === "reg" ||
  expr.kind === "region" ||
  expr.kind === "indirect" ||
  expr.kind === "lane-word" ||
  expr.kind === "old";
