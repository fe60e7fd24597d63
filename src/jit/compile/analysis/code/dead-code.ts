import type { Chunk } from "../../emit/chunk.ts";

/** Pure instructions, and loads of constants, whose results nobody reads. */
export function deadInstructions({ analysis }: Chunk): ReadonlySet<number> {
  const { graph, liveness, instructions } = analysis.code;
  const dead = new Set<number>();
  for (const { index } of graph.blocks) {
    liveness.walk(index, (i, behind) => {
      const { op, dst } = instructions[i]!;
      if (op.kind === "pure" && dst.every((to) => typeof to === "number" && !behind.has(to))) dead.add(i);
    });
  }
  return dead;
}
