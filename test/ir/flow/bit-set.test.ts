import fc from "fast-check";
import { expect, test } from "vitest";
import { BitSet } from "../../../src/ir/flow/index.ts";
import { runs } from "./random-flow.ts";

const size = 5000;
/** Most are near each other, as registers of a block are; some are far away. */
const member = fc.oneof(fc.nat(40), fc.nat(size - 1), fc.constantFrom(2047, 2048, 4095, 4096, size - 1));
const step = fc.record({
  kind: fc.constantFrom("add", "add", "add", "delete", "copy", "union", "unionNew", "equals"),
  to: fc.nat(3),
  from: fc.nat(3),
  member,
});

const sorted = (set: ReadonlySet<number>): number[] => [...set].sort((a, b) => a - b);
function listed(set: Pick<BitSet, "forEach">): number[] {
  const list: number[] = [];
  set.forEach((m) => {
    list.push(m);
  });
  return list;
}

test("sets that share parts are as apart as those of JavaScript", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const sets = Array.from({ length: 4 }, () => new BitSet(size));
      const models = Array.from({ length: 4 }, () => new Set<number>());
      for (const { kind, to, from, member: m } of steps) {
        const [set, other, model, otherModel] = [sets[to]!, sets[from]!, models[to]!, models[from]!];
        if (kind === "add") {
          set.add(m);
          model.add(m);
        } else if (kind === "delete") {
          set.delete(m);
          model.delete(m);
        } else if (kind === "copy") {
          sets[to] = other.copy();
          models[to] = new Set(otherModel);
        } else if (kind === "union") {
          set.union(other);
          for (const o of otherModel) model.add(o);
        } else if (kind === "unionNew") {
          const fresh: number[] = [];
          set.unionNew(other, (n) => fresh.push(n));
          expect(fresh).toEqual(sorted(otherModel).filter((o) => !model.has(o)));
          for (const o of otherModel) model.add(o);
        } else expect(set.equals(other)).toBe(sorted(model).join() === sorted(otherModel).join());
        sets.forEach((s, i) => {
          expect(listed(s)).toEqual(sorted(models[i]!));
          expect(s.isEmpty).toBe(models[i]!.size === 0);
          expect(s.has(m)).toBe(models[i]!.has(m));
          expect(s.firstAfter(m)).toBe(sorted(models[i]!).find((o) => o > m));
          expect(s.firstAfter(-1)).toBe(sorted(models[i]!)[0]);
        });
      }
    }),
    runs,
  );
});
