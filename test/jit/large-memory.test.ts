import { expect, test } from "vitest";
import { type Buffer, Device } from "../../src/index.ts";

// Each thread writes its word to the end of what lies after `data`, and brings it back to `out`.
const text = `
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 bytes, .param .u64 out)
{
  .reg .b64 %data, %bytes, %out, %a;
  .reg .b32 %t, %b, %v;
  ld.param.u64 %data, [data];
  ld.param.u64 %bytes, [bytes];
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  mad.lo.u32 %t, %b, 32, %t;
  add.s64 %a, %data, %bytes;
  mad.wide.u32 %a, %t, 4, %a;
  st.global.u32 [%a+-256], %t;
  ld.global.u32 %v, [%a+-256];
  mad.wide.u32 %out, %t, 4, %out;
  st.global.u32 [%out], %v;
  ret;
}`;

/** All but what launches themselves need of 4 GiB. */
const bytes = 2 ** 32 - 2 ** 24;

/** Null where the host gives no such memory. What is not touched costs nothing. */
function largeBuffer(device: Device): Buffer | null {
  try {
    return device.buffer("u8", bytes, "data");
  } catch {
    return null;
  }
}

test.for([
  ["jit", 1],
  ["jit", 2],
  ["interpreter", 1],
] as const)("a buffer of nearly 4 GiB, to its last byte: %s, threads: %i", ([engine, hostThreads], { skip }) => {
  const device = new Device({ engine, hostThreads });
  const data = largeBuffer(device);
  if (data === null) return skip("the host has no 4 GiB of address space to give");
  const out = device.buffer("u32", 64);
  const kernel = device.load(text).kernel("k");
  const words = Uint32Array.from({ length: 64 }, (_, t) => t);

  const launched = kernel.launch({ grid: 2, block: 32, args: [data, BigInt(bytes), out] });
  expect([launched.ok, launched.engine]).toEqual([true, engine]);
  expect(out.read()).toEqual(words);
  expect(device.memory.read(data.offset + bytes - 256, 256)).toEqual(new Uint8Array(words.buffer));

  const failed = kernel.launch({ grid: 2, block: 32, args: [data, BigInt(bytes + 4), out] });
  expect(failed.reports[0]?.message).toMatch(/^stores 4 bytes .* 0 bytes after the end of data/);
});
