import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { driverErrorName, errorName, errors } from "../../src/cuda/base/errors.ts";
import { headerWord, itemKind, message, wire } from "../../src/cuda/base/wire.ts";
import { names } from "./fake-program.ts";

const read = (path: string): string => readFileSync(new URL(`../../native/${path}`, import.meta.url), "utf8");
const header = read("client/wire.h");

/** The number that a macro or an enumerator of wire.h has. */
const numberOf = (name: string): number => {
  const found = new RegExp(`(?:#define )?\\b${name}(?: =)? (0x[0-9a-f]+|\\d+)`).exec(header);
  expect(found, name).not.toBeNull();
  return Number(found![1]);
};

const snake = (name: string): string => name.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase();

test.each([
  ...Object.entries(itemKind),
  ...Object.entries(message),
  ...Object.entries(wire).filter(([name]) => name !== "arenaBase"),
])("%s is the same number in the client", (name, value) => {
  expect(numberOf(`LW_${snake(name)}`)).toBe(Number(value));
});

test("the address of device memory is the same", () => {
  expect(BigInt(/LW_ARENA_BASE (0x[0-9a-f]+)/.exec(header)![1]!)).toBe(wire.arenaBase);
});

test("the words of the first page are in one order", () => {
  const [, body = ""] = /struct lw_header \{([\s\S]*?)\n\};/.exec(header)!;
  const fields = [...body.matchAll(/uint32_t (\w+);/g)].map(([, field]) => field!);
  expect(fields.map((field) => field.replace(/_(\w)/g, (_, c: string) => c.toUpperCase()))).toEqual(
    Object.keys(headerWord),
  );
});

test("names are there once, and those that the client answers are among them", () => {
  expect(new Set(names).size).toBe(names.length);
  const local = read("names/local.txt")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split("|")[0]!.trim());
  expect(local.filter((name) => !names.includes(name))).toEqual([]);
});

test("errors have the numbers of the table of names", () => {
  const known = new Set([...read("names/errors.txt").matchAll(/^(\d+) \|/gm)].map(([, number]) => Number(number)));
  expect(Object.entries(errors).filter(([, number]) => !known.has(number))).toEqual([]);
});

// cuda.h and driver_types.h of CUDA 13, from which the table was written.
test("errors have the names that the headers give them", () => {
  const known = new Set<number>(Object.values(errors));
  for (const line of read("names/errors.txt").split("\n")) {
    const [number, runtime, driver] = line.split("|").map((cell) => cell.trim());
    if (!known.has(Number(number))) continue;
    if (runtime !== "") expect(errorName(Number(number))).toBe(`${runtime} (${number})`);
    if (driver !== "") expect(driverErrorName(Number(number))).toBe(`${driver} (${number})`);
  }
});
