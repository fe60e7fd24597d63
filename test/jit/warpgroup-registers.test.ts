import { describe, expect, test } from "vitest";
import { loadProgram } from "../../src/program/program.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";
import { Device } from "../../src/index.ts";
import { noFeatures } from "../../src/wasm/index.ts";

// Products of warpgroups whose sums do not lie one after the other in memory: a smaller product has taken some of them.

const size = 64;
const names = Array.from({ length: size / 2 }, (_, i) => `%d${i}`);

const product = (columns: number, sums: readonly string[]): string => `
    wgmma.mma_async.sync.aligned.m64n${columns}k16.f32.f16.f16 {${sums.join(", ")}}, %w, %w, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n    wgmma.fence.sync.aligned;`;

/** Two shared matrices of ones, whatever their layout is, so that a product adds 16 to each of its sums: of the small one, which has four, and of others. */
const kernel = (products: number): string => `.version 8.0\n.target sm_90a\n.address_size 64
.visible .entry k(.param .u64 out)\n{
    .shared .align 128 .b8 s[4096];
    .reg .b64 %o, %l, %w; .reg .b32 %t, %a, %one, %r; .reg .f32 %d<${size / 2}>; .reg .pred %p;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x; mov.u32 %one, 0x3c003c00; mov.u32 %r, s; mad.lo.u32 %a, %t, 4, %r;
fill:
    st.shared.u32 [%a], %one; mov.u32 %r, %ntid.x; mad.lo.u32 %a, %r, 4, %a;
    mov.u32 %r, s; add.u32 %r, %r, 4096; setp.lt.u32 %p, %a, %r;
    @%p bra fill;
    fence.proxy.async;
    bar.sync 0;
    setp.ge.u32 %p, %t, 128;
    @%p bra done;
    mov.u32 %r, s; shr.u32 %r, %r, 4; and.b32 %r, %r, 0x3fff; cvt.u64.u32 %w, %r;
    or.b64 %w, %w, 0x0000000800080000;
${names.map((name, i) => `    add.u32 %a, %t, ${i}; cvt.rn.f32.u32 ${name}, %a;`).join("\n")}
    wgmma.fence.sync.aligned;
${product(8, ["%d3", "%d2", "%d1", "%d0"])}
${product(size, names).repeat(products)}
    mul.wide.u32 %l, %t, ${2 * size}; add.u64 %o, %o, %l;
${names.map((name, i) => `    st.global.f32 [%o+${4 * i}], ${name};`).join("\n")}
done:
    ret;\n}\n`;

describe.each(["jit", "interpreter"] as const)("%s", (engine) => {
  // Of a block of five warps the launcher performs the products: its last warp is in no warpgroup.
  test.each([128, 160])("of a block of %d threads", (block) => {
    const device = new Device();
    const out = device.buffer("f32", (128 * size) / 2);
    const result = device
      .load({ path: "k.ptx", text: kernel(3) })
      .kernel("k")
      .launch({ grid: 1, block, args: [out], engine, sanitize: engine === "interpreter" ? "all" : [] });
    expect(result.reports.map(({ message }) => message)).toEqual([]);
    expect(result.engine).toBe(engine);
    expect([...out.read()]).toEqual(
      Array.from(out.read(), (_, i) => Math.trunc(i / 32) + (i % 32) + (i % 32 < 4 ? 64 : 48)),
    );
  });
});

test("store their sums once", () => {
  const bytesOf = (products: number): number => {
    const { module } = compile([new SourceText("k.ptx", kernel(products))]);
    const program = new JitProgram(loadProgram(new PtxDevice().memory, module!), 2);
    const compiled = program.compiled("k", [128, 1, 1], noFeatures);
    if (typeof compiled === "string") throw new Error(compiled);
    return compiled.bytes.length;
  };
  // The sums are 256 vectors. Stored twice, for tiles and for the launcher, a product takes 20,905 bytes.
  expect((bytesOf(9) - bytesOf(5)) / 4).toBeLessThan(18_000);
});
