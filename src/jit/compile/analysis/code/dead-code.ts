import type { PreparedCode } from "./prepared-code.ts";

/** The pure instructions whose results nothing reads. */
export function deadInstructions({ graph, liveness, instructions }: PreparedCode): ReadonlySet<number> {
  const dead = new Set<number>();
  for (const { index } of graph.blocks) {
    liveness.walk(index, (i, liveAfter) => {
      const { op, dst } = instructions[i]!;
      if (op.kind === "pure" && dst.every((to) => typeof to === "number" && !liveAfter.has(to))) dead.add(i);
    });
  }
  return dead;
}
