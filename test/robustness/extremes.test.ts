import { describe, expect, test } from "vitest";
import { survive } from "./survive.ts";

const timeout = 120_000;
/** More than the stack of any engine has frames. */
const many = 30_000;
const some = 10_000;
const header = ".version 9.0\n.target sm_90\n.address_size 64\n";
const kernel = (body: string, params = ""): string => `${header}.visible .entry k(${params}) {\n${body}\nret;\n}\n`;
const list = (count: number, make: (i: number) => string, between = "\n"): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(between);
const nested = (open: string, inside: string, close: string): string => open.repeat(many) + inside + close.repeat(many);

/** Each is refused with diagnostics. */
const refused: Readonly<Record<string, string>> = {
  nothing: "",
  "an open brace, many times": header + "{".repeat(many),
  "nested blocks": kernel(nested("{", "", "}")),
  "nested parentheses": kernel(`.reg .b32 a; mov.b32 a, ${nested("(", "1", ")")};`),
  "nested brackets": kernel(`.reg .b32 a; ld.b32 a, ${nested("[", "a", "]")};`),
  "nested vectors": kernel(`.reg .b32 a; mov.b32 a, ${nested("{", "a", "}")};`),
  "minus after minus": kernel(`.reg .b32 a; mov.b32 a, ${"-".repeat(many)}1;`),
  "a sum of many": kernel(`.reg .b32 a; mov.b32 a, 1${"+1".repeat(many)};`),
  "a sum in an address": kernel(`.reg .b64 a; ld.b32 a, [a${"+a".repeat(many)}];`),
  "nested conditionals": kernel(`.reg .b32 a; mov.b32 a, ${"1 ? ".repeat(many)}1${" : 1".repeat(many)};`),
  "nested initial values": `${header}.global .b32 x[1] = ${nested("{", "1", "}")};`,
  "nested generic()": `${header}.global .b64 x = ${nested("generic(", "x", ")")};`,
  "an array of 2^60 elements": `${header}.global .b32 x[1152921504606846976];`,
  "an array of 2^64 elements": `${header}.global .b32 x[0xffffffffffffffff];`,
  "an array of many dimensions": `${header}.global .b8 x${"[2]".repeat(many)};`,
  "many unknown names": kernel(list(many, (i) => `add.u32 a${i}, b${i}, c${i};`)),
  "many unknown opcodes": kernel(list(many, (i) => `op${i}.u32;`)),
  "many unknown modifiers": kernel(list(many, (i) => `add.m${i};`)),
  "an opcode of many modifiers": kernel(`add${".u32".repeat(many)} a, b, c;`),
  "an operand list without end": kernel(`add.u32 ${list(many, (i) => `%r${i}`, ", ")};`),
  "the same label, many times": kernel("L:\n".repeat(many)),
  "the same register, many times": kernel(".reg .b32 a;\n".repeat(many)),
  "many parameters of a kernel": kernel(
    "",
    list(many, (i) => `.param .b32 p${i}`, ", "),
  ),
  "a large parameter": kernel("", ".param .b8 x[8000000000]"),
  "many lines and a mistake": kernel(`.reg .b32 a;\n${"add.u32 a, a, 1;\n".repeat(300_000)}add.u32 b, a, a;`),
  "a NUL byte": kernel(".reg .b32 a\0;"),
  "many NUL bytes": header + "\0".repeat(many),
  "lone surrogates": kernel("\ud800 mov.b32 \udc00, \ud83d;"),
  "text beyond ASCII": kernel("mov.b32 é, 日本語;"),
  "a string without end": `${kernel("")}.file 1 "${"a".repeat(many)}`,
  "a comment without end": `${header}/*${" *".repeat(many)}`,
  "a module without a header": kernel("").slice(header.length),
  "a version of many digits": `.version ${"9".repeat(many)}.0\n.target sm_90\n`,
  "a number of many digits": kernel(`.reg .b32 a; mov.b32 a, ${"9".repeat(many)};`),
};

