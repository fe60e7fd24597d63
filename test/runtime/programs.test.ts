import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

const usual = ".version 9.0 .target sm_90 .address_size 64";

const [, ...programs] = readFileSync(new URL("programs.txt", import.meta.url), "utf8").split(/^==== /m);

test.each(
  programs.map((program) => {
    const [, name = "", header = usual, words = "", text = ""] =
      /^(\w+)(?: \(([^)]*)\))?: ([^\n]*)\n(.*)$/s.exec(program) ?? [];
    return { name, words: words.split(" ").map(Number), text: `${header.replaceAll(" .", "\n.")}\n${text}` };
  }),
)("$name", ({ words, text }) => {
  const device = new Device({ sanitize: "all" });
  const module = device.load(text);
  const out = device.buffer("u32", words.length);
  const { reports } = module.kernel("k").launch({ grid: 1, block: 1, args: [out] });
  expect(module.diagnostics).toEqual([]);
  expect(reports).toEqual([]);
  expect([...out.read()]).toEqual(words);
});
