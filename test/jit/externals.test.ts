import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

const header = `.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 size);
.extern .func free (.param .b64 pointer);
.extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 args);
.extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size);
.global .align 1 .b8 text[9] = {37, 100, 32, 37, 108, 108, 117, 10, 0};
.global .align 1 .b8 what[2] = {120, 0};
.global .align 8 .u64 kept;
.func (.reg .b64 p) take (.reg .b64 size)
{
    .param .b64 s; .param .b64 r;
    st.param.b64 [s], size;
    call (r), malloc, (s);
    ld.param.b64 p, [r];
    ret;
}
.func give (.reg .b64 p)
{
    .param .b64 s;
    st.param.b64 [s], p;
    call free, (s);
    ret;
}
.func print (.reg .b32 a, .reg .b64 b)
{
    .local .align 8 .b8 args[16];
    .reg .b64 at, f; .reg .b32 n;
    .param .b64 x; .param .b64 y; .param .b32 r;
    st.local.b32 [args], a;
    st.local.b64 [args+8], b;
    mov.u64 at, args;
    cvta.local.u64 at, at;
    mov.u64 f, text;
    cvta.global.u64 f, f;
    st.param.b64 [x], f;
    st.param.b64 [y], at;
    call (r), vprintf, (x, y);
    ld.param.b32 n, [r];
    ret;
}
.func early (.reg .b32 a)
{
    .reg .pred p;
    setp.gt.u32 p, a, 30;
    @p bra behind;
    add.u32 a, a, 1;
behind:
    call print, (a, 1);
    call print, (a, 2);
    ret;
}
.func late (.reg .b32 a)
{
    call print, (a, 3);
    call print, (a, 4);
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b64 %o, %p, %q, %i;
    .reg .b32 %t, %r, %n;
    .reg .pred p, q;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %n, %ctaid.x;
    mad.lo.u32 %n, %n, 48, %t;
    mad.wide.u32 %o, %n, 4, %o;
    cvt.u64.u32 %i, %t;
    setp.lt.u32 p, %t, 20;
    mov.u32 %r, 0;
`;

const programs = {
  "lanes print in their order, some before others": `
    @p call print, (%t, %i);
    @!p call print, (%n, 18446744073709551615);
    and.b32 %r, %t, 3;
    setp.eq.u32 q, %r, 1;
    @q call print, (%r, %i);`,
  "functions that are called by address print one after the other": `
    .reg .b64 f, g;
    mov.u64 f, early;
    mov.u64 g, late;
    and.b32 %r, %t, 1;
    setp.eq.u32 q, %r, 0;
    selp.b64 f, f, g, q;
like: .callprototype _ (.reg .b32 _);
    call f, (%t), like;`,
  "every lane has memory of its own, and gives it back": `
    shl.b64 %q, %i, 2;
    add.u64 %q, %q, 4;
    call (%p), take, (%q);
    add.u64 %q, %p, %q;
    st.global.u32 [%q+-4], %t;
    ld.global.u32 %r, [%q+-4];
    call give, (%p);`,
  "more memory than the device has had": `
    mov.u64 %q, 400000;
    call (%p), take, (%q);
    st.global.u32 [%p+399996], %t;
    ld.global.u32 %r, [%p+399996];
    call print, (%r, %i);
    call (%q), take, (8);
    st.global.u32 [%q], %r;
    ld.global.u32 %r, [%p+399996];`,
  "no memory is null": `
    mov.u64 %q, 0x7fffffffffff;
    call (%p), take, (%q);
    cvt.u32.u64 %r, %p;`,
  "what is freed is gone, though an instruction has just found it": `
    mov.u32 %n, 0;
again:
    call (%p), take, (64);
    setp.eq.u32 q, %n, 2;
    @q call give, (%p);
    ld.global.u32 %r, [%p+8];
    add.u32 %n, %n, 1;
    setp.lt.u32 q, %n, 3;
    @q bra again;`,
  "what a pointer in memory leads to is gone when another lane has freed it": `
    setp.eq.u32 q, %t, 0;
    call (%p), take, (16);
    @q st.global.u64 [kept], %p;
    ld.volatile.global.u64 %q, [kept];
    ld.global.u32 %r, [%q];
    setp.eq.u32 q, %t, 40;
    @q call give, (%q);
    ld.global.u32 %r, [%q];`,
  "free is given what malloc has not given": `
    @!p call give, (%o);`,
  "an assertion fails in some lanes": `
    mov.u64 %p, what;
    cvta.global.u64 %p, %p;
    {
    .param .b64 a, b, d, e; .param .b32 c;
    st.param.b64 [a], %p;
    st.param.b64 [b], %p;
    st.param.b32 [c], %t;
    st.param.b64 [d], %p;
    st.param.b64 [e], 1;
    @!p call __assertfail, (a, b, c, d, e);
    }`,
} as const;

function run(body: string, engine: "interpreter" | "jit") {
  const device = new Device();
  const kernel = device.load(`${header}${body}\n    st.global.u32 [%o], %r;\n    ret;\n}`).kernel("k");
  const out = device.buffer("u32", 96);
  const result = kernel.launch({ grid: 2, block: 48, args: [out], engine });
  const reports = result.reports.map(({ code, message, span, threads, count, stack }) => {
    // Where memory lies, and beside what, depends on what compiled kernels need of it.
    return { code, message: message.replace(/0x7f.*/, ""), span, threads, count, stack };
  });
  // What lanes have done that went further than the one that failed, nobody promises.
  const memory = reports.length > 0 ? null : [...out.read()];
  return { engine: result.engine, outcome: { stdout: result.stdout, reports, memory } };
}

test.each(Object.entries(programs))("%s", (_name, body) => {
  const { engine, outcome } = run(body, "jit");
  expect(engine).toBe("jit");
  expect(outcome).toEqual(run(body, "interpreter").outcome);
});
