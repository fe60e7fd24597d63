import { describe, expect, test } from "vitest";
import { generator } from "../../random-text.ts";
import { corpus, sample } from "../text/corpus.ts";
import { diagnose } from "./diagnose.ts";

const header = ".version 9.0\n.target sm_90\n.address_size 64\n";
const kernel = (body: string): string => `${header}.entry k() { .reg .u32 a; .reg .u64 l;\n${body}\nret; }\n`;
const repeat = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join("\n");

/** Short texts that a naive checker would take minutes for. */
const hostile: Readonly<Record<string, string>> = {
  "a range of four billion registers": kernel(".reg .u32 q<4000000000>; mov.u32 q3999999999, 1;"),
  "many such ranges": kernel(repeat(20_000, (i) => `.reg .u32 a${i}, r${i}x<4000000000>;`)),
  "a list of four billion labels": kernel("L0: T: .branchtargets L<4000000000>;"),
  "many lists of many labels": kernel(
    `${repeat(1000, (i) => `L${i}:`)}\n${repeat(20_000, (i) => `T${i}: .branchtargets L<1000>;`)}`,
  ),
  "many calls through a long list": `${header}${repeat(2000, (i) => `.func f${i}(.param .b32 a) { ret; }`)}\n.entry k() { .reg .u32 a; .reg .u64 l;\nT: .calltargets f<2000>;\n${repeat(20_000, () => "call l, (a), T;")}\nret; }\n`,
  "many calls through a wrong table": `${header}.global .u64 t[4000] = {${"0, ".repeat(3999)}0};\n.entry k() { .reg .u64 l;\n${repeat(20_000, () => "call l, t;")}\nret; }\n`,
  "many declarations of one function": header + repeat(20_000, () => ".func f(.param .b32 a);"),
  "many unknown names": kernel(repeat(20_000, (i) => `mov.u32 u${i}, v${i};`)),
  "many dimensions": `${header}.global .u32 g${"[2]".repeat(20_000)};`,
  "a shift by more than memory": `${header}.global .u64 g = 1 << 4000000000000;`,
  "a long chain of calls in PTX 1.x": `.version 1.4\n.target sm_13\n${repeat(10_000, (i) => `.func f${i}();`)}\n${repeat(9999, (i) => `.func f${i}() { call f${i + 1}; }`)}\n`,
};

describe("hostile text", () => {
  for (const [name, text] of Object.entries(hostile)) {
    test(name, () => {
      expect(diagnose(text).length).toBeLessThanOrEqual(20_000);
    });
  }
});

/** A text with some words removed, doubled or inserted from elsewhere. */
function damaged(text: string, seed: number): string {
  const random = generator(seed);
  const words = text.split(/(?<=[\s,;(){}[\]])/);
  for (let i = 0; i < 4; i++) {
    const at = random(words.length);
    const choice = random(3);
    words.splice(at, choice === 0 ? 1 : 0, ...(choice === 0 ? [] : [words[choice === 1 ? at : random(words.length)]!]));
  }
  return words.join("");
}

describe("the checker never throws on damaged text", () => {
  const texts = [
    sample,
    ...corpus()
      .filter((f) => f.text.length < 6000)
      .map((f) => f.text),
  ].slice(0, 150);
  test(`${texts.length} modules`, () => {
    for (const [i, text] of texts.entries()) {
      for (let seed = 0; seed < 4; seed++) expect(() => diagnose(damaged(text, i * 4 + seed))).not.toThrow();
    }
  });
  test("every prefix of a module", () => {
    for (let end = 0; end < sample.length; end += 3) expect(() => diagnose(sample.slice(0, end))).not.toThrow();
  });
});
