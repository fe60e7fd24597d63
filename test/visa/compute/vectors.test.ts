import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { rows } from "../../../src/visa/isa/table.ts";
import { isNan } from "./patterns.ts";
import { runVectors } from "./run-vectors.ts";
import { parseVectors } from "./vectors.ts";

const folder = new URL(".", import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith(".vectors"));
const vectorsOf = (file: string) => parseVectors(file, readFileSync(new URL(file, folder), "utf8"));

describe.each(files)("%s", (file) => {
  test.each([true, false])("every instruction gives its expected results (generated loops: %s)", (generate) => {
    const vectors = vectorsOf(file);
    const got = runVectors(vectors, generate);
    const wrong = vectors.flatMap(({ at, mnemonic, sources, results, origin }, v) =>
      results.flatMap(({ type, bits }, i) => {
        const value = got[v]![i]!;
        // NaNs are equal, because it is not specified which one an operation gives. A move gives the one that it has.
        const moved = ["mov", "sel"].includes(mnemonic) && sources.every((s) => s.type === type);
        const same = value === bits || (!moved && isNan(type, value) && isNan(type, bits));
        return same ? [] : [`${at}: 0x${value.toString(16)}, not 0x${bits.toString(16)} (${origin})`];
      }),
    );
    expect(wrong).toEqual([]);
  });
});

/** Instructions that a vector of one channel cannot exercise: they have tests of their own. */
const elsewhere: readonly string[] = ["setp", "movs", "addr_add", "sad2", "sad2add", "dp2", "dp3", "dp4", "dph"].concat(
  ["line", "plane", "dpas", "dpasw", "madw"],
);

test("every instruction that computes has vectors", () => {
  const seen = new Set(
    [...files.flatMap(vectorsOf).map(({ mnemonic }) => mnemonic)].map((m) => m.replace(/\.sat$/, "")),
  );
  const computing = rows.filter(({ execution: { kind } }) => kind === "compute" || kind === "special");
  const missing = computing
    .map(({ mnemonic }) => mnemonic)
    .filter(
      (mnemonic) =>
        !elsewhere.includes(mnemonic) && ![...seen].some((s) => s === mnemonic || s.split(".")[0] === mnemonic),
    );
  expect(missing).toEqual([]);
});
