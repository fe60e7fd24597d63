import type { Instruction } from "../../../../ir/index.ts";
import type { PreparedCode } from "./prepared-code.ts";

/** The pure instructions whose results nothing reads. */
export function deadInstructions({ graph, liveness, instructions }: PreparedCode): ReadonlySet<number> {
  const dead = new Set<number>();
  for (const { index } of graph.blocks) {
    liveness.walk(index, (i, liveAfter) => {
      if (isDead(instructions[i]!, liveAfter)) dead.add(i);
    });
  }
  return dead;
}

/** Whether an instruction does no more than write registers that nothing reads after it. */
export const isDead = ({ op, dst }: Instruction, liveAfter: { has(register: number): boolean }): boolean =>
  op.kind === "pure" && dst.every((to) => typeof to === "number" && !liveAfter.has(to));
