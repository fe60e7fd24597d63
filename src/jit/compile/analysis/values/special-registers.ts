import { operandsOf } from "../../../../ir/flow/accesses.ts";
import { isClock } from "../../../../ir/clock.ts";
import type { Instruction } from "../../../../ir/index.ts";
import type { Bindings } from "../../../../semantics/bind.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { LaunchShape } from "../../../abi/launch-shape.ts";
import { affine, alongRows, numbers, type Shape, uniform, vector } from "../../../../ir/uniformity/shape.ts";

export type SpecialLeaf = Extract<Expr, { kind: "special" }>;

export const dimensions = ["tid.x", "tid.y", "tid.z"] as const;
export type Dimension = (typeof dimensions)[number];
export const isDimension = (name: string): name is Dimension => (dimensions as readonly string[]).includes(name);

/** For how long a value stays the same: `code`, only as long as the instructions that write it say. */
export type Lifetime = "grid" | "block" | "chunk" | "code";

const sameInGrid =
  /^(ntid|nctaid|nclusterid|cluster_nctaid)\.|^(nwarpid|nsmid|envreg[12]|current_graph_exec|gridid|dynamic_smem_size|total_smem_size|aggr_smem_size|window|cluster_nctarank|is_explicit_cluster)$/;
const sameInBlock = /^(ctaid|clusterid|cluster_ctaid)\.|^cluster_ctarank$/;

/** For how long a special register stays the same. */
export const lifetimeOf = (name: string): Lifetime =>
  sameInGrid.test(name) ? "grid" : sameInBlock.test(name) ? "block" : isClock(name) ? "code" : "chunk";

/** Whether a special register is the same for all threads of a block, whenever it is read. */
export function isSameInBlock(name: string): boolean {
  const lifetime = lifetimeOf(name);
  return lifetime === "grid" || lifetime === "block";
}

/** The bindings of a program, and what follows from the threads of a block, if these are known, and from the grid. */
export function bindingsFor(shape: Pick<LaunchShape, "block" | "indexed">, program: Bindings): Bindings {
  const { block, indexed } = shape;
  const bindings: Bindings = { ...program, indexed };
  if (block === null) return bindings;
  const known = new Map<string, number>();
  (["x", "y", "z"] as const).forEach((d, i) => {
    known.set(`ntid.${d}`, block[i]!);
    if (block[i] === 1) known.set(`tid.${d}`, 0);
  });
  return { ...bindings, special: (name) => known.get(name) };
}

/** How a special register varies over a chunk. */
export function specialShape({ name }: SpecialLeaf, shape: LaunchShape): Shape {
  const { rows, rowLength, quads, scalar, width } = shape;
  if (scalar) return uniform;
  const up = width === null ? numbers(4 * quads) : affine(1);
  if (name === "laneid") return up;
  if (!isDimension(name)) return uniform;
  if (!rows) {
    if (rowLength === null || name === "tid.z") return vector;
    return alongRows(name === "tid.x" ? "x" : "y", rowLength, 4 * quads);
  }
  return name === "tid.x" ? up : uniform;
}

const eachDimension = <T extends object>(of: (d: "x" | "y" | "z") => T): T =>
  Object.assign({}, of("x"), of("y"), of("z")) as T;

/** The special registers that each one is computed from, where it is computed. */
const sources: Readonly<Partial<Record<string, readonly string[]>>> = {
  "ctaid.x": ["nctaid.x"],
  "ctaid.y": ["ctaid.x", "nctaid.x", "nctaid.y"],
  "ctaid.z": ["ctaid.y", "nctaid.x", "nctaid.y"],
  ...eachDimension((d) => ({
    [`clusterid.${d}`]: [`ctaid.${d}`, `cluster_nctaid.${d}`],
    [`cluster_ctaid.${d}`]: [`ctaid.${d}`, `cluster_nctaid.${d}`],
  })),
  cluster_ctarank: [
    ...["cluster_ctaid.x", "cluster_ctaid.y", "cluster_ctaid.z"],
    ...["cluster_nctaid.x", "cluster_nctaid.y"],
  ],
  smid: ["nsmid"],
  "tid.x": ["ntid.x"],
  "tid.y": ["tid.x", "ntid.x", "ntid.y"],
  "tid.z": ["tid.y", "ntid.x", "ntid.y"],
};

/** The special registers that instructions read, and those from which these are computed. */
export function specialsOf(instructions: readonly Instruction[]): ReadonlySet<string> {
  const names = new Set(specialsRead(instructions));
  for (const name of names) for (const source of sources[name] ?? []) names.add(source);
  return names;
}

/** The special registers that instructions read. */
export function specialsRead(instructions: readonly Instruction[]): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<Expr>();
  const visit = (expr: Expr): void => {
    if (expr.kind === "special") names.add(expr.name);
    if (expr.kind !== "prim" || seen.has(expr)) return;
    seen.add(expr);
    expr.args.forEach(visit);
  };
  for (const { op } of instructions) operandsOf(op).forEach(visit);
  return names;
}
