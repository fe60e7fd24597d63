import { describe, expect, test } from "vitest";
import { checkPtx } from "../../../src/ptx/check/check.ts";
import { printLinked } from "../../../src/ptx/link/print.ts";
import { linkPtx } from "../../../src/ptx/link/resolve.ts";
import { lowerModules } from "../../../src/ptx/lower/lower.ts";
import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { isProvided } from "../../../src/runtime/launch/provided-names.ts";
import { hasErrors } from "../../../src/source/index.ts";
import { processorMilliseconds } from "../../processor-time.ts";
import { generator } from "../../random-text.ts";
import { corpus } from "../text/corpus.ts";
import { checked, header, linked, sourcesOf } from "./linked.ts";

const repeat = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join("\n");

/** A program of `modules` modules with `count` items each; `make` returns item `i` of module `m`. */
const program = (modules: number, count: number, make: (m: number, i: number) => string): string[] =>
  Array.from({ length: modules }, (_, m) => header + repeat(count, (i) => make(m, i)));

/** Programs of 10,000 items, which a linker must not compare pairwise. */
const large: Readonly<Record<string, readonly string[]>> = {
  "functions that call those of the next module": program(
    10,
    1000,
    (m, i) =>
      `.extern .func f${(m + 1) % 10}_${i}();\n.visible .func f${m}_${i}() { call f${(m + 1) % 10}_${i}; ret; }`,
  ),
  "static functions of the same names": program(10, 1000, (_, i) => `.func f${i}() { .shared .u32 s; ret; }`),
  "weak functions of the same names": program(10, 1000, (_, i) => `.weak .func f${i}() { .global .u32 s; ret; }`),
  "static variables of the same names": program(10, 1000, (_, i) => `.global .u32 v${i} = ${i};`),
  "a chain of addresses against the order of the text": program(
    10,
    1000,
    (m, i) =>
      `.extern .global .u64 v${m * 1000 + i + 1 === 10_000 ? 0 : m * 1000 + i + 1};\n.visible .global .u64 v${m * 1000 + i} = v${m * 1000 + i + 1 === 10_000 ? 0 : m * 1000 + i + 1};`,
  ),
  "aliases of one function": program(
    10,
    1,
    () => `.func f() { ret; }\n${repeat(1000, (i) => `.func a${i}();\n.alias a${i}, f;`)}`,
  ),
  "variables of one function": program(2, 1, () => `.func f() { ${repeat(5000, () => "{ .shared .u32 s; }")} ret; }`),
  "files and lines": program(
    10,
    1,
    (m) =>
      `${repeat(1000, (i) => `.file ${i + 1} "f${m}_${i}.cu"`)}\n.func f() { ${repeat(1000, (i) => `.loc ${i + 1} 1 1`)} ret; }`,
  ),
};

describe("large programs", () => {
  for (const [name, texts] of Object.entries(large)) {
    test(name, () => {
      const modules = checked(sourcesOf(texts));
      const milliseconds = processorMilliseconds(() => {
        const { names, target, diagnostics } = linkPtx(modules, isProvided);
        expect(hasErrors(diagnostics)).toBe(false);
        lowerModules(modules, names, target.name);
      });
      expect(milliseconds).toBeLessThan(60_000);
      let text = "";
      expect(processorMilliseconds(() => (text = printLinked(linkPtx(modules, isProvided))))).toBeLessThan(60_000);
      checked(sourcesOf([text]));
    });
  }
});

test("linking a linked program again does not change it", () => {
  const texts = [
    header + ".extern .func g();\n.func f() { call g; ret; }",
    header + ".func f() { ret; }\n.visible .func g() { call f; ret; }",
  ];
  const once = printLinked(linked(texts));
  expect(printLinked(linked([once]))).toBe(once);
});

/** Modules of the corpus that have no errors. */
const sound = corpus()
  .filter(({ text }) => text.length < 20_000)
  .flatMap(({ text }) => {
    const { tree, diagnostics } = parsePtx(sourcesOf([text])[0]!);
    const module = checkPtx(tree);
    return hasErrors([...diagnostics, ...module.diagnostics]) ? [] : [module];
  });

test.skipIf(sound.length === 0)("unrelated modules can be linked", () => {
  const random = generator(7);
  let programs = 0;
  for (let i = 0; i < 400; i++) {
    const some = new Set(Array.from({ length: 2 + random(3) }, () => sound[random(sound.length)]!));
    const program = linkPtx([...some], isProvided);
    if (hasErrors(program.diagnostics)) continue;
    programs++;
    expect(() => checked(sourcesOf([printLinked(program)]))).not.toThrow();
  }
  expect(programs).toBeGreaterThan(20);
});