/** Each is valid, is loaded, and its kernels end in a result or a report. */
const valid: Readonly<Record<string, string>> = {
  "4,000,000,000 registers": kernel(".reg .b32 r<4000000000>; mov.b32 r3999999999, 1;"),
  "many registers": kernel(
    `.reg .b32 ${list(many, (i) => `a${i}`, ", ")};\n${list(many, (i) => `mov.b32 a${i}, ${i};`)}`,
  ),
  "many registers of a range": kernel(`.reg .b32 r<${many}>;\n${list(many, (i) => `mov.b32 r${i}, ${i};`)}`),
  "many labels": kernel(list(many, (i) => `L${i}:`)),
  "many branches": kernel(list(some, (i) => `bra L${i};\nL${i}:`)),
  "many functions": header + list(many, (i) => `.func f${i}() { ret; }`) + "\n.visible .entry k() { call f7; ret; }",
  "many kernels": header + list(500, (i) => `.entry k${i}() { ret; }`),
  "many declarations": header + list(many, (i) => `.extern .func f${i};`),
  "many variables": header + list(some, (i) => `.global .b32 x${i} = ${i};`),
  "many initial values": `${header}.global .b32 x[${many}] = {${list(many, String, ", ")}};`,
  "many blocks, one after the other": kernel("{ .reg .b32 a; mov.b32 a, 1; }\n".repeat(some)),
  "many comments": `${"// a\n".repeat(many)}${kernel("/**/".repeat(many))}`,
  "many lines of positions": kernel(`${list(some, (i) => `.loc 1 ${i + 1} 1`)}`) + '.file 1 "a.cu"\n',
  "a long line": kernel("{ .reg .b32 a; mov.b32 a, 1; }".repeat(some)),
  "a long name": kernel(`.reg .b32 ${"a".repeat(many)}; mov.b32 ${"a".repeat(many)}, 1;`),
  "many instructions": kernel(`.reg .b32 a;\n${"add.u32 a, a, 1;\n".repeat(some)}`),
  "many parameters of a function": `${header}.func f(${list(many, (i) => `.param .b32 p${i}`, ", ")}) { ret; }`,
  "a deep chain of calls": `${header}${list(10_000, (i) => `.func f${i};`)}\n${list(9999, (i) => `.func f${i} { call f${i + 1}; ret; }`)}\n.func f9999 { ret; }\n.entry k() { call f0; ret; }`,
  "a large ring of calls": `${header}${list(10_000, (i) => `.func f${i};`)}\n${list(10_000, (i) => `.func f${i} { call f${(i + 1) % 10_000}; ret; }`)}\n.entry k() { call f0; ret; }`,
  "recursion without end": `${header}.func f() { .local .b8 x[64]; call f; ret; }\n.entry k() { call f; ret; }`,
  "a loop without end": kernel("L: bra L;"),
  "a large global array": `${header}.global .b8 x[8000000000];\n.entry k() { ret; }`,
  "a large constant array": `${header}.const .b8 x[8000000000];\n.entry k() { ret; }`,
  "a large shared array": kernel(".shared .b8 x[8000000000];"),
  "a large local array": kernel(".local .b8 x[8000000000];"),
  "a parameter of a call, large": `${header}.func f(.param .b8 a[4000000000]) { ret; }\n.entry k() { { .param .b8 x[4000000000]; call f, (x); } ret; }`,
  "arrays aligned to a gigabyte": kernel(".shared .align 1073741824 .b8 x[1]; .local .align 1073741824 .b8 y[1];"),
  "Windows line ends": kernel(".reg .b32 a;\nmov.b32 a, 1;").replaceAll("\n", "\r\n"),
  "a byte order mark": `\ufeff${kernel("")}`,
  "blanks of all kinds": kernel("\t\v\f \r\n".repeat(many)),
};

describe("a hostile text is refused in time", () => {
  for (const [name, text] of Object.entries(refused)) {
    test(name, { timeout }, () => {
      expect(survive(text)).toBe("refused");
    });
  }
});

describe("a large or odd text that is valid is loaded in time", () => {
  for (const [name, text] of Object.entries(valid)) {
    test(name, { timeout }, () => {
      expect(survive(text)).not.toBe("refused");
    });
  }
});
