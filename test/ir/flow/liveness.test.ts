import fc from "fast-check";
import { expect, test } from "vitest";
import { type BitSet, flowGraphOf, livenessOf, readsOf, writesAlways, writesOf } from "../../../src/ir/flow/index.ts";
import type { Instruction, Register } from "../../../src/ir/index.ts";
import { nextOf, randomCode, registerCount, runs } from "./random-flow.ts";

const registers: Register[] = Array.from({ length: registerCount }, (_, i) => ({
  name: `%r${i}`,
  class: "b32",
  bits: 32,
}));

const members = (set: BitSet): number[] => {
  const list: number[] = [];
  set.forEach((r) => {
    list.push(r);
  });
  return list;
};

/** Whether some way from an instruction on reads the register before it is written. */
function isLive(code: readonly Instruction[], from: number, register: number, atEnd: boolean): boolean {
  const seen = new Set([from]);
  for (const at of seen) {
    if (at === code.length) {
      if (atEnd) return true;
      continue;
    }
    const instruction = code[at]!;
    let reads = false;
    let writes = false;
    readsOf(instruction, { register: (r) => (reads ||= r === register) });
    writesOf(instruction, (r) => (writes ||= r === register));
    if (reads) return true;
    if (writes && writesAlways(instruction)) continue;
    const ends = instruction.op.kind === "exit" || instruction.op.kind === "trap";
    for (const next of nextOf(code, at)) if (!(ends && next === code.length)) seen.add(next);
  }
  return false;
}

test("a register is live where some way leads to a read of it", () => {
  fc.assert(
    fc.property(randomCode(20), fc.subarray([0, 1, 2]), (code, atEnd) => {
      const graph = flowGraphOf(code);
      const liveness = livenessOf({ instructions: code, registers }, graph, atEnd);
      const liveBefore = (at: number): number[] =>
        registers.flatMap((_, r) => (isLive(code, at, r, atEnd.includes(r)) ? [r] : []));
      const liveBehind = (at: number): number[] => {
        const ends = code[at]!.op.kind === "exit" || code[at]!.op.kind === "trap";
        const next = nextOf(code, at).filter((t) => !(ends && t === code.length));
        return [...new Set(next.flatMap(liveBefore))].sort((a, b) => a - b);
      };
      for (const { index, start, end } of graph.blocks) {
        expect(members(liveness.liveIn(index))).toEqual(liveBefore(start));
        expect(members(liveness.liveOut(index))).toEqual(liveBehind(end - 1));
        const order: number[] = [];
        liveness.walk(index, (i, live) => {
          order.push(i);
          expect(members(live)).toEqual(liveBehind(i));
        });
        expect(order).toEqual(Array.from({ length: end - start }, (_, i) => end - 1 - i));
      }
    }),
    { ...runs, numRuns: 300 },
  );
});
