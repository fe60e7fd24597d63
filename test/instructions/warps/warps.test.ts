import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Batch, type Case } from "./batch.ts";
import { homeOfVector } from "./home.ts";
import { type Engine, engines, run } from "./run.ts";
import { type Known, parseWarpVectors, type WarpVector } from "./warp-vectors.ts";

const folder = new URL(".", import.meta.url);
const files = readdirSync(folder).filter((f) => f.endsWith(".warp-vectors"));

/** Cases in one kernel at most, and their statements: each may become many accesses of 32 lanes. */
const perKernel = { cases: 32, statements: 64 };

const casesOf = (vector: WarpVector): Case[] => {
  const { parts } = vector.statement;
  return parts?.length === 1
    ? [
        { vector, guarding: "guard" },
        { vector, guarding: "branch" },
      ]
    : [{ vector, guarding: "branch" }];
};

/** What ends threads or the launch needs one for itself, and so does what engines are known to do otherwise. */
const isAlone = ({ before, statement, after, known }: WarpVector): boolean =>
  known !== null ||
  [...before, statement, ...after].some(({ outcome }) => outcome.kind === "fault" || outcome.kind === "exits");

interface OneKernel {
  readonly batch: Batch;
  readonly known: Known | null;
}

function kernelsOf(vectors: readonly WarpVector[]): OneKernel[] {
  const groups = new Map<string, WarpVector[]>();
  for (const vector of vectors) {
    const { target, addressSize = 64 } = homeOfVector(vector);
    const key = isAlone(vector) ? `${groups.size}` : `${target} ${addressSize} ${vector.block}`;
    groups.set(key, [...(groups.get(key) ?? []), vector]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group as [WarpVector];
    const cases = group.flatMap(casesOf);
    const statements = Math.max(...group.map(({ before, after }) => before.length + 1 + after.length));
    const size = isAlone(first) ? 1 : Math.min(perKernel.cases, Math.ceil(perKernel.statements / statements));
    return Array.from({ length: Math.ceil(cases.length / size) }, (_, i) => ({
      batch: new Batch(cases.slice(i * size, (i + 1) * size), homeOfVector(first)),
      known: first.known,
    }));
  });
}

/** What is wrong with a kernel in an engine, in one line each. */
function problemsOf({ batch, known }: OneKernel, engine: Engine): string[] {
  const left = run(batch, engine);
  if (left === null) return known === "interpreted" ? [] : [batch.about("the compiler leaves it to the interpreter")];
  if (known === "interpreted" && engine === "compiled")
    return [batch.about("it is compiled: `interpreted` is not needed")];
  const problems = batch.problems(left);
  if (known !== "deviates") return problems;
  return problems.length > 0 ? [] : [batch.about("it is as expected: `deviates` is not needed")];
}

describe.each(files)("%s", (file) => {
  const vectors = parseWarpVectors(file, readFileSync(new URL(file, folder), "utf8"));
  const kernels = kernelsOf(vectors);
  test.each(engines)("%s", (engine) => {
    expect(vectors.length).toBeGreaterThan(0);
    expect(kernels.flatMap((one) => problemsOf(one, engine))).toEqual([]);
  });
});
