import { expect, test } from "vitest";
import { nearest } from "../../src/source/nearest.ts";

const commands = ["check", "run", "fmt", "link", "explain", "isa"];

test.each([
  ["chekc", "check"],
  ["hceck", "check"],
  ["chek", "check"],
  ["checks", "check"],
  ["rnu", "run"],
  ["fnt", "fmt"],
])("%s may mean %s", (word, meant) => {
  expect(nearest(word, commands)).toBe(meant);
});

test.each(["", "x", "debug", "kcehc", "a".repeat(41)])("%s is close to no command", (word) => {
  expect(nearest(word, commands)).toBeNull();
});
