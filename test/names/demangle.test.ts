import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { demangle } from "../../src/names/index.ts";

const rows = (file: string): string[][] =>
  readFileSync(new URL(file, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .map((line) => line.split("\t"));

test("names are shown as c++filt shows them", () => {
  const all = rows("names.txt");
  expect(all.length).toBeGreaterThan(350);
  const wrong = all.flatMap(([mangled, want]) => {
    const got = demangle(mangled!)?.full;
    return got === want ? [] : [{ mangled, got, want }];
  });
  expect(wrong).toEqual([]);
});

test.each(rows("differences.txt"))("%s is shown in Lanewise's own way", (mangled, own, other) => {
  expect(demangle(mangled)?.full).toBe(own);
  expect(own).not.toBe(other);
});

test.each([
  ["_Z6reducePKfPfi", "reduce", ["float const*", "float*", "int"]],
  ["_Z5scaleIfEvPT_S0_i", "scale<float>", ["float*", "float", "int"]],
  ["_ZN2ns6reduceEPi", "ns::reduce", ["int*"]],
  ["_Z8variadicILi4ELb1EJifEEvDpPT1_", "variadic<4, true, int, float>", ["int*", "float*"]],
  ["_ZNK2OpcvPT_IdEEv", "Op::operator double*<double>", []],
  ["_Z1fv", "f", []],
  ["_Z3fooPFvvE", "foo", ["void (*)()"]],
  ["_ZZ6reducePKfPfiE4kept", "reduce(float const*, float*, int)::kept", null],
  ["_ZN2ns7counterE", "ns::counter", null],
])("%s has a name and parameters", (mangled, name, parameters) => {
  expect(demangle(mangled)).toMatchObject({ name, parameters });
});

test.each([
  "",
  "main",
  "_Z",
  "_Z1",
  "_Z99foo",
  "_Z1f_",
  "_ZN",
  "_ZNE",
  "_Z1fS_",
  "_Z1fT_",
  "saxpy",
  "_R1f",
  "?f@@YAXXZ",
  "_Z1fi junk",
])("%j is no mangled name", (text) => {
  expect(demangle(text)).toBeNull();
});

// The grammar of the Itanium ABI since 2023 (constraints, concepts, modules), which c++filt 2.40 does not know.
test.each([
  ["_Z1fITk5SmalliEvT_", "void f<int>(int)"],
  ["_Z1fIiEvT_Q5SmallIS0_E", "void f<int>(int)"],
  ["_ZN5thing1fIiQ4TrueIT_EEEvv", "void thing::f<int>()"],
  ["_Z1fIiEvT_QrqXplfp_fp_E", "void f<int>(int)"],
  ["_Z1fIiEvT_QrQT__XplfL0p_fL0p_R5SmallQ4TrueITL0__EE", "void f<int>(int)"],
  ["_Z2f1IiEvDTu8__uuidoftT_EE", "void f1<int>(decltype (__uuidof(int)))"],
  ["_Z1fDk5Small", "f(Small auto)"],
  ["_ZW3Foo1fv", "f()"],
])("%s is %s", (mangled, full) => {
  expect(demangle(mangled)?.full).toBe(full);
});

test("names that would be endless are given up", () => {
  // Each parameter repeats the one before it twice.
  const twice = (i: number): string => (i === 0 ? "1AIiE" : `1AIS${(i - 1).toString(36).toUpperCase()}_S_E`);
  const doubling = Array.from({ length: 300 }, (_, i) => `1AI${i === 0 ? "i" : "S"}${twice(i).slice(4)}`).join("");
  for (const name of [
    `_Z1f${doubling}`,
    `_Z1f${"P".repeat(60_000)}i`,
    `_Z1f${"N1a".repeat(20_000)}`,
    `_Z${"9".repeat(60_000)}`,
    `_Z1fIJ${"i".repeat(30_000)}EEvDpDpDpT_`,
    // Each parameter points to the one before it.
    `_Z1fP1A${Array.from({ length: 5000 }, (_, i) => `PS${i.toString(36).toUpperCase()}_`).join("")}`,
    `_Z1fPFiiE${Array.from({ length: 3000 }, (_, i) => `PFS${(2 * i + 1).toString(36).toUpperCase()}_iE`).join("")}`,
    `_Z1f${"1AIiE".repeat(1000)}${"1BIS0_S0_S0_S0_E".repeat(2000)}`,
  ]) {
    expect(() => demangle(name)).not.toThrow();
  }
});

test("damaged names do no harm", () => {
  const names = rows("names.txt").map(([mangled]) => mangled!);
  let seed = 7;
  const draw = (n: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
  };
  for (let round = 0; round < 20_000; round++) {
    const name = names[draw(names.length)]!;
    const at = draw(name.length);
    const other = names[draw(names.length)]!;
    const from = draw(other.length);
    const damaged = [
      name.slice(0, at),
      name.slice(0, at) + name.slice(at + 1),
      name.slice(0, at) + "STPKJEIXLNZ_0Dpvdtscl"[draw(20)]! + name.slice(at),
      name.slice(0, at) + other.slice(from, from + draw(30)) + name.slice(at),
    ][draw(4)]!;
    const found = demangle(damaged);
    if (found !== null) expect(found.full.length).toBeGreaterThan(0);
  }
});
