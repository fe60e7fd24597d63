import { expect, test } from "vitest";
import {
  departuresOf,
  divergenceOf,
  dominatorsOf,
  flowGraphOf,
  livenessOf,
  loopsOf,
  postDominatorsOf,
} from "../../../src/ir/flow/index.ts";
import type { Instruction, Op, Register } from "../../../src/ir/index.ts";
import { type Expr, kit } from "../../../src/semantics/index.ts";
import { processorMilliseconds } from "../../processor-time.ts";

const count = 50_000;
const registerCount = 1000;
const registers: Register[] = Array.from({ length: registerCount }, () => ({ name: "%r", class: "b32", bits: 32 }));

const read = (i: number): Expr => ({ kind: "reg", ty: "i32", reg: i % registerCount });

function instruction(op: Op, i: number): Instruction {
  const common = { undefinedCases: [], span: { start: 0, end: 0 }, location: null };
  if (op.kind === "pure") return { ...common, op, guard: null, dst: [i % registerCount] };
  return { ...common, op, guard: { register: i % registerCount, negate: false }, dst: [] };
}

/** Sums, and every tenth instruction a branch. */
const code = (target: (i: number) => number): Instruction[] =>
  Array.from({ length: count }, (_, i) => {
    const sum: Op = { kind: "pure", values: [kit.add(read(i * 7), read(i * 13))] };
    return instruction(i % 10 === 9 ? { kind: "branch", target: target(i), uniform: false } : sum, i);
  });

const shapes: Readonly<Record<string, (i: number) => number>> = {
  "early exits to one place": () => count - 1,
  "the first half leads to the second, last to first": (i) => (i < count / 2 ? count - 1 - i : i + 5),
  "small diamonds": (i) => Math.min(i + 6, count),
  "loops one in the other": (i) => (i > count / 2 ? count - 1 - i : i + 5),
  anywhere: (i) => (i * 7919) % count,
};

test.each(Object.entries(shapes))("fifty thousand instructions: %s", (_name, target) => {
  const instructions = code(target);
  const graph = flowGraphOf(instructions);
  const steps: Readonly<Record<string, () => unknown>> = {
    blocks: () => flowGraphOf(instructions),
    dominators: () => dominatorsOf(graph),
    postDominators: () => postDominatorsOf(graph),
    loops: () => loopsOf(graph),
    liveness: () => livenessOf({ instructions, registers }, graph, []),
    divergence: () => divergenceOf(graph, { divergent: () => true }, departuresOf(graph, instructions)),
  };
  // What is quadratic takes minutes.
  for (const [name, run] of Object.entries(steps)) expect(processorMilliseconds(run), name).toBeLessThan(30_000);
});
