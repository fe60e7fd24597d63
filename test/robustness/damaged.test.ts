import { describe, expect, test } from "vitest";
import { mutate } from "./mutate.ts";
import { randomFrom, seeds } from "./seeds.ts";
import { survive } from "./survive.ts";

const texts = seeds();
const short = texts.filter((text) => text.length < 3000);

describe("any text comes to an end, in a result or in diagnostics", () => {
  test("every second module as it is", () => {
    for (const text of texts.filter((_, i) => i % 2 === 0)) survive(text);
  });

  test("every prefix of some modules", () => {
    for (const text of short.filter((_, i) => i % Math.ceil(short.length / 3) === 0)) {
      for (let end = 0; end < text.length; end++) survive(text.slice(0, end));
    }
  });

  test("some prefixes of every module", () => {
    const random = randomFrom(1);
    for (const text of texts) for (let i = 0; i < 3; i++) survive(text.slice(0, random(text.length)));
  });

  const batches = 3;
  for (let batch = 0; batch < batches; batch++) {
    test(`1000 mutations, batch ${batch}`, () => {
      const random = randomFrom(1000 + batch);
      const counts = { refused: 0, loaded: 0, launched: 0 };
      for (let i = 0; i < 1000; i++) counts[survive(mutate(short[random(short.length)]!, random, short))]++;
      // Damage that is always noticed would leave the later stages without a test.
      expect(counts.launched).toBeGreaterThan(50);
    });
  }
});
