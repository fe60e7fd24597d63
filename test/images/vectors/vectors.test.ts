import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { usualEngines } from "../../../src/runtime/launch/launch-options.ts";
import { rows } from "../../../src/visa/isa/table.ts";
import { mnemonicItem } from "../../../src/visa/isa/template.ts";
import { mnemonicOf, parseVisaVectors, runVisaVector } from "./visa-vectors.ts";
import { parseImageVectors, runImageVector } from "./vectors.ts";

for (const name of ["fetch", "surface", "query"]) {
  const file = `${name}.image-vectors`;
  const vectors = parseImageVectors(file, readFileSync(new URL(file, import.meta.url), "utf8"));
  test.each(usualEngines)(`${file} (%s)`, (engine) => {
    for (const one of vectors) {
      const { got, wanted } = runImageVector(one, engine);
      expect(got, `${file}:${one.line}: ${one.opcode} (${one.origin})`).toEqual(wanted);
    }
  });
}

const ofVisa = parseVisaVectors(readFileSync(new URL("images.visa-vectors", import.meta.url), "utf8"));

test.each(usualEngines)("images.visa-vectors (%s)", (engine) => {
  for (const one of ofVisa) {
    const { got, wanted } = runVisaVector(one, engine);
    expect(got, `images.visa-vectors:${one.line}: ${one.instruction} (${one.origin})`).toEqual(wanted);
  }
});

test("every row of vISA that is about images has a vector", () => {
  const seen = new Set(ofVisa.map(mnemonicOf));
  const of = rows.filter(({ execution }) => execution.kind === "image").map((row) => mnemonicItem(row).word);
  expect(of.filter((mnemonic) => !seen.has(mnemonic))).toEqual([]);
});
