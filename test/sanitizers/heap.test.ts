import { expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/**
 * Thread 0 does what `body` says; %p is what malloc gave it, of 16 bytes, and `kept` a variable that outlives the
 * kernel.
 */
const program = (body: string) => `.version 9.0
.target sm_75
.address_size 64
.extern .func (.param .b64 p) malloc (.param .b64 size);
.extern .func free (.param .b64 p);
.global .u64 kept;
.visible .entry take(.param .u64 out)
{
    .reg .b64 %p, %o, %n;
    .reg .b32 %r;
    ld.param.u64 %o, [out];
    mov.u64 %n, 16;
    call (%p), malloc, (%n); // malloc
${body}
    ret;
}
.visible .entry later(.param .u64 out)
{
    .reg .b64 %p, %o;
    .reg .b32 %r;
    ld.param.u64 %o, [out];
    ld.global.u64 %p, [kept];
    ld.u32 %r, [%p+8];
    st.global.u32 [%o], %r;
    call free, (%p);
    ret;
}
`;

/** The reports of launches, and then the leaks, as the texts of their lines. */
function reportsOf(body: string, ...kernels: string[]): string[] {
  const device = new Device({ sanitize: "all" });
  const out = device.buffer("u32", 1);
  const module = device.load(program(body));
  const reports = kernels.flatMap((k) => module.kernel(k).launch({ grid: 1, block: 1, args: [out] }).reports);
  return [...reports, ...device.leaks()].map(
    ({ code, source, span }) => `${code}: ${source.line(source.position(span.start).line).trim()}`,
  );
}

const malloc = "call (%p), malloc, (%n); // malloc";

test("memory that is written, read and freed", () => {
  expect(reportsOf("st.u32 [%p+4], 7; ld.u32 %r, [%p+4]; st.global.u32 [%o], %r; call free, (%p);", "take")).toEqual(
    [],
  );
});

test("what malloc gives is not written", () => {
  const load = "ld.u32 %r, [%p+4];";
  expect(reportsOf(`${load}\nst.global.u32 [%o], %r; call free, (%p);`, "take")).toEqual([
    `uninitialized-read: ${load}`,
  ]);
});

test("what is copied there from where nothing is written is not written", () => {
  const load = "ld.u32 %r, [%p+4];";
  const body = `${load}\nst.u32 [%p+8], %r;\nld.u32 %r, [%p+8];\nst.global.u32 [%o], %r; call free, (%p);`;
  expect(reportsOf(body, "take")).toEqual([`uninitialized-read: ${load}`]);
});

test("a load after free", () => {
  const load = "ld.u32 %r, [%p];";
  expect(reportsOf(`st.u32 [%p], 7; call free, (%p);\n${load}`, "take")).toEqual([`use-after-free: ${load}`]);
});

test("memory that nobody frees", () => {
  expect(reportsOf("st.u32 [%p], 7;", "take", "take")).toEqual([`memory-leak: ${malloc}`]);
});

test("a later kernel reads and frees what an earlier one has taken", () => {
  expect(reportsOf("st.u32 [%p+8], 7; st.global.u64 [kept], %p;", "take", "later")).toEqual([]);
});
