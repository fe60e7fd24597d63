import { readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { livenessOf } from "../../../../ir/flow/liveness.ts";
import type { IrFunction } from "../../../../ir/index.ts";
import { kind, kindOf, kindsOf } from "./lane-kinds.ts";
import { NarrowRegisters } from "./narrow-registers.ts";

/**
 * Register pressure: the most vectors that are live at once for each four lanes. Values of 64 bits count twice, those
 * in narrow lanes as a half or a quarter. An estimate, since values that the compiler's analysis would find to be
 * uniform may count too.
 */
export function pressureOf(ir: IrFunction): number {
  const kinds = kindsOf(ir);
  const graph = flowGraphOf(ir.instructions);
  const liveness = livenessOf(ir, graph, []);
  const shapeOf = (of: number) => ({
    kind: of === kind.uniform ? "uniform" : of < kind.computed ? "affine" : "vector",
  });
  const narrow = new NarrowRegisters(
    {
      code: { ir, instructions: ir.instructions, liveness },
      register: (r) => shapeOf(kinds[r]!),
      shape: (expr) => shapeOf(kindOf(expr, kinds)),
    },
    () => true,
  );
  const weights = ir.registers.map((r, i) => {
    if (kinds[i]! < kind.computed) return 0;
    const form = narrow.form(i);
    return form === null ? (r.class === "b64" ? 2 : 1) : form.bits / 32;
  });
  let pressure = 0;
  for (const { index } of graph.blocks) {
    let live = 0;
    const now = new Set<number>();
    liveness.liveOut(index).forEach((r) => {
      now.add(r);
      live += weights[r]!;
    });
    pressure = Math.max(pressure, live);
    liveness.walk(index, (i) => {
      // Before the instruction: what it reads has begun to live, what it writes has not.
      const instruction = ir.instructions[i]!;
      writesOf(instruction, (r) => {
        if (instruction.guard === null && now.delete(r)) live -= weights[r]!;
      });
      readsOf(instruction, {
        register: (r) => {
          if (now.has(r)) return;
          now.add(r);
          live += weights[r]!;
        },
      });
      pressure = Math.max(pressure, live);
    });
  }
  return pressure;
}
