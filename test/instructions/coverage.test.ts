import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Candidate, type Form, instructionSet } from "../../src/ptx/isa/index.ts";
import { choicesIn, choicesOf } from "../ptx/isa/opcodes.ts";
import { parseImageVectors } from "../images/vectors/vectors.ts";
import { cases as warpgroupCases } from "./warpgroups/cases.ts";
import { candidatesOf } from "./warpgroups/kernel.ts";
import { formOf, parseVectors } from "./vectors.ts";
import { parseWarpVectors } from "./warps/warp-vectors.ts";

/** Instructions that no vector can exercise, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  "cp.async.bulk.tensor": "tensor maps: tensor-copies.test.ts has every choice",
  "cp.reduce.async.bulk.tensor": "tensor maps: tensor-copies.test.ts has every choice",
  "cp.async.bulk.prefetch.tensor": "tensor maps: tensor-copies.test.ts has every choice",
  "tensormap.replace": "a tensor map is opaque: tensormap-replace.test.ts has every choice",
};

/** The texts of the files with an extension, by their names. */
function filesIn(folder: string, extension: string): [name: string, text: string][] {
  const base = new URL(folder, import.meta.url);
  const names = readdirSync(base).filter((name) => name.endsWith(extension));
  return names.map((name) => [name, readFileSync(new URL(name, base), "utf8")]);
}

const candidates: readonly Candidate[] = [
  ...filesIn("./", ".vectors")
    .flatMap(([name, text]) => parseVectors(name, text))
    .map(formOf)
    .filter((candidate) => typeof candidate !== "string"),
  ...filesIn("./warps/", ".warp-vectors")
    .flatMap(([name, text]) => parseWarpVectors(name, text))
    .map(({ statement }) => statement.candidate),
  ...candidatesOf(warpgroupCases),
  ...filesIn("../images/vectors/", ".image-vectors")
    .flatMap(([name, text]) => parseImageVectors(name, text))
    .map(({ candidate }) => candidate),
];

/** The modifiers that the vectors of each form cover. */
const exercised = new Map<Form, Set<string>>();
for (const { form, mods } of candidates) {
  const seen = exercised.get(form) ?? new Set();
  for (const choice of choicesIn(mods)) seen.add(choice);
  exercised.set(form, seen);
}

const isExecutable = ({ sem, effect }: Form): boolean => sem !== null || effect !== null;
const executable = instructionSet.instructions.flatMap(({ name, forms }) =>
  forms.filter(isExecutable).map((form) => ({ name, form })),
);

const gapsOf = (form: Form): string[] => {
  const seen = exercised.get(form);
  if (!seen) return [`${form.text}: no vector`];
  return choicesOf(form)
    .filter((choice) => !seen.has(choice))
    .map((choice) => `${form.text}: no vector with ${choice}`);
};

test("every executable form has vectors for every choice of its modifiers", () => {
  const gaps = executable.filter(({ name }) => !(name in exceptions)).flatMap(({ form }) => gapsOf(form));
  expect(gaps).toEqual([]);
});

test("every exception is still needed", () => {
  const needed = new Set(executable.filter(({ form }) => gapsOf(form).length > 0).map(({ name }) => name));
  expect(Object.keys(exceptions).filter((name) => !needed.has(name))).toEqual([]);
});
