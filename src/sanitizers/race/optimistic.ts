import type { Destination, Instruction, IrFunction } from "../../ir/index.ts";
import type { Site } from "../../machine/code.ts";
import type { Expr } from "../../semantics/index.ts";
import { leavesOf } from "../init/reads.ts";

const known = new WeakMap<Instruction, boolean>();

/**
 * Whether what an instruction loads may become the value that a compare-and-swap of its function compares with: an optimistic
 * update, as the CUDA guide writes it, which begins with a load. That the load races with the updates of others does no
 * harm, as a value that is out of date makes the swap fail.
 */
export function reachesSwap({ code, instruction }: Site): boolean {
  let found = known.get(instruction);
  if (found === undefined) known.set(instruction, (found = reachesComparison(code.ir, instruction)));
  return found;
}

/** A register, or a place of the byte file. */
type Name = number | string;

function reachesComparison({ instructions }: IrFunction, load: Instruction): boolean {
  const names = new Set<Name>(load.dst.flatMap(nameOf));
  for (let count = -1; count !== names.size; ) {
    count = names.size;
    for (const { op, dst } of instructions) {
      if (op.kind !== "pure") continue;
      op.values.forEach((value, i) => {
        if (reads(value, names)) for (const name of nameOf(dst[i] ?? null)) names.add(name);
      });
    }
  }
  return instructions.some(({ op }) => op.kind === "atomic" && op.combine.some((c) => compares(c, names)));
}

function nameOf(to: Destination): Name[] {
  if (to === null) return [];
  return typeof to === "number" ? [to] : to.kind === "region" ? [`byte ${to.region.at}`] : [];
}

const reads = (expr: Expr, names: ReadonlySet<Name>): boolean =>
  leavesOf(expr).some((leaf) =>
    leaf.kind === "reg" ? names.has(leaf.reg) : leaf.kind === "region" && names.has(`byte ${leaf.region.at}`),
  );

/** Whether what memory holds is compared with one of the names, to be equal. */
function compares(expr: Expr, names: ReadonlySet<Name>): boolean {
  if (expr.kind !== "prim") return false;
  const { prim, args } = expr;
  if (prim.endsWith(".eq") && args.some((a) => leavesOf(a).some((leaf) => leaf.kind === "old"))) {
    return args.some((a) => reads(a, names));
  }
  return args.some((a) => compares(a, names));
}
