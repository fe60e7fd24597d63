import { compareOutcomes, compareEngines, type Difference } from "./compare.ts";
import { type Engine, engines, type Outcome } from "./engine.ts";
import { linesOf, type Program, withLines } from "./program.ts";

/**
 * The fewest lines that still have what is looked for, as far as leaving out runs of lines finds them (delta
 * debugging): runs of half the text first, then shorter ones, until no single line can go.
 */
export function reduceLines(
  lines: readonly string[],
  holds: (lines: readonly string[]) => boolean,
  outOfTime: () => boolean,
): readonly string[] {
  let kept = lines;
  for (let size = Math.ceil(kept.length / 2); !outOfTime(); size = Math.max(1, Math.floor(size / 2))) {
    let shorter = false;
    // From the end, as what is computed later needs less.
    for (let end = kept.length; end > 0 && !outOfTime(); end -= size) {
      const without = [...kept.slice(0, Math.max(0, end - size)), ...kept.slice(end)];
      if (!holds(without)) continue;
      kept = without;
      shorter = true;
    }
    if (size === 1 && !shorter) break;
  }
  return kept;
}

const codes = ({ reports }: Outcome): readonly string[] => reports.map((r) => r.split(" ")[0]!);

/** Smaller launches of the same text, the smallest first. */
const launches = (program: Program): readonly Program[] =>
  program.isa === "visa" || program.cluster !== null
    ? []
    : ([[1, 1, 1], [4, 1, 1], [32, 1, 1], program.block] as const).map((block) => ({
        ...program,
        grid: [1, 1, 1],
        block,
      }));

/**
 * A smaller program on which the engines differ in the same way. It stays one that the sanitizers find no fault with
 * that they did not find before, and that is the same for every schedule: leaving out a barrier does not count as
 * progress.
 */
export function reduceProgram(
  program: Program,
  [a, b]: readonly [Engine, Engine],
  { kind }: Difference,
  seconds: number,
): Program {
  const deadline = performance.now() + 1000 * seconds;
  const known = new Set(sanitizerCodes(program));
  const holds = (candidate: Program): boolean => {
    try {
      const difference = compareEngines(candidate, a, b);
      if (difference?.kind !== kind) return false;
      const [plain, seeded] = [engines.interpreter, engines.seeded].map((engine) => engine.run(candidate));
      const schedule = a === engines.seeded || b === engines.seeded || candidate.isa === "visa";
      if (!schedule && compareOutcomes(plain!, seeded!, ["", ""]) !== null) return false;
      return sanitizerCodes(candidate).every((code) => known.has(code));
    } catch {
      return false;
    }
  };
  const smaller = launches(program).find(holds) ?? program;
  const lines = reduceLines(
    linesOf(smaller),
    (kept) => holds(withLines(smaller, kept)),
    () => performance.now() > deadline,
  );
  const reduced = withLines(smaller, lines);
  return launches(reduced).find(holds) ?? reduced;
}

/** What the sanitizers say of a program. */
const sanitizerCodes = (program: Program): readonly string[] => codes(engines.watched.run(program));
