import fc from "fast-check";
import { expect, test } from "vitest";
import { SourceText } from "../../../src/source/index.ts";
import { checkVisa, linkVisa } from "../../../src/visa/check/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { platforms } from "../../../src/visa/isa/row.ts";
import { caseFiles, casesOf, textOf } from "./cases.ts";
import { diagnose } from "./diagnose.ts";
import { processorMilliseconds } from "../../processor-time.ts";

const texts = caseFiles.flatMap((file) => casesOf(file).map(textOf));
const words = texts.join("\n").match(/[A-Za-z_.%][\w.%]*|\d+|[^\s\w]|\n/g)!;

test("nothing throws on programs with words exchanged, left out or repeated", () => {
  const change = fc.record({
    at: fc.nat(),
    word: fc.constantFrom(...words),
    how: fc.constantFrom("put", "drop", "twice"),
  });
  const program = fc.record({
    text: fc.constantFrom(...texts),
    changes: fc.array(change, { maxLength: 6 }),
    platform: fc.constantFrom(null, ...platforms),
  });
  fc.assert(
    fc.property(program, ({ text, changes, platform }) => {
      const tokens = text.match(/[A-Za-z_.%][\w.%]*|\d+|\s+|[^\s\w]/g)!;
      for (const { at, word, how } of changes) {
        const i = at % tokens.length;
        if (how === "put") tokens[i] = word;
        else if (how === "drop") tokens.splice(i, 1);
        else tokens.splice(i, 0, tokens[i]!);
      }
      const { tree } = parseVisa(new SourceText("k.visaasm", tokens.join("")));
      const checked = checkVisa(tree, { platform });
      linkVisa([checked, checked]);
    }),
    { numRuns: 400, seed: 7 },
  );
});

/** Milliseconds for a program of n parts. */
const time = (text: string): number => processorMilliseconds(() => diagnose(text));

const kernel = (declarations: string, body: string): string =>
  `.version 3.6\n.kernel "k"\n${declarations}.kernel_attr SimdSize=16\n.function "m"\nm:\n${body}    ret (M1, 1)\n`;

const many = (n: number, one: (i: number) => string): string => Array.from({ length: n }, (_, i) => one(i)).join("");

const f = ".decl F v_type=G type=ud num_elts=16\n.decl P v_type=P num_elts=16\n";
const shapes: Readonly<Record<string, (n: number) => string>> = {
  "a chain of aliases": (n) =>
    kernel(
      many(n, (i) => `.decl N${i} v_type=G type=ud num_elts=8${i === 0 ? "" : ` alias=<N${i - 1}, 0>`}\n`),
      "",
    ),
  "aliases of what comes later": (n) =>
    kernel(
      many(n, (i) => `.decl N${i} v_type=G type=ud num_elts=8 alias=<N${i + 1}, 0>\n`),
      "",
    ),
  "unknown names": (n) =>
    kernel(
      "",
      many(n, (i) => `    mov (M1, 16) N${i}(0,0)<1> N${i + 1}(0,0)<1;1,0>\n`),
    ),
  "labels that jump back": (n) =>
    kernel(
      f,
      many(n, (i) => `L${i}:\n    (P) goto (M1, 16) L${i >> 1}\n`),
    ),
  "subroutines that call the next": (n) =>
    kernel(f, "    call (M1, 16) S0\n") +
    many(n, (i) => `.function "S${i}"\nS${i}:\n    (P) call (M1, 16) S${i + 1}\n    ret (M1, 16)\n`),
  "addresses through loops": (n) =>
    kernel(
      f,
      many(
        n,
        (i) =>
          `L${i}:\n    faddr f${i} F(0,${i % 8})<1>\n    ifcall (M1, 16) F(0,0)<0;1,0> 1 1\n    (P) goto (M1, 16) L0\n`,
      ),
    ),
};

test("a jump table may have more labels than a call can have arguments", () => {
  const labels = "L, ".repeat(200_000);
  const index = ".decl I v_type=G type=ub num_elts=1\n";
  expect(diagnose(kernel(index, `    switchjmp (M1, 1) I(0,0)<0;1,0> (${labels}L)\nL:\n`))).toEqual([]);
});

for (const [name, shape] of Object.entries(shapes)) {
  test(`the time for ${name} grows with their number`, () => {
    time(shape(500));
    const few = Math.min(time(shape(2000)), time(shape(2000)));
    const lots = time(shape(16_000));
    // Eight times as many; a quadratic rule would take 64 times as long.
    expect(lots).toBeLessThan(24 * few + 400);
  });
}
