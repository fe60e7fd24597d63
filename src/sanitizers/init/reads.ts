import {
  accessesOf,
  type FileTarget,
  hasEffect,
  hasOperands,
  type Instruction,
  type MemoryAccess,
  type Op,
  unitTraits,
} from "../../ir/index.ts";
import { allLanes, type Lanes, maskOf } from "../../ir/lanes.ts";
import { byteOf } from "../../ir/region.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Expr, Region, SpecialName } from "../../semantics/index.ts";

export type Leaf = Exclude<Expr, { readonly kind: "prim" | "const" }>;

/** Elements of the byte file that lanes read or write, and the byte at which each lane's begins. */
export interface Elements {
  readonly bytes: number;
  readonly at: Int32Array;
  /** All elements lie in `[from, to)`. */
  readonly from: number;
  readonly to: number;
  /** The lanes that have an element, and whether the elements are adjacent. */
  readonly lanes: number;
  readonly packed: boolean;
}

/** The places that some expressions read. */
export interface Reads {
  readonly registers: readonly number[];
  /** Predicates whose lanes are read as a number. */
  readonly words: readonly number[];
  readonly elements: readonly Elements[];
  /** Whether a place is computed: any byte may be read then. */
  readonly computed: boolean;
}

/** An operand that decides what an instruction does, rather than what it computes. */
interface Use {
  readonly expr: Expr;
  /** The role of the operand, as messages put it after "the value is". */
  readonly role: string;
  /** Whether a run cannot usefully go on with an undefined value here. */
  readonly ends: boolean;
}

/** The roles of the operands of an instruction, determined once for each. */
export interface Plan {
  readonly uses: readonly Use[];
  readonly usesRead: Reads;
  /** Values that are computed, stored or brought to other lanes. */
  readonly values: readonly (Expr | null)[];
  readonly valuesRead: Reads;
  /** By result, its place in the byte file; null for registers and computed places. */
  readonly targets: readonly (Elements | null)[];
  /** Whether an execution changes more than its results: see `hasEffect` in ir/op-traits.ts. */
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
    hasEffect: hasEffect(op),
  };
}

const use = (expr: Expr, role: string, ends = true): Use => ({ expr, role, ends });

const accessNames = { load: "a load", store: "a store", atomic: "an atomic operation" } as const;

function usesOf(op: Op): Use[] {
  if (!hasOperands(op)) return [];
  switch (op.kind) {
    case "load":
    case "store":
    case "atomic":
      return accessesOf(op).flatMap(usesOfAccess);
    case "copy":
      return [
        ...accessesOf(op).flatMap(usesOfAccess),
        ...(op.size === null ? [] : [use(op.size, "the size of a copy")]),
      ];
    case "unit": {
      const { deciding, asks = "what an asynchronous operation is asked to do" } = unitTraits[op.unit.op];
      return op.operands.slice(0, deciding).map((operand) => use(operand, asks));
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
    case "pure":
    case "stack-restore":
    case "sleep":
      return [];
  }
}

function usesOfAccess({ effect, place }: MemoryAccess): Use[] {
  if (place.kind === "address") return [use(place.address, `the address of ${accessNames[effect]}`)];
  return [use(place.offset, `the offset of ${accessNames[effect]}`), use(place.surface, "the index of a surface")];
}

/** The values that an operation computes, stores or brings to other lanes. */
function valuesOf(op: Op, dst: Instruction["dst"]): readonly (Expr | null)[] {
  if (op.kind === "pure") return op.values.map((v, i) => ((dst[i] ?? null) === null ? null : v));
  if (op.kind === "warp") return op.warp.operands;
  if (op.kind === "unit") return op.operands.slice(unitTraits[op.unit.op].deciding);
  return accessesOf(op).flatMap((access): readonly (Expr | null)[] => {
    if (access.effect === "load") return [];
    return access.effect === "store" ? access.values : access.combine;
  });
}

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

/** The places of elements. Those outside the file are put at its end, where there is nothing. */
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

/** The leaves of an expression that are not constants, in the order in which they are written. */
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

/** Whether a leaf may be undefined: all may but the lane's place in the grid and the addresses of variables. */
export const isDataLeaf = (
  expr: Expr,
): expr is Exclude<Leaf, { kind: "special" | "symbol" | "frame"; name?: SpecialName }> =>
  expr.kind === "reg" ||
  expr.kind === "region" ||
  expr.kind === "indirect" ||
  expr.kind === "lane-word" ||
  expr.kind === "old";
