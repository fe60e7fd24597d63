import { describe, expect, test } from "vitest";
import { printLinked } from "../../../src/ptx/link/print.ts";
import { linkToText } from "../../../src/runtime/index.ts";
import { header, lines, linked, sourcesOf } from "./linked.ts";

const print = (...items: string[]): string => printLinked(linked(items.map((text) => header + text)));

const declaredBeforeUse = `.version 9.0
.target sm_90
.address_size 64

.weak .func g(
    .param .b32 x
) // what it does
.noreturn;

.extern .global .align 8 .b8 later[16];
.global .u64 p = later+8;
.visible .global .align 8 .b8 first[2];
.visible .global .align 8 .b8 later[16] = {1, 2};

.visible .entry k()
{
    .param .b32 x;
    st.param.b32 [x], 1;
    call g, (x);
    ret;
}

.weak .func g(
    .param .b32 x
) // what it does
.noreturn
{
    exit;
}
`;

describe("the text of a linked program", () => {
  test("declares everything before it is used", () => {
    const text = print(
      ".extern .func g(.param .b32 x);\n.extern .global .align 8 .b8 later[16];\n.global .u64 p = later+8;\n.visible .entry k() { .param .b32 x; st.param.b32 [x], 1; call g, (x); ret; }",
      ".weak .func g(.param .b32 x) // what it does\n.noreturn\n{ exit; }\n.visible .global .align 8 .b8 first[2], later[16] = { 1, 2 };",
    );
    expect(text).toBe(declaredBeforeUse);
  });

  test("renumbers files and leaves out references to debug sections", () => {
    const text = print(
      '.file 1 "a.cu"\n.file 2 "h.h", 5, 6\n.visible .entry k() {\n.loc 1 3 4\n.loc 2 5 6, function_name L+4, inlined_at 1 3 4\nret; }\n.section .debug_str { L: .b8 1 }',
      '.file 1 "h.h", 5, 6\n.file 7 "b.cu"\n.visible .entry j() {\n.loc 7 1 1\n.loc 1 2 2\nret; }\n.section .debug_str { L: .b8 1 }',
    );
    expect(text.match(/\.(file|loc) .*|\.section/g)).toEqual([
      '.file 1 "a.cu"',
      '.file 2 "h.h", 5, 6',
      '.file 3 "b.cu"',
      ".loc 1 3 4",
      ".loc 2 5 6",
      ".loc 3 1 1",
      ".loc 2 2 2",
    ]);
  });

  test("renames static functions together with their uses", () => {
    const text = print(
      ".func f() { ret; }\n.visible .entry a() { call f; ret; }",
      ".func f() { ret; }\n.global .u64 t = f;\n.visible .entry b() { .reg .b64 f$; mov.u64 f$, t; call f; ret; }",
    );
    expect(text).toContain("{\n    call f;\n    ret;\n}");
    expect(text).toContain("mov.u64 f$, t;\n    call f$$2;");
    expect(text).toContain(".global .u64 t = f$$2;");
  });

  test("has the linkage of a declaration", () => {
    expect(print(".visible .func f();\n.func f() { ret; }")).toContain(".visible .func f()\n{");
  });

  test("has the newest version and target of its modules", () => {
    const old = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry a() { ret; }";
    const text = printLinked(linked([old, header + ".visible .entry b() { ret; }"]));
    expect(text).toMatch(/^\.version 9\.0\n\.target sm_90\n\.address_size 64\n/);
    const oldest = ".version 1.4\n.target sm_13\n.entry a() { exit; }";
    expect(printLinked(linked([oldest]))).toMatch(/^\.version 1\.4\n\.target sm_13\n\n\.entry/);
  });

  test("is refused if a module needs an older version", () => {
    const old = `.version 6.0
.target sm_60
.address_size 64
.visible .entry a() {
  .reg .b32 r;
  shfl.idx.b32 r, r, 0, 31;
  ret;
}`;
    const { text, diagnostics } = linkToText(sourcesOf([old, header + ".visible .entry b() { ret; }"]));
    expect(text).toBeNull();
    expect(lines(diagnostics)).toEqual(["a.ptx:6 error removed: 'shfl.idx.b32' was removed for sm_90 in PTX ISA 6.4"]);
  });
});
