import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

const header = `.version 9.0
.target sm_90
.address_size 64
.func (.reg .b32 r) read (.reg .b64 p)
{
    ld.u32 r, [p];
    ret;
}
.func write (.reg .b64 p, .reg .b32 v)
{
    st.u32 [p], v;
    ret;
}
.func (.reg .b64 p) dangling (.reg .b32 v)
{
    .local .b32 own[2];
    st.local.u32 [own], v;
    mov.u64 p, own;
    cvta.local.u64 p, p;
    ret;
}
.func (.reg .b32 r) below (.reg .b64 before)
{
    .reg .b64 size, now, p, e;
    .reg .b32 v;
    .reg .pred q;
    stacksave.u64 now;
    setp.eq.u64 q, now, before;
    selp.b32 r, 1, 0, q;
    mov.u64 size, 24;
    alloca.u64 p, size, 8;
    add.u64 e, p, size;
    setp.le.u64 q, e, now;
    selp.b32 v, 2, 0, q;
    add.u32 r, r, v;
    ret;
}
.func (.reg .b32 r) pieces (.reg .b32 n)
{
    .reg .b64 size, p, e, at, saved;
    .reg .b32 i, v;
    .reg .pred q;
    .local .b32 x[4];
    add.u32 i, n, 1;
    mul.wide.u32 size, i, 4;
    stacksave.u64 saved;
    alloca.u64 p, size, 16;
    mov.u64 e, p;
    stackrestore.u64 saved;
    alloca.u64 p, size, 16;
    setp.ne.u64 q, p, e;
    selp.b32 r, 1000, 0, q;
    mov.u32 i, 0;
more:
    mad.wide.u32 at, i, 4, p;
    mul.lo.u32 v, i, i;
    st.local.u32 [at], v;
    st.local.u32 [x+8], v;
    add.u32 i, i, 1;
    setp.le.u32 q, i, n;
    @q bra more;
    setp.eq.u32 q, n, 0;
    @q bra done;
    sub.u32 i, n, 1;
    call (r), pieces, (i);
done:
    mad.wide.u32 at, n, 4, p;
    ld.local.u32 v, [at];
    add.u32 r, r, v;
    ld.local.u32 v, [x+8];
    add.u32 r, r, v;
    cvta.local.u64 at, at;
    ld.u32 v, [at];
    add.u32 r, r, v;
    ret;
}
.func (.reg .b32 r) count (.reg .b32 n)
{
    .reg .pred q;
    .local .b32 x[2];
    st.local.u32 [x+4], n;
    mov.u32 r, 0;
    setp.eq.u32 q, n, 0;
    @q ret;
    sub.u32 n, n, 1;
    call (r), count, (n);
    ld.local.u32 n, [x+4];
    add.u32 r, r, n;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b64 %o, %p, %q, %i;
    .reg .b32 %t, %r, %n, %v;
    .reg .pred p, q;
    .local .align 8 .b32 mine[8];
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    cvt.u64.u32 %i, %t;
    mad.wide.u32 %o, %t, 4, %o;
    and.b32 %n, %t, 7;
    setp.lt.u32 p, %n, 3;
    mov.u32 %r, 0;
    mov.u64 %p, mine;
`;

