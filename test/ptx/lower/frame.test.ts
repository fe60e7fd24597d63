import { expect, test } from "vitest";
import { Device } from "../../../src/index.ts";
import { checkPtx } from "../../../src/ptx/check/check.ts";
import { linkPtx } from "../../../src/ptx/link/resolve.ts";
import { lowerModules } from "../../../src/ptx/lower/lower.ts";
import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { SourceText } from "../../../src/source/index.ts";

const header = ".version 8.0\n.target sm_80\n.address_size 64\n";

/** A call in a block that declares its arguments, as nvcc writes it. */
const call = (callee: string, type: string, argument: string, result: string) => `{
  .param .b${type} param0;
  .param .b32 retval0;
  st.param.b${type} [param0], ${argument};
  call.uni (retval0), ${callee}, (param0);
  ld.param.b32 ${result}, [retval0];
}
`;

const lower = (text: string) => {
  const checked = checkPtx(parsePtx(new SourceText("frame.ptx", header + text)).tree);
  expect(checked.diagnostics.map((d) => d.message)).toEqual([]);
  const { names } = linkPtx([checked], () => false);
  return lowerModules([checked], names, "sm_80");
};

/** `f(n)` calls itself with `n - 1` at the last of 500 call sites. A thread has 512 KiB of stack. */
const recursion = `.visible .func (.param .b32 result) f(.param .b32 n)
{
  .reg .pred %p;
  .reg .b32 %n, %r, %s;
  ld.param.b32 %n, [n];
  mov.b32 %s, 0;
  setp.eq.u32 %p, %n, 0;
  @%p bra done;
  add.u32 %r, %n, -1;
  bra last;
  ${call("f", "32", "%r", "%s").repeat(499)}
  last:
  ${call("f", "32", "%r", "%s")}
  add.u32 %s, %s, %n;
  done:
  st.param.b32 [result], %s;
  ret;
}
.visible .entry k(.param .u64 out)
{
  .reg .b64 %o;
  .reg .b32 %r, %s;
  ld.param.u64 %o, [out];
  mov.b32 %r, 1000;
  ${call("f", "32", "%r", "%s")}
  st.global.u32 [%o], %s;
  ret;
}`;

test("calls in separate blocks share the space of their arguments", () => {
  const f = lower(recursion).functions.find((g) => g.name === "f")!;
  expect(f.frame.map((v) => `${v.name} ${v.size}`)).toEqual(["n 4", "result 4", "param0 4", "retval0 4"]);
});

test("a function with 500 call sites can recurse 1000 levels deep", () => {
  const device = new Device();
  const out = device.buffer("u32", 1);
  const { reports } = device
    .load(header + recursion)
    .kernel("k")
    .launch({ grid: 1, block: 1, args: [out] });
  expect(reports.map((r) => r.message)).toEqual([]);
  expect([...out.read()]).toEqual([(1000 * 1001) / 2]);
});

test("a variable keeps its space to the end of its block, and never shares it with one of another size", () => {
  const f = lower(`.func (.param .b32 r) g(.param .b32 n) { st.param.b32 [r], 1; ret; }
.func (.param .b32 r) h(.param .b64 n) { st.param.b32 [r], 1; ret; }
.func f() {
  .reg .b32 %a;
  .reg .b64 %b;
  mov.b32 %a, 1;
  mov.b64 %b, 1;
  {
    .param .b32 param0;
    st.param.b32 [param0], %a;
    ${call("g", "32", "%a", "%a")}
    ${call("h", "64", "%b", "%a")}
  }
  ${call("g", "32", "%a", "%a")}
  { .local .b32 l; st.local.b32 [l], %a; }
  { .local .b32 l; st.local.b32 [l], %a; }
  ret;
}`).functions.find((g) => g.name === "f")!;
  expect(f.frame.map((v) => `${v.name} ${v.size}`)).toEqual([
    "param0 4",
    "param0 4",
    "retval0 4",
    "param0 8",
    "l 4",
    "l 4",
  ]);
});
