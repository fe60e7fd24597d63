import { expect, test } from "vitest";
import { expectSameReports, expectSameResults } from "./both-engines.ts";

// Accesses through pointers into the local memory of callers are checked where they found a variable last, as long as
// that variable is there whenever the function runs.

const threads = 80;
const words = (count: number): Uint8Array =>
  new Uint8Array(Uint32Array.from({ length: count }, (_, i) => i * 2_654_435_761).buffer);

const text = (functions: string, kernel: string): string => `.version 9.0
.target sm_90
.address_size 64
.func (.reg .b32 r) read (.reg .b64 p)
{
    ld.local.b32 r, [p];
    ret;
}
${functions}
.visible .entry k (.param .u64 out)
{
    .reg .b64 %out, %p, %at;
    .reg .b32 %t, %b, %n, %v, %s, %i;
    .reg .pred %q;
    .shared .align 8 .b8 sh[640];
    ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %b, %b, %n, %t;
    mad.wide.u32 %out, %b, 4, %out;
    ld.global.b32 %v, [%out];
    mov.u32 %s, 0;
    mov.u32 %i, 0;
${kernel}
    st.global.b32 [%out], %s;
    ret;
}
`;

const inner = `.func (.reg .b32 r, .reg .b64 p) inner (.reg .b32 v, .reg .b32 beyond)
{
    .reg .b64 d;
    .reg .b32 w;
    .local .align 8 .b8 x[8];
    st.local.b32 [x+4], v;
    mov.u64 p, x;
    cvt.u64.u32 d, beyond;
    add.u64 d, d, p;
    call (r), read, (d);
    ret;
}`;

const run = (ptx: string, block: number, grid = 3) => ({
  text: ptx,
  buffers: [words(block * grid)],
  launch: { grid, block },
});

/** A kernel's loop of a few rounds. */
const rounds = (body: string): string => `more:
${body}
    add.u32 %s, %s, %v;
    add.u32 %i, %i, 1;
    setp.lt.u32 %q, %i, 5;
    @%q bra more;`;

test.each([16, 48, threads, 128])("arrays of a caller that has one caller, in blocks of %i", (block) => {
  const kernel = rounds("    add.u32 %n, %v, %i;\n    call (%v, %p), inner, (%n, 4);");
  expectSameResults(run(text(inner, kernel), block));
});

test("a place of its own for each lane, written by some of them", () => {
  const put = `.func put (.reg .b64 p, .reg .b32 v)
{
    .reg .pred q;
    and.b32 v, v, 65535;
    setp.gt.u32 q, v, 20000;
    @q st.local.b32 [p], v;
    @!q st.local.b8 [p+1], v;
    ret;
}`;
  const kernel = `    .local .align 8 .b8 a[64];
${rounds(`    add.u32 %n, %v, %i;
    and.b32 %n, %n, 15;
    mov.u64 %p, a;
    mad.wide.u32 %at, %n, 4, %p;
    call put, (%at, %v);
    call (%v), read, (%p);
    add.u32 %v, %v, %t;
    call (%n), read, (%at);
    add.u32 %v, %v, %n;`)}`;
  expectSameResults(run(text(put, kernel), threads));
});

test("generic pointers into local, shared and global memory, by turns and at once", () => {
  const get = `.func (.reg .b32 r) get (.reg .b64 p)
{
    ld.b32 r, [p];
    st.b32 [p+4], r;
    ret;
}`;
  const kernel = `    .local .align 8 .b8 a[16];
    .reg .b64 %s1, %g;
    .reg .pred %u;
    mov.u32 %n, sh;
    mad.lo.u32 %n, %t, 8, %n;
    st.shared.b32 [%n], %t;
    cvt.u64.u32 %s1, %n;
    cvta.shared.u64 %s1, %s1;
${rounds(`    st.local.b32 [a+8], %v;
    mov.u64 %p, a;
    cvta.local.u64 %p, %p;
    add.u64 %p, %p, 8;
    call (%n), get, (%p);
    add.u32 %v, %v, %n;
    call (%n), get, (%s1);
    add.u32 %v, %v, %n;
    and.b32 %n, %t, 3;
    setp.eq.u32 %u, %n, %i;
    selp.b64 %at, %p, %s1, %u;
    call (%n), get, (%at);
    add.u32 %v, %v, %n;`)}`;
  expectSameResults(run(text(get, kernel), threads));
});

test("a function that waits at a barrier between its accesses", () => {
  const wait = `.func (.reg .b32 r) wait (.reg .b64 p, .reg .b32 v)
{
    ld.local.b32 r, [p];
    bar.sync 0;
    add.u32 r, r, v;
    st.local.b32 [p], r;
    bar.sync 0;
    ld.local.b32 r, [p];
    ret;
}
.func (.reg .b32 r) keep (.reg .b32 v)
{
    .reg .b64 p;
    .local .align 8 .b8 x[16];
    st.local.b32 [x+8], v;
    mov.u64 p, x;
    add.u64 p, p, 8;
    call (r), wait, (p, v);
    ret;
}`;
  expectSameResults(run(text(wait, rounds("    call (%v), keep, (%v);")), threads));
});

test("what a function may read of a caller's array it may not read when the caller has returned", () => {
  const kernel = `${rounds("    call (%v, %p), inner, (%v, 4);")}
    call (%n), read, (%p);
    add.u32 %s, %s, %n;`;
  const [report] = expectSameReports(run(text(inner, kernel), 32, 1));
  expect(report?.message).toContain("local");
});

test("an array that lay elsewhere before is found where it is", () => {
  const outer = `${inner}
.func (.reg .b32 r) outer (.reg .b32 v)
{
    .reg .b64 p;
    .local .align 8 .b8 y[48];
    st.local.b32 [y], v;
    call (r, p), inner, (v, 4);
    ld.local.b32 v, [y];
    add.u32 r, r, v;
    ret;
}`;
  const below = rounds("    call (%v), outer, (%v);");
  expectSameResults(run(text(outer, `${below}\n    call (%v, %p), inner, (%v, 4);`), threads));
  // Where `inner` is called by the kernel, nothing is where its array was before.
  const stray = run(text(outer, `${below}\n    call (%v, %p), inner, (%v, 68);`), 32, 1);
  expect(expectSameReports(stray)).toHaveLength(1);
});

test("arrays of functions that call themselves", () => {
  const sum = `.func (.reg .b32 r) sum (.reg .b32 n)
{
    .reg .pred q;
    .reg .b64 p;
    .reg .b32 v;
    .local .align 8 .b8 x[8];
    st.local.b32 [x+4], n;
    mov.u64 p, x;
    add.u64 p, p, 4;
    call (r), read, (p);
    setp.eq.u32 q, n, 0;
    @q ret;
    sub.u32 n, n, 1;
    call (v), sum, (n);
    add.u32 r, r, v;
    call (v), read, (p);
    add.u32 r, r, v;
    ret;
}`;
  expectSameResults(run(text(sum, rounds("    and.b32 %n, %v, 7;\n    call (%v), sum, (%n);")), threads));
});
