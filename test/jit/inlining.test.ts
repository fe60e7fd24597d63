import { expect, test } from "vitest";
import { SourceText } from "../../src/index.ts";
import { inlineCalls, promoteFrames } from "../../src/ir/flow/index.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { expectSameReports, expectSameResults } from "./both-engines.ts";

const kernel = (body: string): string => `
.visible .entry k(.param .u64 out)
{
    .reg .b64 %o, %w;
    .reg .b32 %t, %r, %s, %n;
    .reg .pred %p;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %o, %t, 4, %o;
    mov.u32 %r, 7;
${body}
    st.global.b32 [%o], %r;
    ret;
}`;

const head = ".version 9.0\n.target sm_90\n.address_size 64\n";

const twice = `.func (.reg .b32 r) twice (.reg .b32 x) { add.u32 r, x, x; ret; }`;

/** 3n + 1, or half of it, as often as it is asked for. */
const collatz = `
.func (.reg .b32 n) collatz (.reg .b32 x, .reg .b32 times)
{
    .reg .pred p;
    .reg .b32 odd;
    mov.u32 n, x;
again:
    setp.eq.u32 p, times, 0;
    @p ret;
    sub.u32 times, times, 1;
    and.b32 odd, n, 1;
    setp.ne.u32 p, odd, 0;
    @p bra up;
    shr.u32 n, n, 1;
    bra again;
up:
    mad.lo.u32 n, n, 3, 1;
    bra again;
}`;

/** Of \`seen\` nothing is known but that it begins as 0: each time. */
const fresh = `
.func (.reg .b32 r) fresh (.reg .b32 x)
{
    .reg .b32 seen;
    add.u32 seen, seen, x;
    mov.u32 r, seen;
    ret;
}`;

const parted = `
.func (.reg .b32 low, .reg .b32 high) parted (.reg .b64 x)
{
    mov.b64 {low, high}, x;
    ret;
}`;

/** By name: functions, what a kernel does, how many calls are left, and what thread t gets. */
const cases: readonly (readonly [string, string, string, number, (t: number) => number])[] = [
  ["one instruction", twice, "call (%r), twice, (%t);", 0, (t) => 2 * t],
  ["in some lanes", twice, "setp.gt.u32 %p, %t, 40;\n@%p call (%r), twice, (%t);", 0, (t) => (t > 40 ? 2 * t : 7)],
  [
    "lanes that return at different times",
    collatz,
    "and.b32 %n, %t, 7;\ncall (%r), collatz, (%t, %n);",
    0,
    (t) => {
      let n = t;
      for (let i = 0; i < (t & 7); i++) n = n % 2 === 0 ? n / 2 : 3 * n + 1;
      return n;
    },
  ],
  [
    "registers that begin as zeros, in a loop",
    fresh,
    "mov.u32 %n, 0;\nagain: call (%r), fresh, (%t);\nadd.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 5;\n@%p bra again;",
    0,
    (t) => t,
  ],
  [
    "two results, of which one is dropped",
    parted,
    "mul.wide.u32 %w, %t, 0x10000001;\ncall (_, %r), parted, (%w);",
    0,
    (t) => t >>> 4,
  ],
  [
    "functions that call others",
    `${twice}\n.func (.reg .b32 r) fourfold (.reg .b32 x) { .reg .b32 y; call (y), twice, (x); call (r), twice, (y); ret; }`,
    "call (%r), fourfold, (%t);",
    0,
    (t) => 4 * t,
  ],
  [
    "parameters as compilers pass them",
    `.func (.param .b32 r) third (.param .b32 x)
{ .reg .b32 %a; ld.param.u32 %a, [x]; div.u32 %a, %a, 3; st.param.b32 [r], %a; ret; }`,
    `{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call (b), third, (a); ld.param.b32 %r, [b]; }`,
    0,
    (t) => Math.floor(t / 3),
  ],
  [
    "results that are arguments",
    twice,
    "mov.u32 %r, %t;\ncall (%r), twice, (%r);\ncall (%r), twice, (%r);",
    0,
    (t) => 4 * t,
  ],
  [
    "more than there is room for",
    `.func (.reg .b32 r) more (.reg .b32 x) { mov.u32 r, x;\n${"add.u32 r, r, 1;\n".repeat(18)}ret; }`,
    `mov.u32 %r, 0;\n${"call (%r), more, (%r);\n".repeat(30)}`,
    23,
    () => 540,
  ],
  [
    "a function that is seen, since it stores",
    ".func put (.reg .b64 at, .reg .b32 x) { st.global.b32 [at], x; ret; }",
    "call put, (%o, %t);\nld.global.b32 %r, [%o];",
    1,
    (t) => t,
  ],
];

test.each(cases)("%s", (_, functions, body, left, expected) => {
  const text = `${head}${functions}\n${kernel(body)}`;
  const [out] = expectSameResults({
    text,
    buffers: [new Uint8Array(4 * 100)],
    launch: { grid: 1, block: 100 },
  });
  expect([...new Uint32Array(out!.buffer, out!.byteOffset, 100)]).toEqual(
    Array.from({ length: 100 }, (_, t) => expected(t)),
  );
  expect(callsIn(text)).toBe(left);
});

/** Calls that are left in the kernel when functions have been copied. */
function callsIn(text: string): number {
  const { module } = compile([new SourceText("k.ptx", text)], {});
  const { functions } = promoteFrames(module!);
  const places = new Map(functions.map((f, i) => [f.name, i]));
  const all = inlineCalls(functions, (name) => places.get(name) ?? null) ?? functions.map((ir) => ({ ir }));
  return all[places.get("k")!]!.ir.instructions.filter(({ op }) => op.kind === "call").length;
}

test("what goes wrong after copies is reported where it stands", () => {
  const text = `${head}${twice}\n${kernel("call (%r), twice, (%t);\ncvt.u64.u32 %w, %r;\nst.global.b32 [%w], %r;")}`;
  const [report] = expectSameReports({ text, buffers: [new Uint8Array(4 * 32)], launch: { grid: 1, block: 32 } });
  expect(report?.line).toBe(text.slice(0, text.indexOf("st.global")).split("\n").length);
});
