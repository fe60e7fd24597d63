import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseVectors, runVector } from "./vectors.ts";

const folder = new URL(".", import.meta.url);
const files = readdirSync(folder).filter((f) => f.endsWith(".vectors"));

test.each(files)("%s", (file) => {
  const vectors = parseVectors(file, readFileSync(new URL(file, folder), "utf8"));
  expect(vectors.length).toBeGreaterThan(0);
  const failures = vectors.flatMap((v) => {
    const problem = runVector(v);
    return problem === null ? [] : [`${v.file}:${v.line}: ${v.text}: ${problem}`];
  });
  expect(failures).toEqual([]);
});
