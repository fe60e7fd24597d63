import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type ChosenModifiers, type Form, instructionSet } from "../../src/ptx/isa/index.ts";
import { opcodesOf } from "../ptx/isa/opcodes.ts";
import { formOf, parseVectors } from "./vectors.ts";

/** Instructions that no vector can exercise, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  createpolicy: "a cache policy is opaque: the manual does not define its bits",
};

const folder = new URL(".", import.meta.url);
const vectors = readdirSync(folder)
  .filter((f) => f.endsWith(".vectors"))
  .flatMap((f) => parseVectors(f, readFileSync(new URL(f, folder), "utf8")));

const choicesIn = (mods: ChosenModifiers): string[] =>
  Object.entries(mods).map(([name, choice]) => `${name}: ${choice ?? false}`);

/** The modifiers that the vectors of each form cover. */
const exercised = new Map<Form, Set<string>>();
for (const vector of vectors) {
  const candidate = formOf(vector);
  if (typeof candidate === "string") continue;
  const seen = exercised.get(candidate.form) ?? new Set();
  for (const choice of choicesIn(candidate.mods)) seen.add(choice);
  exercised.set(candidate.form, seen);
}

/**
 * Every choice of every class, and each optional modifier with and without, that occurs in a valid opcode of the form.
 */
const choicesOf = (form: Form): string[] => {
  const resolved = opcodesOf(form, 1000).flatMap((opcode) => instructionSet.resolve(opcode).candidates);
  return [...new Set(resolved.filter((c) => c.form === form).flatMap((c) => choicesIn(c.mods)))];
};

const executable = instructionSet.instructions.flatMap(({ name, forms }) =>
  forms.filter((form) => form.sem !== null).map((form) => ({ name, form })),
);

test("every executable form has vectors for every choice of its modifiers", () => {
  const gaps = executable
    .filter(({ name }) => !(name in exceptions))
    .flatMap(({ form }) => {
      const seen = exercised.get(form);
      if (!seen) return [`${form.text}: no vector`];
      return choicesOf(form)
        .filter((choice) => !seen.has(choice))
        .map((choice) => `${form.text}: no vector with ${choice}`);
    });
  expect(gaps).toEqual([]);
});

test("every exception names an executable instruction", () => {
  const names = new Set(executable.map(({ name }) => name));
  expect(Object.keys(exceptions).filter((name) => !names.has(name))).toEqual([]);
});
