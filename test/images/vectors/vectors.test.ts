import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { usualEngines } from "../../../src/runtime/launch/launch-options.ts";
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
