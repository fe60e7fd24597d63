import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

const header = `.version 9.0
.target sm_90
.address_size 64
.func (.reg .b32 r) swapped (.reg .b32 a, .reg .b32 mask)
{
    shfl.sync.bfly.b32 r, a, 1, 31, mask;
    ret;
}
.func (.reg .b32 r) sums (.reg .b32 a, .reg .b32 mask)
{
    .reg .b32 n, x;
    .reg .pred p;
    redux.sync.add.u32 r, a, mask;
    match.any.sync.b32 n, a, mask;
    vote.sync.ballot.b32 x, 1, mask;
    shfl.sync.down.b32 mask|p, r, 1, 31, mask;
    add.u32 r, r, n;
    xor.b32 r, r, x;
    @p add.u32 r, r, mask;
    ret;
}
.func (.reg .b32 r) early (.reg .b32 a)
{
    .reg .pred p;
    mov.u32 r, 7;
    setp.lt.u32 p, a, 8;
    @p ret;
    call (r), swapped, (a, 0xffffffff);
    add.u32 r, r, 100;
    ret;
}
.func (.reg .b32 r) ends (.reg .b32 a)
{
    .reg .pred p;
    setp.lt.u32 p, a, 8;
    @p exit;
    call (r), swapped, (a, 0xffffffff);
    add.u32 r, r, 100;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b64 %o;
    .reg .b32 %t, %r, %m, %r3;
    .reg .pred p;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %o, %t, 4, %o;
    and.b32 %t, %t, 31;
    setp.lt.u32 p, %t, 8;
    mov.u32 %r, 0;
    mov.u32 %r3, 3;
`;

/** The mask of a lane and its neighbour. */
const pairs = "and.b32 %m, %t, 0x1e;\nshl.b32 %m, %r3, %m;\n";

/** What is left of a function by then decides whether it can wait for others: compiled functions cannot. */
const programs = [
  ["all lanes meet in a function", "jit", "call (%r), swapped, (%t, 0xffffffff);"],
  ["lanes meet that have come together", "jit", "@p call (%r), swapped, (%t, 0xff);"],
  ["those who have ended are not waited for", "jit", "@p exit;\ncall (%r), swapped, (%t, 0xffffffff);"],
  ["nor those who have ended in a function", "jit", "call (%r), ends, (%t);"],
  [
    "two halves meet, which have come one after the other",
    "interpreter",
    "@p bra other;\ncall (%r), swapped, (%t, 0xffffffff);\nbra done;\nother:\ncall (%r), swapped, (%t, 0xffffffff);\ndone:",
  ],
  ["some have returned", "interpreter", "call (%r), early, (%t);"],
  ["pairs meet, each with its own mask", "jit", `${pairs}call (%r), swapped, (%t, %m);`],
  ["pairs meet among the lanes that have come", "jit", `${pairs}@p call (%r), swapped, (%t, %m);`],
  ["pairs meet after others have ended", "jit", `@!p exit;\n${pairs}call (%r), swapped, (%t, %m);`],
  ["halves and pairs meet", "jit", `${pairs}@!p mov.u32 %m, 0xffffff00;\ncall (%r), sums, (%t, %m);`],
  ["one of a pair names all", "interpreter", `${pairs}@p mov.u32 %m, 0xffffffff;\ncall (%r), swapped, (%t, %m);`],
] as const;

function run(body: string, engine: "interpreter" | "jit") {
  const device = new Device();
  const kernel = device.load(`${header}${body}\nst.global.u32 [%o], %r;\nret;\n}`).kernel("k");
  const out = device.buffer("u32", 64);
  const result = kernel.launch({ grid: 1, block: 64, args: [out], engine });
  const reports = result.reports.map(({ code, message, span, threads }) => ({ code, message, span, threads }));
  return { engine: result.engine, outcome: { out: [...out.read()], reports } };
}

test.each(programs)("%s (%s)", (_name, by, body) => {
  const { engine, outcome } = run(body, "jit");
  expect(outcome).toEqual(run(body, "interpreter").outcome);
  expect(engine).toBe(by);
});
