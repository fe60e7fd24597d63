import type { ChosenModifiers } from "../../../src/ptx/isa/index.ts";
import { multiplied } from "./matrix-model.ts";

/** What a model is given: the threads that execute the instruction, and their values. */
interface Inputs {
  readonly mods: ChosenModifiers;
  readonly opcode: string;
  /** Of each operand that is no address, its elements, of which each has a value in every thread of the block. */
  readonly operands: readonly (readonly (readonly bigint[])[])[];
  readonly executing: ReadonlySet<number>;
}

/** The elements of each destination, of which each has a value in every thread that executes. */
export type Model = (inputs: Inputs) => readonly (readonly (readonly bigint[])[])[];

/** Section 9.7.9.6, "Semantics", line by line, where every source lane is active. */
const shfl: Model = ({ mods, operands, executing }) => {
  const [[sourceA], [b], [c]] = operands as [[bigint[]], [bigint[]], [bigint[]]];
  const d: bigint[] = [];
  const p: bigint[] = [];
  sourceA.forEach((_, thread) => {
    const lane = thread % 32;
    const bval = Number(b[thread]! & 31n);
    const cval = Number(c[thread]! & 31n);
    const segmask = Number((c[thread]! >> 8n) & 31n);
    const maxLane = (lane & segmask) | (cval & ~segmask);
    const minLane = lane & segmask;
    let [j, pval] = {
      up: () => [lane - bval, lane - bval >= maxLane] as [number, boolean],
      down: () => [lane + bval, lane + bval <= maxLane] as [number, boolean],
      bfly: () => [lane ^ bval, (lane ^ bval) <= maxLane] as [number, boolean],
      idx: () => [minLane | (bval & ~segmask), (minLane | (bval & ~segmask)) <= maxLane] as [number, boolean],
    }[mods["mode"] as "up" | "down" | "bfly" | "idx"]();
    if (!pval) j = lane;
    const source = thread - lane + j;
    if (executing.has(thread) && !executing.has(source))
      throw new Error(`lane ${lane} reads lane ${j}, which does not execute: the manual leaves that undefined`);
    d.push(sourceA[source]!);
    p.push(pval ? 1n : 0n);
  });
  return [[d], [p]];
};

/** See matrix-model.ts. All lanes take part. */
const mma: Model = ({ mods, opcode, operands }) => [multiplied(mods, opcode, operands)];

export const models: Readonly<Record<string, Model>> = { shfl, mma };
