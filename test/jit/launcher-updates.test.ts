import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/*
 * Updates by the launcher and by compiled code of the same word, in blocks that run at the same time on two threads of
 * the host: none may be lost. That all are counted is what "atomic" means (sections 9.7.11.3 and 9.7.9.25.4.2).
 */

const [blocks, lanes, rounds, plainRounds] = [64, 32, 100, 5000];

/** Blocks with an odd number add 1 to the word by `red`, the others by the launcher. */
const textOf = (launchers: string, declarations: string, before: string): string => `.version 8.6
.target sm_90
.address_size 64
.entry k(.param .u64 table, .param .u64 word) {
  .reg .b64 %t, %h, %w; .reg .b32 %lane, %x, %n, %b; .reg .pred %p, %q; ${declarations}
  ld.param.u64 %t, [table]; ld.param.u64 %w, [word];
  mov.u32 %lane, %tid.x; mov.u32 %b, %ctaid.x; and.b32 %b, %b, 1; setp.ne.u32 %q, %b, 0;
  ${before}
  @%q bra PLAIN;
  mov.u32 %n, ${rounds};
HOST: ${launchers} sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra HOST; ret;
PLAIN: mov.u32 %n, ${plainRounds};
RED: red.global.add.u32 [%w], 1; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra RED; ret;
}`;

const reductions: Readonly<Record<string, { text: string; perWarp: number }>> = {
  "sured by handles that differ between lanes": {
    text: textOf(
      "sured.b.add.1d.u32.trap [%h, {%x}], %one;",
      ".reg .b32 %one;",
      "and.b32 %x, %lane, 1; mad.wide.u32 %t, %x, 8, %t; ld.global.u64 %h, [%t]; mov.u32 %x, 0; mov.u32 %one, 1;",
    ),
    perWarp: lanes,
  },
  "reductions of ranges": {
    text: textOf(
      "@%first cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%w], [ones], 16;",
      ".reg .pred %first; .shared .align 16 .b8 ones[16];",
      "setp.eq.u32 %first, %lane, 0; mov.u32 %x, 1; st.shared.v4.u32 [ones], {%x, %x, %x, %x}; bar.sync 0;",
    ),
    perWarp: 1,
  },
};

test.each(Object.entries(reductions))("%s: none is lost", (_, { text, perWarp }) => {
  const device = new Device({ engine: "jit", hostThreads: 2 });
  const words = device.buffer("u32", 64);
  const image = device.image({ type: "u32", width: 64, layout: "linear", buffer: words });
  const table = device.buffer("u64", [image.surface().handle, image.surface().handle]);
  const kernel = device.load(text).kernel("k");
  // Short launches stay in one thread: how long these take is known from the first ones.
  for (let launch = 1; launch <= 4; launch++) {
    const { engine, reports } = kernel.launch({ grid: blocks, block: lanes, args: [table, words] });
    expect({ engine, messages: reports.map(({ message }) => message) }).toEqual({ engine: "jit", messages: [] });
    expect(words.read()[0]).toBe((launch * blocks * (perWarp * rounds + lanes * plainRounds)) / 2);
  }
});
