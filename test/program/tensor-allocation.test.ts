import { describe, expect, test } from "vitest";
import { Device, type EngineName } from "../../src/runtime/index.ts";

/*
 * Section 9.7.16.7.1: "tcgen05.alloc blocks if the requested amount of Tensor Memory is not available and unblocks as
 * soon as the requested amount of Tensor Memory becomes available"; all of it "must be explicitly deallocated".
 */
const module = (body: string): string => `.version 9.0
.target sm_100a
.address_size 64
.shared .align 4 .b32 cell[4];
.visible .entry k(.param .u64 out)
{
    .reg .u64 %o;
    .reg .u32 %t, %w, %a, %i;
    .reg .pred first, second, more;
    ld.param.u64 %o, [out];
    mov.u32 %t, %ctaid.x;
    mad.wide.u32 %o, %t, 4, %o;
    mov.u32 %t, %tid.x;
    shr.u32 %w, %t, 5;
    setp.eq.u32 first, %w, 0;
    setp.eq.u32 second, %w, 1;
    mov.u32 %i, 0;
${body}
    setp.eq.u32 first, %t, 0;
    @first st.global.u32 [%o], %i;
    ret;
}
`;

const allocate = (warp: string, at: number, columns: number): string =>
  `@${warp} tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cell+${at}], ${columns};`;
const free = (warp: string, at: number, columns: number): string =>
  `@${warp} ld.shared.u32 %a, [cell+${at}];
    @${warp} tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a, ${columns};`;

function run(body: string, engine: EngineName) {
  const device = new Device();
  const out = device.buffer("u32", 3);
  const kernel = device.load(module(body)).kernel("k");
  const { reports } = kernel.launch({ grid: 3, block: 64, args: [out], engine });
  return {
    reports: reports.map(({ code, source, span, threads }) => {
      const { line } = source.position(span.start);
      return `${code} ${source.text.split("\n")[line - 1]!.trim()} ${threads[0]!.block[0]}`;
    }),
    out: [...out.read()],
  };
}

describe.each(["interpreter", "jit"] as const)("%s", (engine) => {
  test("a warp waits until another frees what it needs", () => {
    const body = `${allocate("first", 0, 512)}
    bar.sync 0;
    ${allocate("second", 4, 256)}
    @!first bra behind;
again:
    add.u32 %i, %i, 1;
    setp.lt.u32 more, %i, 100;
    @more bra again;
    ${free("first", 0, 512)}
behind:
    bar.sync 0;
    ${free("second", 4, 256)}`;
    expect(run(body, engine)).toEqual({ reports: [], out: [100, 100, 100] });
  });

  test("what one of several allocations leaves is reported there, in the first block", () => {
    const body = `${allocate("first", 0, 128)}
    ${allocate("first", 4, 64)}
    ${free("first", 0, 128)}`;
    expect(run(body, engine).reports).toEqual([`tcgen05-not-freed ${allocate("first", 4, 64)} 0`]);
  });

  test("only the blocks that keep columns are reported", () => {
    const body = `mov.u32 %i, %ctaid.x;
    ${allocate("first", 0, 128)}
    setp.eq.u32 more, %i, 2;
    @more bra behind;
    ${free("first", 0, 128)}
behind:`;
    expect(run(body, engine).reports).toEqual([`tcgen05-not-freed ${allocate("first", 0, 128)} 2`]);
  });
});

test("nobody is left who could free columns", () => {
  const body = `${allocate("first", 0, 512)}
    bar.sync 0;
    ${allocate("second", 4, 256)}
    bar.sync 0;`;
  const [report] = run(body, "interpreter").reports;
  expect(report).toContain(`deadlock ${allocate("second", 4, 256)}`);
});
