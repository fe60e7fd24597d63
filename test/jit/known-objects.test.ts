import { afterEach, expect, test, vi } from "vitest";
import { Device } from "../../src/index.ts";
import { Host } from "../../src/jit/run/host.ts";

// What compiled code knows of addresses, it does not ask the launcher: a worker would have to wait for the answer.

afterEach(() => void vi.restoreAllMocks());

const accesses: Readonly<Record<string, readonly string[]>> = {
  "at a thread's number": [
    "mov.u32 %a, %tid.x;",
    "shl.b32 %a, %a, 2;",
    "mov.u32 %v, tile;",
    "add.u32 %a, %a, %v;",
    "ld.shared.u32 %v, [%a];",
  ],
  "from a counter on": ["mov.u32 %a, tile;", "add.u32 %a, %a, %i;", "ld.shared.u32 %v, [%a];"],
  "from a counter on, and less than where that begins": [
    "mov.u32 %a, tile;",
    "add.u32 %a, %a, %i;",
    "ld.shared.u32 %v, [%a+-64];",
  ],
};

/** Adds up what it loads from the second of two variables, four times. Its counter goes from 64 up by 16. */
const kernel = (lines: readonly string[]): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .pred %p; .reg .b32 %a, %i, %v, %sum; .reg .b64 %d;
  .shared .align 16 .b8 other[512];
  .shared .align 16 .b8 tile[512];
  mov.u32 %i, %tid.x;
  shl.b32 %i, %i, 2;
  mov.u32 %a, tile;
  add.u32 %a, %a, %i;
  st.shared.u32 [%a], %i;
  bar.sync 0;
  mov.u32 %sum, 0;
  mov.u32 %i, 64;
loop:
  ${lines.join("\n  ")}
  add.u32 %sum, %sum, %v;
  add.u32 %i, %i, 16;
  setp.ne.u32 %p, %i, 128;
  @%p bra loop;
  ld.param.u64 %d, [out];
  cvta.to.global.u64 %d, %d;
  mov.u32 %a, %tid.x;
  mad.wide.u32 %d, %a, 4, %d;
  st.global.u32 [%d], %sum;
  ret;
}`;

/** Byte offset of the first word that thread t loads: 4t, or 64, or 0; words hold their byte offsets. */
const sums: Readonly<Record<string, (thread: number) => number>> = {
  "at a thread's number": (thread) => 4 * (4 * thread),
  "from a counter on": () => 64 + 80 + 96 + 112,
  "from a counter on, and less than where that begins": () => 0 + 16 + 32 + 48,
};

test.each(Object.entries(accesses))("shared memory %s", (name, lines) => {
  const asked = vi.spyOn(Host.prototype, "translate");
  const device = new Device();
  const out = device.buffer("u32", 128);
  const result = device
    .load(kernel(lines))
    .kernel("k")
    .launch({ grid: 1, block: 128, args: [out] });
  expect({ ok: result.ok, engine: result.engine }).toEqual({ ok: true, engine: "jit" });
  expect([...out.read()]).toEqual(Array.from({ length: 128 }, (_, thread) => sums[name]!(thread)));
  expect(asked).not.toHaveBeenCalled();
});
