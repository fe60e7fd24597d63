import { expect, test } from "vitest";
import { loadKernel } from "../../examples/standalone/loader.mjs";
import { buildKernel, Device } from "../../src/index.ts";
import { giveUpReasons } from "../../src/jit/abi/give-up-reasons.ts";
import { runProgram } from "../visa/run/run-program.ts";

/**
 * Launches that compiled code gives up, each for a reason of its own, which the result says. `down` calls itself, and
 * waits for the other lanes of its warp or block at each depth.
 */
const header = `.version 9.0
.target sm_90
.address_size 64
.func (.reg .b32 r) swapped (.reg .b32 a, .reg .b32 mask) { shfl.sync.bfly.b32 r, a, 1, 31, mask; ret; }
.func (.reg .b32 r) votes (.reg .b32 a, .reg .b32 mask)
{
    .reg .pred p, q;
    setp.lt.u32 p, a, 9;
    vote.sync.any.pred q, p, mask;
    selp.u32 r, 1, 2, q;
    ret;
}
.func (.reg .b32 r) counted (.reg .b32 a, .reg .b32 n) { bar.sync a, n; mov.u32 r, n; ret; }
.func (.reg .b32 r) early (.reg .b32 a)
{
    .reg .pred p;
    mov.u32 r, 7;
    setp.lt.u32 p, a, 8;
    @p ret;
    call (r), swapped, (a, 0xffffffff);
    ret;
}
.func dive (.reg .b32 n)
{
    .reg .pred p;
    setp.eq.u32 p, n, 0;
    @p ret;
    sub.u32 n, n, 1;
    call dive, (n);
    ret;
}
.func waits (.reg .b32 n)
{
    .reg .pred p;
    setp.eq.u32 p, n, 0;
    @p ret;
    bar.sync 0;
    sub.u32 n, n, 1;
    call waits, (n);
    bar.sync 0;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b64 o;
    .reg .b32 t, r, n;
    .reg .pred p, q;
    ld.param.u64 o, [out];
    mov.u32 t, %tid.x;
    mad.wide.u32 o, t, 4, o;
    and.b32 t, t, 31;
    setp.lt.u32 p, t, 8;
    mov.u32 r, 0;
`;

const program = (body: string): string => `${header}${body}\nst.global.u32 [o], r;\nret;\n}`;

const cases: readonly (readonly [string, string])[] = [
  ["calls that nest too deeply for the stack of WebAssembly", "mov.u32 n, 10000;\ncall dive, (n);"],
  ["lanes that wait for others in calls that nest too deeply", "mov.u32 n, 300;\ncall waits, (n);"],
  ["an operation in a function that names lanes of the warp which are not there", "call (r), early, (t);"],
  [
    "lanes that come to a barrier without the other lanes of their warp",
    "@p bra other;\nmov.u32 n, 64;\nbarrier.sync 1, n;\nbra done;\nother:\nmov.u32 n, 64;\nbarrier.sync 1, n;\ndone:",
  ],
  [
    "lanes of a warp that come to a barrier with different numbers or counts",
    "selp.u32 n, 1, 2, p;\nbarrier.sync n, 64;",
  ],
];

test.each(cases)("%s", (reason, body) => {
  const run = (engine: "interpreter" | "jit") => {
    const device = new Device();
    const out = device.buffer("u32", 64);
    const kernel = device.load(program(body)).kernel("k");
    const result = kernel.launch({ grid: 1, block: 64, args: [out], engine });
    const again = kernel.launch({ grid: 1, block: 64, args: [out], engine });
    return { ok: result.ok, why: [result.interpreted, again.interpreted], out: [...out.read()] };
  };
  const { ok, why, out } = run("jit");
  expect({ ok, out }).toEqual({ ok: true, out: run("interpreter").out });
  expect(why).toEqual([`not compiled: ${reason}`, `not compiled: ${reason}`]);
});

test("hardware threads that wait for one that has ended", () => {
  const kernel = `
    cmp.lt (E) P1 ID@ 16:ud
    (P1) goto (E) end
    barrier
    end:`;
  const program = { title: "", widths: [16], items: 32, group: 32, kernel, expected: () => 0 } as const;
  const mode = { generate: true, watched: false, compiled: true };
  const { reports, obstacle } = runProgram(program, 16, mode);
  expect(reports).toEqual(runProgram(program, 16, { ...mode, compiled: false }).reports);
  expect(reports).toHaveLength(1);
  expect(obstacle).toBe("hardware threads that wait at a barrier for others that have ended");
});

test("a built module gives the number of its reason, which the description explains", async () => {
  const { wasm, description } = buildKernel(program("mov.u32 n, 100000;\ncall dive, (n);"), { kernel: "k" });
  expect(description).toMatchObject({ format: "lanewise kernel 3", reasons: giveUpReasons });
  const kernel = await loadKernel(JSON.parse(JSON.stringify(description)), wasm);
  const launch = (): void => kernel.launch({ grid: 1, block: 64, args: [kernel.buffer(256)] });
  expect(launch).toThrow("the module cannot go on: calls that nest too deeply for the stack of WebAssembly");
});

test("a module that never gives up keeps its format", () => {
  const { description } = buildKernel(program(""), { kernel: "k" });
  expect(description.format).toBe("lanewise kernel 1");
  expect(description).not.toHaveProperty("reasons");
});