/** The functions that the compiled code cannot go on with are none of these. */
const programs = {
  "an array that lanes index as they like": `
    mul.lo.u32 %v, %t, %t;
    st.local.u32 [mine+12], %v;
    mad.wide.u32 %q, %n, 4, %p;
    st.local.u32 [%q], %t;
    @p st.local.u32 [%q+4], %v;
    ld.local.v2.u32 {%v, %r}, [mine+8];
    add.u32 %r, %r, %v;
    ld.local.u32 %v, [%q+4];
    add.u32 %r, %r, %v;`,
  "bytes and halves of it": `
    mul.wide.u32 %q, %n, 2;
    add.u64 %q, %q, %p;
    st.local.u16 [%q+1], %t;
    ld.local.u8 %r, [%q+1];`,
  "elements of every size": `
    mad.wide.u32 %q, %n, 2, %p;
    st.local.v2.u16 [%p+4], {%t, %n};
    st.local.u8 [%q], %t;
    @p st.local.u16 [%q+2], %t;
    ld.local.s8 %r, [%q];
    ld.local.u16 %v, [%p+6];
    add.u32 %r, %r, %v;
    ld.local.v4.u8 {%v, %n, %t, %t}, [%p+4];
    add.u32 %r, %r, %v;`,
  "a pointer to it that functions are given": `
    cvta.local.u64 %p, %p;
    mad.wide.u32 %q, %n, 4, %p;
    @!p call write, (%q, %t);
    call write, (%p, %n);
    call (%r), read, (%q);
    call (%v), read, (%p);
    add.u32 %r, %r, %v;`,
  "a pointer that leads elsewhere in some lanes": `
    cvta.local.u64 %p, %p;
    cvta.global.u64 %q, %o;
    selp.b64 %q, %p, %q, p;
    call write, (%q, %t);
    call (%r), read, (%q);`,
  "a pointer to a frame that is gone": `
    call (%p), dangling, (%t);
    call (%r), read, (%p);`,
  "a pointer to a frame in which there is another now": `
    call (%p), dangling, (%t);
    call (%q), dangling, (%n);
    call (%v), pieces, (%n);
    @p call write, (%p, %v);`,
  "beyond the array": "@!p st.local.u32 [%p+32], %t;",
  "beyond the array, by an index": `
    mad.wide.u32 %q, %t, 4, %p;
    st.local.u32 [%q], %t;`,
  "what alloca gives": `
    add.u64 %q, %i, 1;
    shl.b64 %q, %q, 2;
    alloca.u64 %q, %q, 8;
    st.local.u32 [%q], %t;
    call (%r), pieces, (%n);
    ld.local.u32 %v, [%q];
    add.u32 %r, %r, %v;
    cvt.u32.u64 %v, %q;
    add.u32 %r, %r, %v;`,
  "beyond what alloca gives": `
    shl.b64 %q, %i, 2;
    alloca.u64 %q, %q, 8;
    mad.wide.u32 %q, %n, 4, %q;
    st.local.u32 [%q], %t;`,
  "more than there is": "mov.u64 %q, 400000; alloca.u64 %p, %q, 8; @!p alloca.u64 %q, %q, 8;",
  "arrays outlive a barrier, beside calls of any depth": `
    mad.wide.u32 %q, %n, 4, %p;
    st.local.u32 [%q], %t;
    call (%v), count, (%n);
    bar.sync 0;
    call (%r), count, (%t);
    add.u32 %r, %r, %v;
    bar.sync 0;
    ld.local.u32 %v, [%q];
    add.u32 %r, %r, %v;`,
} as const;

function run(body: string, engine: "interpreter" | "jit") {
  const device = new Device();
  const kernel = device.load(`${header}${body}\n    st.global.u32 [%o], %r;\n    ret;\n}`).kernel("k");
  const out = device.buffer("u32", 80);
  const result = kernel.launch({ grid: 1, block: 80, args: [out], engine });
  const reports = result.reports.map(({ code, message, span, threads, stack }) => {
    return { code, message, span, thread: threads[0], stack };
  });
  return { engine: result.engine, outcome: { reports, memory: reports.length > 0 ? null : [...out.read()] } };
}

test.each(Object.entries(programs))("%s", (_name, body) => {
  const { engine, outcome } = run(body, "jit");
  expect(engine).toBe("jit");
  expect(outcome).toEqual(run(body, "interpreter").outcome);
});

// Section 9.7.17.3: the stack grows down, and what a function allocates is deallocated when it exits.
test.each(["interpreter", "jit"] as const)("a callee allocates below its caller, in the %s", (name) => {
  const { engine, outcome } = run(
    `
    add.u64 %q, %i, 1;
    alloca.u64 %p, %q, 8;
    call (%r), below, (%p);
    stacksave.u64 %q;
    sub.u64 %q, %p, %q;
    cvt.u32.u64 %v, %q;
    add.u32 %r, %r, %v;`,
    name,
  );
  expect(engine).toBe(name);
  expect(outcome).toEqual({ reports: [], memory: Array(80).fill(3) });
});
