import { describe, expect, test } from "vitest";
import { SourceText } from "../../../src/source/index.ts";
import { tokenLimit } from "../../../src/source/characters.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { printVisa } from "../../../src/visa/printer/index.ts";
import { processorMilliseconds } from "../../processor-time.ts";
import { generator, mutated } from "../../random-text.ts";
import { corpus, sample } from "./corpus.ts";

const texts = [sample, ...corpus().map(({ text }) => text)];
const short = texts.filter((text) => text.length < 5_000);

const parse = (text: string) => parseVisa(new SourceText("any.visaasm", text));
const codes = (text: string): string[] => parse(text).diagnostics.map(({ code }) => code);

/**
 * Properties of any text: parsing does not throw, spans are within the text, and printing loses nothing that is not in
 * the tree.
 */
function check(text: string): void {
  const { tree, diagnostics } = parse(text);
  const skipped = tree.skipped ?? [];
  for (const { start, end } of [...diagnostics.map(({ span }) => span), ...skipped, ...tree.comments]) {
    if (!(start >= 0 && start <= end && end <= text.length)) expect.fail(`span ${start}-${end} of ${text.length}`);
  }
  if (skipped.length > 0 && diagnostics.length === 0) expect.fail("skipped text without a diagnostic");
  const printed = printVisa(tree);
  for (const span of [...skipped, ...tree.comments]) {
    const kept = tree.source.slice(span).trimEnd();
    if (!printed.includes(kept)) expect.fail(`printing loses ${JSON.stringify(kept)} of ${JSON.stringify(text)}`);
  }
  if (diagnostics.length === 0 && printVisa(parse(printed).tree) !== printed) {
    expect.fail(`printed twice: ${JSON.stringify(text)}`);
  }
}

describe("any prefix of a file", () => {
  test("every prefix of some", () => {
    for (const text of [sample, ...short.slice(0, 60).filter((_, i) => i % 30 === 7)]) {
      for (let end = 0; end <= text.length; end++) check(text.slice(0, end));
    }
  });
  test("a prefix of each", () => {
    const below = generator(1);
    for (const text of texts) check(text.slice(0, below(text.length)));
  });
});

const fragments =
  '{ } ( ) [ ] < > ; , . : % " /* */ // /// \n \\ 0x 0f 1e 1.5:f é \0 _ $ - ! ~ ? # & = .decl .kernel .function .version mov r[ :d32x2 (abs) (P1) flat bti( %sizeof'.split(
    " ",
  );

test("3,000 mutations", () => {
  const below = generator(7);
  for (let i = 0; i < 3_000; i++) check(mutated(short, fragments, below));
});

describe("nesting is bounded", () => {
  const count = 100_000;
  const head = '.version 3.6\n.kernel "k"\n';
  const bombs: Record<string, string> = {
    scopes: head + "{".repeat(count),
    "closed scopes": `${head}${"{".repeat(count)}${"}".repeat(count)}\n    ret (M1, 1)\n`,
    parentheses: `${head}.input V size=${"(".repeat(count)}1${")".repeat(count)}\n    ret (M1, 1)\n`,
    minuses: `${head}    mov (M1, 1) V<1> ${"-".repeat(count)}1:d`,
    sums: `${head}.input V size=1${" + 1".repeat(count)}`,
    conditionals: `${head}.input V size=${"1 ? 1 : ".repeat(count)}1`,
    addresses: `${head}    lsc_load.ugm (M1, 1) V:d32 flat[${"(".repeat(count)}1*V]:a32`,
  };
  for (const [what, text] of Object.entries(bombs)) {
    test(what, () => {
      check(text);
      expect(codes(text)[0]).toBe("visa-nesting-too-deep");
    });
  }
  test("the text that follows is read", () => {
    for (const what of ["closed scopes", "parentheses"]) {
      const { diagnostics, tree } = parse(bombs[what]!);
      expect(diagnostics).toHaveLength(1);
      expect(tree.routines[0]!.statements.at(-1)).toMatchObject({ kind: "instruction" });
    }
  });
});

describe("garbage", () => {
  const size = 600_000;
  const garbage: Record<string, string> = {
    "one character": "a".repeat(size),
    "no token": "\u0001".repeat(size),
    dots: ".".repeat(size),
    "closing braces": "}".repeat(size),
    words: "lorem ipsum. ".repeat(size / 13),
    lines: "lorem\n".repeat(size / 6),
    quotes: '"'.repeat(size),
    backslashes: "\\".repeat(size),
    "bytes of all kinds": String.fromCharCode(...Array.from({ length: 250 }, (_, i) => i)).repeat(size / 250),
  };
  for (const [what, text] of Object.entries(garbage)) {
    test(what, () => {
      for (const head of ["", '.version 3.6\n.kernel "k"\n', '.version 3.6\n.kernel "k"\n    mov']) {
        const { tree, diagnostics } = parse(head + text);
        expect(diagnostics.length).toBeGreaterThan(0);
        expect(diagnostics.length).toBeLessThanOrEqual(10_000);
        expect(tree.skipped!.length).toBeLessThan(100);
      }
    });
  }

  test("the number of tokens of a file is limited", () => {
    const text = `.version 3.6\n.kernel "k"\n${"{\n}\n".repeat(tokenLimit / 4)}    ret (M1, 1)`;
    const { tree, diagnostics } = parse(text);
    expect(diagnostics.map(({ code }) => code)).toEqual(["visa-too-many-tokens"]);
    expect(tree.skipped!.at(-1)!.end).toBe(text.length);
  });
});

describe("time grows linearly with the text", () => {
  const time = (text: string): number => processorMilliseconds(() => printVisa(parse(text).tree));
  const lines = {
    instructions: "    add (M1, 16) V(0,0)<1> V(0,0)<8;8,1> 0x1:ud /// $1 // sum\n",
    accesses: "    lsc_atomic_iadd.ugm.uc.uc (M1, 16) V:d32 flat[V+0x10]:a64 V.64 %null\n",
    errors: "    lsc_atomic_iadd.tgm.uc.uc (M1, 16) V:d32 flat[V+0x10]:a64 V.64\n// remark\n",
    declarations: ".decl V v_type=G type=ud num_elts=(4*2) align=GRF alias=<W, 32> // variable\n",
  };
  for (const [what, line] of Object.entries(lines)) {
    test(what, () => {
      const file = (count: number) => `.version 3.6\n.kernel "k"\n${line.repeat(count)}`;
      time(file(5_000));
      const [small, large] = [time(file(5_000)), time(file(40_000))];
      // Eight times the text; a quadratic parser would take 64 times as long.
      expect(large / small).toBeLessThan(32);
    });
  }
});
