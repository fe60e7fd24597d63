import { describe, expect, test } from "vitest";
import { Device, LoadError, NotExecutableError } from "../../src/runtime/index.ts";
import { surviveCisa, surviveText } from "./survive-visa.ts";

const timeout = 120_000;
const many = 40_000;
const some = 8_000;
const list = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join("");
const kernel = (declarations: string, body = "", behind = ""): string => `.version 3.6
.kernel "k"
.decl X v_type=G type=ud num_elts=64 align=GRF
.decl P v_type=P num_elts=32
${declarations}.kernel_attr SimdSize=16
.function "m"
m:
${body}    ret (M1, 1)
${behind}`;
const add = "    add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> 1:ud\n";

/** Each is refused with diagnostics. */
const refused: Readonly<Record<string, string>> = {
  "lines of garbage": list(many, (i) => `${(i * 2_654_435_761).toString(36)} ?(<&${i}\n`),
  zeros: "\0".repeat(10_000_000),
  "nested scopes": kernel("", "{\n".repeat(many) + "}\n".repeat(many)),
  parentheses: kernel(`.decl Z v_type=G type=ud num_elts=${"(".repeat(many)}1\n`),
  "a sum without end": kernel(`.decl Z v_type=G type=ud num_elts=1${"+1".repeat(many)}\n`),
  "a comment without end": `${kernel("")}/*${" *".repeat(many)}`,
  "a string without end": kernel("", `    .file "${"a".repeat(many)}\n`),
  "a number of many digits": kernel("", `    mov (M1, 1) X(0,0)<1> 0x${"f".repeat(many)}:ud\n`),
  suffixes: kernel("", `    add${".sat".repeat(many)} (M1, 16) X(0,0)<1> X(0,0)<1;1,0> 1:ud\n`),
  "unknown mnemonics": kernel(
    "",
    list(many, (i) => `    op${i} (M1, 16) X\n`),
  ),
  "unknown variables": kernel(
    "",
    list(many, (i) => `    mov (M1, 1) Y${i}(0,0)<1> 0:ud\n`),
  ),
  "the same variable": kernel(".decl X v_type=G type=ud num_elts=1\n".repeat(many)),
  "the same label": kernel("", "L:\n".repeat(many)),
  "a ring of aliases": kernel(
    list(some, (i) => `.decl Y${i} v_type=G type=ud num_elts=1 alias=<Y${(i + 1) % some}, 0>\n`),
  ),
  "a ring of subroutines": kernel(
    "",
    "    call (M1, 16) s0\n",
    list(some, (i) => `.function "s${i}"\ns${i}:\n    call (M1, 16) s${(i + 1) % some}\n    ret (M1, 16)\n`),
  ),
  "wide variables": kernel(list(100, (i) => `.decl W${i} v_type=G type=uq num_elts=65535 align=GRF\n`)),
};

/** Each is valid, and comes to a result or to a limit that is documented. */
const valid: Readonly<Record<string, string>> = {
  instructions: kernel("", add.repeat(many)),
  declarations: kernel(
    list(many, (i) => `.decl Y${i} v_type=G type=ud num_elts=1\n`),
    add,
  ),
  inputs: kernel(
    list(some, (i) => `.decl Y${i} v_type=G type=ub num_elts=1\n.input Y${i} offset=${64 + i} size=1\n`),
    add,
  ),
  labels: kernel(
    "",
    list(many, (i) => `L${i}:\n`),
  ),
  jumps: kernel(
    "",
    list(some, (i) => `L${i}:\n    (P) goto (M1, 16) L${(i * 7919) % some}\n`),
  ),
  "a chain of aliases": kernel(
    list(some, (i) => `.decl Y${i} v_type=G type=ud num_elts=1 alias=<${i === 0 ? "X" : `Y${i - 1}`}, 0>\n`),
    add,
  ),
  "scopes, one after the other": kernel(
    "",
    "{\n.decl Y v_type=G type=ud num_elts=1\n    mov (M1, 1) Y(0,0)<1> 0:ud\n}\n".repeat(some),
  ),
  subroutines: kernel(
    "",
    add,
    list(some, (i) => `.function "s${i}"\ns${i}:\n    ret (M1, 16)\n`),
  ),
  functions: kernel(
    "",
    add,
    list(
      some,
      (i) =>
        `.global_function "f${i}"\n.kernel_attr ArgSize=0\n.kernel_attr RetValSize=0\n.function "m"\nm:\n    fret (M1, 16)\n`,
    ),
  ),
  "a long name": kernel(`.decl ${"N".repeat(many)} v_type=G type=ud num_elts=1\n`, add),
  comments: kernel("", `${"// x\n".repeat(many)}${"/* */".repeat(many)}\n`),
};

function load(text: string): void {
  const module = new Device({ maxSteps: 20_000 }).load([{ path: "k.visaasm", text }], { isa: "visa" });
  const kernel = module.kernel("k");
  if (kernel.ir === null) throw new Error("no kernel");
  try {
    kernel.requireExecutable();
  } catch (error) {
    if (!(error instanceof NotExecutableError)) throw error;
  }
}

describe("a hostile text is refused in time", () => {
  test.each(Object.entries(refused))("%s", { timeout }, (_name, text) => {
    surviveText(text);
    expect(() => load(text)).toThrow(LoadError);
  });
});

describe("a large text that is valid is loaded in time", () => {
  test.each(Object.entries(valid))("%s", { timeout }, (_name, text) => {
    surviveText(text);
    load(text);
  });
});

test("a file of nothing but zeros after its header", { timeout }, () => {
  const bytes = new Uint8Array(20_000_000);
  bytes.set([0x43, 0x49, 0x53, 0x41, 3, 6, 0xff, 0xff]);
  surviveCisa(bytes);
});
