import { type Program as TestProgram, routineTexts } from "../visa/run/program.ts";
import { randomCompute } from "../visa/run/random-compute.ts";
import { randomHalves } from "../visa/run/random-halves.ts";
import { randomLanes } from "../visa/run/random-lanes.ts";
import { randomPassing } from "../visa/run/random-passing.ts";
import { randomProgram } from "../visa/run/random-program.ts";
import { randomTurns } from "../visa/run/random-turns.ts";

/** Routines of vISA, the kernel `k` first, and a launch of it. */
export interface VisaProgram {
  readonly isa: "visa";
  readonly title: string;
  readonly seed: number;
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /** Lanes of a thread; work items of the launch, and of a group. */
  readonly width: number;
  readonly items: number;
  readonly group: number;
}

export const visaFamilies = [
  "visa",
  "visaPauses",
  "visaLanes",
  "visaHalves",
  "visaPassing",
  "visaTurns",
  "visaCompute",
] as const;
export type VisaFamilyName = (typeof visaFamilies)[number];

/** Families of programs whose results nobody computes but the engines. */
const withoutModel: Partial<Record<VisaFamilyName, (seed: number) => TestProgram>> = {
  visaLanes: randomLanes,
  visaHalves: randomHalves,
  visaPassing: randomPassing,
  visaTurns: randomTurns,
  visaCompute: randomCompute,
};

/**
 * A random program of the interpreter's own tests, for several groups of which, without barriers, the last thread may
 * be partial.
 */
export function visaProgram(family: VisaFamilyName, seed: number): VisaProgram {
  const waits = family === "visaPauses";
  const program = withoutModel[family]?.(seed) ?? randomProgram(seed, waits);
  const width = program.widths[0]!;
  const group = [width, 3 * width, waits ? 2 * width : width + 3, width][seed % 4]!;
  return {
    isa: "visa",
    title: `${family} ${seed}`,
    seed,
    files: routineTexts(program, width),
    width,
    items: 2 * group,
    group,
  };
}
