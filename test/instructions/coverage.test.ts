import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Form, type Instruction, instructionSet } from "../../src/ptx/isa/index.ts";
import { formOf, parseVectors } from "./vectors.ts";

/** Sections whose vectors are still to be written, by the family's section. A section that is complete must leave. */
const pending: Readonly<Record<string, string>> = {
  "9.7.3": "binary32 and binary64: being written",
  "9.7.4": "half precision: being written",
  "9.7.5": "mixed precision: being written",
  "9.7.6": "comparison and selection: being written",
  "9.7.7": "half-precision comparison: being written",
  "9.7.9": "moves and conversions: being written",
};

/** Forms, by their text, that no vector can exercise, with the reason. */
const exceptions: Readonly<Record<string, string>> = {};

const folder = new URL(".", import.meta.url);
const vectors = readdirSync(folder)
  .filter((f) => f.endsWith(".vectors"))
  .flatMap((f) => parseVectors(f, readFileSync(new URL(f, folder), "utf8")));

/** For each form that a vector is about, the modifiers that its vectors have. */
const exercised = new Map<Form, Set<string>>();
for (const vector of vectors) {
  const candidate = formOf(vector);
  if (typeof candidate === "string") continue;
  const seen = exercised.get(candidate.form) ?? new Set();
  for (const [name, choice] of Object.entries(candidate.mods)) seen.add(`${name}: ${choice ?? false}`);
  exercised.set(candidate.form, seen);
}

/** Every choice of every class, and each optional modifier with and without. */
const choicesOf = (form: Form): string[] =>
  form.modifiers.flatMap(({ name, choices, optional }) => [
    ...(choices ?? (optional ? [true] : [])).map((choice) => `${name}: ${choice}`),
    ...(optional ? [`${name}: false`] : []),
  ]);

const gaps = (instructions: readonly Instruction[]): string[] =>
  instructions
    .flatMap((i) => i.forms)
    .filter((form) => form.sem !== null && !(form.text in exceptions))
    .flatMap((form) => {
      const seen = exercised.get(form);
      if (!seen) return [`${form.text}: no vector`];
      return choicesOf(form)
        .filter((choice) => !seen.has(choice))
        .map((choice) => `${form.text}: no vector with ${choice}`);
    });

const pendingSection = ({ section }: Instruction): string | undefined =>
  Object.keys(pending).find((family) => section === family || section.startsWith(`${family}.`));
// A permutation of bytes, which the logic family holds.
const isPending = (i: Instruction): boolean => i.name !== "prmt" && pendingSection(i) !== undefined;

test("every executable form has vectors for every choice of its modifiers", () => {
  expect(gaps(instructionSet.instructions.filter((i) => !isPending(i)))).toEqual([]);
});

test.each(Object.keys(pending))("section %s, pending, has gaps left or nothing yet", (section) => {
  const instructions = instructionSet.instructions.filter((i) => isPending(i) && pendingSection(i) === section);
  const executable = instructions.flatMap((i) => i.forms).filter((form) => form.sem !== null);
  expect(executable.length === 0 || gaps(instructions).length > 0).toBe(true);
});

test("every exception names an executable form", () => {
  const texts = new Set(instructionSet.instructions.flatMap((i) => i.forms.filter((f) => f.sem).map((f) => f.text)));
  expect(Object.keys(exceptions).filter((text) => !texts.has(text))).toEqual([]);
});
