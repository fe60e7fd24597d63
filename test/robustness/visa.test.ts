import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { mutate } from "./mutate.ts";
import { mutateBytes } from "./mutate-bytes.ts";
import { mutateDocument } from "./mutate-document.ts";
import { type Random, randomFrom } from "./seeds.ts";
import { surviveCisa, surviveJob, surviveText } from "./survive-visa.ts";
import { asCisa, type Seed, visaSeeds } from "./visa-seeds.ts";

const timeout = 240_000;
const seeds = visaSeeds();
const files = seeds.map(asCisa);
const utf8 = {
  encode: (text: string) => new TextEncoder().encode(text),
  decode: (bytes?: Uint8Array) => new TextDecoder().decode(bytes),
};
const texts = seeds.flatMap(({ files, modules }) => modules.map((path) => utf8.decode(files.get(path))));
const binaries = files.flatMap(({ files, modules }) => modules.map((path) => files.get(path)!));

const pick = <T>(list: readonly T[], random: Random): T => list[random(list.length)]!;
/** A seed with one file replaced. */
const withFile = (seed: Seed, path: string, bytes: Uint8Array): Seed => ({
  ...seed,
  files: new Map([...seed.files, [path, bytes]]),
});

describe("any program comes to an end, in a result or in diagnostics", () => {
  test("mutations of texts", { timeout }, () => {
    const random = randomFrom(2000);
    const counts = { refused: 0, loaded: 0, launched: 0 };
    for (let i = 0; i < 800; i++) {
      const seed = pick(seeds, random);
      const path = pick(seed.modules, random);
      const text = mutate(utf8.decode(seed.files.get(path)), random, texts);
      surviveText(text);
      counts[surviveJob(withFile(seed, path, utf8.encode(text)))]++;
    }
    // Damage that is always noticed would leave the later stages without a test.
    expect(counts.launched).toBeGreaterThan(80);
  });

  test("every prefix of a file", { timeout }, () => {
    for (const bytes of binaries.slice(0, 2)) {
      for (let end = 0; end < bytes.length; end++) surviveCisa(bytes.subarray(0, end));
    }
  });

  test("mutations of files", { timeout }, () => {
    const random = randomFrom(3000);
    const counts = { refused: 0, loaded: 0, launched: 0 };
    for (let i = 0; i < 800; i++) {
      const seed = pick(files, random);
      const path = pick(seed.modules, random);
      const bytes = mutateBytes(seed.files.get(path)!, random, binaries);
      surviveCisa(bytes);
      counts[surviveJob(withFile(seed, path, bytes))]++;
    }
    expect(counts.launched).toBeGreaterThan(30);
  });
});

describe("what a program comes with may be anything", () => {
  const compiled = seeds.find(({ zeinfo }) => zeinfo !== null)!;
  const yaml = utf8.decode(compiled.files.get(compiled.zeinfo!));

  test("mutations of .ze_info", { timeout }, () => {
    const random = randomFrom(4000);
    const counts = { refused: 0, loaded: 0, launched: 0 };
    for (let i = 0; i < 300; i++) {
      const document = mutateDocument(parse(yaml), random);
      counts[surviveJob(compiled, () => document)]++;
      counts[surviveJob(withFile(compiled, compiled.zeinfo!, utf8.encode(mutate(yaml, random, [yaml]))))]++;
    }
    expect(counts.launched).toBeGreaterThan(30);
  });

  test("mutations of jobs", { timeout }, () => {
    const random = randomFrom(5000);
    const counts = { refused: 0, loaded: 0, launched: 0 };
    for (let i = 0; i < 300; i++) {
      const seed = pick(seeds, random);
      const json = JSON.stringify(mutateDocument(JSON.parse(seed.json), random)) ?? "";
      counts[surviveJob({ ...seed, json })]++;
      counts[surviveJob({ ...seed, json: mutate(seed.json, random, [seed.json]) })]++;
    }
    expect(counts.launched).toBeGreaterThan(30);
  });
});
