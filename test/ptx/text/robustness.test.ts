import { describe, expect, test } from "vitest";
import { tokenLimit } from "../../../src/source/characters.ts";
import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { printPtx } from "../../../src/ptx/printer.ts";
import { SourceText } from "../../../src/source/index.ts";
import { processorMilliseconds } from "../../processor-time.ts";
import { generator, mutated } from "../../random-text.ts";
import { corpus, sample } from "./corpus.ts";

const texts = [sample, ...corpus().map(({ text }) => text)];
const short = texts.filter((text) => text.length < 8_000);

const parse = (text: string) => parsePtx(new SourceText("any.ptx", text));
const codes = (text: string): string[] => parse(text).diagnostics.map(({ code }) => code);

/**
 * Checks what must hold for every text: nothing throws, spans are within it, and unparsed text has a diagnostic and is
 * printed.
 */
function check(text: string): void {
  const { tree, diagnostics } = parse(text);
  const within = ({ start, end }: { start: number; end: number }) => start >= 0 && start <= end && end <= text.length;
  for (const { span } of diagnostics)
    if (!within(span)) expect.fail(`span ${span.start}-${span.end} of ${text.length}`);
  const bad = [...tree.skipped, ...tree.items.filter((item) => item.kind === "bad")];
  for (const node of bad) if (!within(node)) expect.fail(`node ${node.start}-${node.end} of ${text.length}`);
  if (bad.length > 0 && diagnostics.length === 0) expect.fail("bad text without a diagnostic");
  const printed = printPtx(tree);
  for (const node of bad) {
    const kept = tree.source.slice(node).trimEnd();
    if (!printed.includes(kept)) expect.fail(`printing loses ${JSON.stringify(kept)}`);
  }
}

describe("any prefix of a module", () => {
  test("every prefix of some", () => {
    for (const text of [sample, ...short.slice(0, 60).filter((_, i) => i % 20 === 7)]) {
      for (let end = 0; end <= text.length; end++) check(text.slice(0, end));
    }
  });
  test("some prefixes of all", () => {
    const below = generator(1);
    for (const text of texts) for (let i = 0; i < 3; i++) check(text.slice(0, below(text.length)));
  });
});

test.each([
  "call f, (p0, ",
  "call (r), f, (p0,\n\t",
  "bra X, ",
  "ld.global.u32 {a, ",
  "st.global.u32 [a, ",
  "add.u32 a, b +  ",
])("nodes of a text that ends after '%s' lie within it", (statement) => {
  const text = `.version 9.0\n.target sm_75\n.address_size 64\n.entry k()\n{\n    ${statement}`;
  const wrong: object[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null || node instanceof SourceText) return;
    const { start, end } = node as { start?: number; end?: number };
    if (start !== undefined && end !== undefined && !(start >= 0 && start <= end && end <= text.length)) {
      wrong.push({ start, end });
    }
    Object.values(node).forEach(visit);
  };
  visit(parse(text).tree);
  expect(wrong).toEqual([]);
});

const fragments =
  '{ } ( ) [ ] ; , @ % " /* */ // \n 0x 0f 08 1e é . .. :: : | < > \0 _ $ .reg .func .entry .section .loc call - ! ~ ? # @@DWARF .pragma = .visible'.split(
    " ",
  );

test("5,000 mutations", () => {
  const below = generator(7);
  for (let i = 0; i < 5_000; i++) check(mutated(short, fragments, below));
});

describe("nesting is bounded", () => {
  const count = 100_000;
  const head = ".version 9.0\n.target sm_90\n.entry k() {\n";
  const bombs: Record<string, string> = {
    blocks: head + "{".repeat(count),
    "closed blocks": `${head}${"{".repeat(count)}${"}".repeat(count)}\nret; }`,
    parentheses: `${head}mov.u32 a, ${"(".repeat(count)}1${")".repeat(count)};}`,
    vectors: `${head}mov.u32 a, ${"{".repeat(count)}1${"}".repeat(count)};}`,
    addresses: `${head}mov.u32 a, ${"[".repeat(count)}1${"]".repeat(count)};}`,
    minuses: `${head}mov.u32 a, ${"-".repeat(count)}1;}`,
    sums: `${head}mov.u32 a, 1${" + 1".repeat(count)};}`,
    conditionals: `${head}mov.u32 a, ${"1 ? ".repeat(count)}1${" : 1".repeat(count)};}`,
    "pairs of sinks": `${head}mov.u32 ${"_|".repeat(count)}a;}`,
    "initial values": `.global .u32 x[] = ${"{".repeat(count)}1${"}".repeat(count)};`,
    calls: `.global .u32 x = ${"generic(".repeat(count)}a${")".repeat(count)};`,
  };
  for (const [what, text] of Object.entries(bombs)) {
    test(what, () => {
      check(text);
      expect(codes(text)).toContain("ptx-nesting-too-deep");
    });
  }
  test("a pair has exactly two halves", () => {
    const text = `${head}mov.u32 ${"{a}|".repeat(count)}a;}`;
    check(text);
    expect(codes(text)).toEqual(["ptx-unexpected-token"]);
  });
  test("the following statements are parsed", () => {
    expect(parse(bombs["parentheses"]!.replace(/}$/, "ret; }")).tree.items.at(-1)).toMatchObject({
      body: { statements: [{ kind: "instruction" }, { kind: "instruction", opcode: { text: "ret" } }] },
    });
  });
});

describe("garbage", () => {
  const size = 4_000_000;
  const garbage: Record<string, string> = {
    "one character": "a".repeat(size),
    "no token": "\u0001".repeat(size),
    semicolons: ";".repeat(size),
    "closing braces": "}".repeat(size),
    words: "lorem ipsum. ".repeat(size / 13),
    quotes: '"'.repeat(size),
    "bytes of all kinds": String.fromCharCode(...Array.from({ length: 250 }, (_, i) => i)).repeat(size / 250),
  };
  for (const [what, text] of Object.entries(garbage)) {
    test(what, () => {
      const { tree, diagnostics } = parse(text);
      expect(diagnostics.length).toBeGreaterThan(0);
      expect(diagnostics.length).toBeLessThanOrEqual(10_000);
      expect(tree.items.length + tree.skipped.length).toBeLessThan(100);
    });
  }

  test("the number of tokens is bounded", () => {
    const text = `.global .b8 x[] = {${"0,".repeat(tokenLimit / 2)}0};`;
    const { tree, diagnostics } = parse(text);
    expect(diagnostics.map(({ code }) => code)).toContain("ptx-too-many-tokens");
    expect(tree.items.at(-1)).toMatchObject({ kind: "bad", end: text.length });
  });
});

test("parsing time is linear in the size of the text", () => {
  const time = (text: string): number => processorMilliseconds(() => parse(text));
  const module = (count: number) => `.entry k() {\n${"  add.u32 a, b, [c+4]; // sum\n".repeat(count)}}\n`;
  time(module(20_000));
  const [small, large] = [time(module(20_000)), time(module(160_000))];
  // Eight times the text; a quadratic parser would take 64 times as long.
  expect(large / small).toBeLessThan(32);
});
