import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Batch, type Case } from "./batch.ts";
import { homeOfVector } from "./home.ts";
import { type Engine, engines, run } from "./run.ts";
import { type Known, parseWarpVectors, type Statement, type WarpVector } from "./warp-vectors.ts";

const folder = new URL(".", import.meta.url);
const files = readdirSync(folder).filter((f) => f.endsWith(".warp-vectors"));

/** Cases in one kernel at most, and registers that these write: code in WebAssembly has a largest size. */
const perKernel = 32;
const registersPerKernel = 300;

const elementsOf = ({ operands, outcome }: Statement): number =>
  operands.reduce((n, operand) => n + (operand.kind === "values" ? operand.elements.length : 1), 0) +
  (outcome.kind === "results" ? outcome.results.flat().length : 0);

const registersOf = ({ vector: { before, statement, after } }: Case): number =>
  [...before, statement, ...after].reduce((n, one) => n + elementsOf(one), 0);

/** The cases of each kernel. */
function packed(cases: readonly Case[]): Case[][] {
  const kernels: Case[][] = [];
  let registers = 0;
  for (const one of cases) {
    const own = registersOf(one);
    const last = kernels.at(-1);
    if (last !== undefined && last.length < perKernel && registers + own <= registersPerKernel) last.push(one);
    else {
      kernels.push([one]);
      registers = 0;
    }
    registers += own;
  }
  return kernels;
}

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
    const key = isAlone(vector) ? `${groups.size}` : `${target} ${addressSize} ${vector.block} ${vector.cluster}`;
    groups.set(key, [...(groups.get(key) ?? []), vector]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group as [WarpVector];
    const cases = group.flatMap(casesOf);
    const kernels = isAlone(first) ? cases.map((one) => [one]) : packed(cases);
    return kernels.map((own) => ({ batch: new Batch(own, homeOfVector(first)), known: first.known }));
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
