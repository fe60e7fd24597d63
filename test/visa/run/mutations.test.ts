import { expect, test } from "vitest";
import { type RoutineText, routineTexts } from "./program.ts";
import { families } from "./programs.ts";
import { generator, type Random } from "./random.ts";
import { link, run } from "./run-program.ts";

const words =
  `0 1 2 4 8 16 32 255 256 1024 4096 65535 -1 2147483647 4294967295 X ARG RET A1 P1 P2 %null %sp %r0 SELF STK ID
  mov add goto fret ret fcall ifcall call jmp M1 M3 M5 M1_NM M3_NM ud uq ub f df w`.split(/\s+/);

/** Replaces up to three words of a text. */
function mutate(text: string, random: Random): string {
  let mutated = text;
  for (let left = random(4); left > 0; left--) {
    const all = [...mutated.matchAll(/%?\w+/g)];
    const { index, 0: word } = all[random(all.length)]!;
    mutated = mutated.slice(0, index) + words[random(words.length)] + mutated.slice(index + word.length);
  }
  return mutated;
}

test("any program that passes the checks ends with results or a report", () => {
  const random = generator(7);
  const programs = Object.values(families).flat();
  let launched = 0;
  for (let i = 0; i < 600; i++) {
    const program = programs[random(programs.length)]!;
    const width = program.widths[random(program.widths.length)]!;
    const texts = routineTexts(program, width).map(
      ({ name, text }): RoutineText => ({ name, text: mutate(text, random) }),
    );
    const { routines, diagnostics } = link(texts);
    if (diagnostics.some(({ severity }) => severity === "error") || routines[0]?.kind !== "kernel") continue;
    launched++;
    const outcome = run(routines, program, width, { generate: random(2) === 0, watched: random(2) === 0 }, 20_000);
    expect(outcome.values.length).toBe(program.items ?? width);
  }
  expect(launched).toBeGreaterThan(50);
});
