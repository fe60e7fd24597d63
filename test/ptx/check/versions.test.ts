import { expect, test } from "vitest";
import { diagnose } from "./diagnose.ts";

/*
 * The versions of chapter 13 (9.1 is the newest that the table of instructions knows), later ones, and numbers that are
 * none. Triton 3.8 writes 9.3 for code that needs nothing newer than 8.8.
 */
const known = ["8.8", "9.0", "9.1"];
const later = ["9.2", "9.3", "9.4", "9.10"];
const none = ["0.9", "1.6", "5.9", "7.9", "8.9", "10.0"];

const codes = (version: string, line: string): string[] =>
  diagnose(`.version ${version}\n.target sm_90\n.address_size 64\n.entry k() { .reg .b32 %r<4>; ${line} ret; }\n`).map(
    (d) => d.code,
  );

test.each([...known, ...later])("version %s says nothing about what is known", (version) => {
  expect(codes(version, "add.u32 %r1, %r2, %r3;")).toEqual([]);
});

test.each(later)("version %s is named once if something is unknown", (version) => {
  expect(codes(version, "sparkle.b32 %r1; glow.b32 %r1; add.u32 %r1, %r2, %r3;")).toEqual([
    "unknown-instruction",
    "unknown-instruction",
    "newer-version",
  ]);
  expect(codes(version, "add.u32 %r1, %r2, 1.5;")).not.toContain("newer-version");
});

test.each(known)("version %s has nothing to do with what is unknown", (version) => {
  expect(codes(version, "sparkle.b32 %r1;")).toEqual(["unknown-instruction"]);
});

test.each(none)("there is no version %s", (version) => {
  expect(codes(version, "")).toContain("unknown-version");
});
