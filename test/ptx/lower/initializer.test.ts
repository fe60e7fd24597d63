import { expect, test } from "vitest";
import { Device, UsageError } from "../../../src/runtime/index.ts";

const module = (variables: string) => `.version 9.0
.target sm_90
.address_size 64
${variables}
.visible .entry k(.param .u64 out, .param .u64 from)
{
    .reg .u64 o, f;
    .reg .u32 t;
    .reg .b8 b;
    ld.param.u64 o, [out];
    mov.u64 f, v;
    mov.u32 t, %tid.x;
    cvt.u64.u32 f, t;
    mov.u64 o, v;
    add.u64 f, f, o;
    ld.global.b8 b, [f];
    ld.param.u64 o, [out];
    cvt.u64.u32 f, t;
    add.u64 o, o, f;
    st.global.b8 [o], b;
    ret;
}`;

/** The bytes of the variable `v` as a kernel reads them. */
function bytesOf(variable: string, size: number): string {
  const device = new Device();
  const out = device.buffer(new Uint8Array(size));
  device
    .load(module(variable))
    .kernel("k")
    .launch({ grid: 1, block: size, args: [out, 0n] });
  return [...new Uint8Array(out.read().buffer)].map((b) => b.toString(16).padStart(2, "0")).join(" ");
}

// Values fill arrays row by row, and missing elements are zero (5.4.4). Bytes are little-endian.
test.each([
  [".global .u16 v[4] = {1, 0x203};", 8, "01 00 03 02 00 00 00 00"],
  [".global .u8 v[2][3] = {{1, 2}, {3}};", 6, "01 02 00 03 00 00"],
  [".global .s32 v = -2;", 4, "fe ff ff ff"],
  [".global .f32 v[2] = {1.5, 0f7fc00001};", 8, "00 00 c0 3f 01 00 c0 7f"],
  [".global .f64 v = 0dFFF8000000000001;", 8, "01 00 00 00 00 00 f8 ff"],
  [".global .b64 v = 0x8000000000000001;", 8, "01 00 00 00 00 00 00 80"],
  [".global .v2 .u16 v[2] = {{1, 2}, {3, 4}};", 8, "01 00 02 00 03 00 04 00"],
])("%s", (variable, size, expected) => {
  expect(bytesOf(variable, size)).toBe(expected);
});

test("an array far larger than its initializer takes no memory before it is loaded", () => {
  const load = () => new Device().load(module(".global .u64 v[4294967295] = {1, 2};"));
  expect(load).toThrow(UsageError);
});

test("nor does one whose rows are far apart", () => {
  const load = () => new Device().load(module(".global .u64 v[2][4294967295] = {{1}, {2}};"));
  expect(load).toThrow(UsageError);
});
