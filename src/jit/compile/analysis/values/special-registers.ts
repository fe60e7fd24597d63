import { operandsOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import type { Expr, SpecialName } from "../../../../semantics/index.ts";
import type { LaunchShape } from "../../../abi/launch-shape.ts";
import { affine, numbers, type Shape, uniform, vector } from "./shape.ts";

export type SpecialLeaf = Extract<Expr, { kind: "special" }>;

export const dimensions = ["tid.x", "tid.y", "tid.z"] as const;

export type Dimension = (typeof dimensions)[number];

export const isDimension = (name: string): name is Dimension => (dimensions as readonly string[]).includes(name);

const clocks: readonly string[] = [
  "clock",
  "clock_hi",
  "clock64",
  "globaltimer",
  "globaltimer_lo",
  "globaltimer_hi",
] satisfies SpecialName[];

/** Whether a special register tells the time. */
export const isClock = (name: string): boolean => clocks.includes(name);

export const readsClock = (expr: Expr): boolean =>
  expr.kind === "special" ? isClock(expr.name) : expr.kind === "prim" && expr.args.some(readsClock);

/** How a special register varies over a chunk. */
export function specialShape({ name }: SpecialLeaf, { rows, quads, width }: LaunchShape): Shape {
  const up = width === null ? numbers(4 * quads) : affine(1);
  if (name === "laneid") return up;
  if (!isDimension(name)) return uniform;
  if (!rows) return vector;
  return name === "tid.x" ? up : uniform;
}

/** What a special register is computed from, where it is computed. */
const sources: Readonly<Partial<Record<string, readonly string[]>>> = {
  "ctaid.x": ["nctaid.x"],
  "ctaid.y": ["ctaid.x", "nctaid.x", "nctaid.y"],
  "ctaid.z": ["ctaid.y", "nctaid.x", "nctaid.y"],
  smid: ["nsmid"],
  "tid.x": ["ntid.x"],
  "tid.y": ["tid.x", "ntid.x", "ntid.y"],
  "tid.z": ["tid.y", "ntid.x", "ntid.y"],
};

/** The special registers that some instructions read, and what those are computed from. */
export function specialsOf(instructions: readonly Instruction[]): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<Expr>();
  const visit = (expr: Expr): void => {
    if (expr.kind === "special") names.add(expr.name);
    if (expr.kind !== "prim" || seen.has(expr)) return;
    seen.add(expr);
    expr.args.forEach(visit);
  };
  for (const { op } of instructions) operandsOf(op).forEach(visit);
  for (const name of names) for (const source of sources[name] ?? []) names.add(source);
  return names;
}
