import { describe, expect, test } from "vitest";
import { Device, scalar } from "../../src/runtime/index.ts";

describe("arguments like those of an earlier launch", () => {
  const bits = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 to, .param .f32 value, .param .u64 from)
{
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from];
  ld.param.b32 %r1, [value]; ld.global.b32 %r2, [%rd2];
  st.global.v2.b32 [%rd1], {%r1, %r2};
  ret;
}`;
  const device = new Device();
  const kernel = device.load(bits).kernel("k");
  const to = device.buffer("u32", 4);
  const [seven, nine] = [device.buffer(new Uint32Array([7])), device.buffer(new Uint32Array([9]))];
  const run = (value: number | ReturnType<typeof scalar>, from: typeof seven) => {
    expect(kernel.launch({ grid: 1, block: 1, args: [to, value, from] }).ok).toBe(true);
    return [...to.read()].slice(0, 2);
  };
  const one = 0x3f80_0000;

  test("launches that take turns", () => {
    for (let i = 0; i < 8; i++) {
      expect(run(1, seven)).toEqual([one, 7]);
      expect(run(1, nine)).toEqual([one, 9]);
    }
  });

  test("0 and -0 are not the same, and NaN is like itself", () => {
    for (let i = 0; i < 4; i++) {
      expect(run(0, seven)).toEqual([0, 7]);
      expect(run(-0, seven)).toEqual([0x8000_0000, 7]);
      expect(run(Number.NaN, seven)).toEqual([0x7fc0_0000, 7]);
    }
  });

  test("a scalar that has been changed", () => {
    const changing: { kind: "scalar"; type: "f32" | "u32"; value: number } = {
      ...scalar("f32", 1),
      type: "f32",
      value: 1,
    };
    for (let i = 0; i < 4; i++) expect(run(changing, nine)).toEqual([one, 9]);
    changing.value = 2;
    expect(run(changing, nine)).toEqual([0x4000_0000, 9]);
    expect(run(changing, nine)).toEqual([0x4000_0000, 9]);
    changing.type = "u32";
    expect(run(changing, nine)).toEqual([2, 9]);
    // Others of the same value.
    for (let i = 0; i < 4; i++) {
      expect(run(scalar("u32", i & 1), nine)).toEqual([i & 1, 9]);
      expect(run(scalar("f32", i & 1), nine)).toEqual([(i & 1) * one, 9]);
    }
  });

  test("bytes that have been changed", () => {
    const value = new Uint32Array([5]);
    for (let i = 0; i < 4; i++) {
      kernel.launch({ grid: 1, block: 1, args: [to, value, nine] });
      expect([...to.read()].slice(0, 2)).toEqual([5 + i, 9]);
      value[0]!++;
    }
  });

  test("an allocation that is made meanwhile, and one that is freed", () => {
    const other = device.buffer(new Uint32Array([3]));
    for (let i = 0; i < 3; i++) expect(run(1, other)).toEqual([one, 3]);
    device.buffer("u32", 1000);
    for (let i = 0; i < 3; i++) expect(run(1, other)).toEqual([one, 3]);
    other.free();
    const codes = (engine: "jit" | "interpreter") =>
      kernel.launch({ grid: 1, block: 1, args: [to, 1, other], engine }).reports.map(({ code }) => code);
    expect(codes("jit")).toEqual(codes("interpreter"));
    expect(codes("jit")).toHaveLength(1);
  });

  test("other arguments are refused as ever", () => {
    for (let i = 0; i < 3; i++) run(1, seven);
    expect(() => kernel.launch({ grid: 1, block: 1, args: [to, 1] })).toThrow("3 parameters, not 2");
    const foreign = new Device().buffer("u32", 1);
    expect(() => kernel.launch({ grid: 1, block: 1, args: [to, 1, foreign] })).toThrow("another device");
  });

  test("those after some that were refused", () => {
    const foreign = new Device().buffer("u32", 1);
    for (let i = 0; i < 3; i++) run(1, seven);
    expect(() => kernel.launch({ grid: 1, block: 1, args: [to, 0, foreign] })).toThrow("another device");
    expect(run(0, seven)).toEqual([0, 7]);
    expect(() => kernel.launch({ grid: 1, block: 1, args: [to, 1, foreign] })).toThrow("another device");
    expect(run(0, seven)).toEqual([0, 7]);
    expect(run(1, seven)).toEqual([one, 7]);
  });

  test("buffers of two devices by turns", () => {
    const others = new Device();
    const far = { kernel: others.load(bits).kernel("k"), to: others.buffer("u32", 4), from: others.buffer("u32", 1) };
    for (let i = 0; i < 4; i++) {
      expect(far.kernel.launch({ grid: 1, block: 1, args: [far.to, 1, far.from] }).ok).toBe(true);
      expect([...far.to.read()].slice(0, 2)).toEqual([one, 0]);
      expect(run(1, nine)).toEqual([one, 9]);
    }
  });

  test("addresses within buffers, one after the other", () => {
    const words = device.buffer(new Uint32Array([3, 4, 5]));
    const pointer = { ...words.at(0) };
    for (const [i, word] of [3, 4, 5, 5, 3, 3].entries()) {
      pointer.offset = 4 * (word - 3);
      const from = i % 2 === 0 ? pointer : words.at(pointer.offset);
      expect(kernel.launch({ grid: 1, block: 1, args: [to, 1, from] }).ok).toBe(true);
      expect([...to.read()].slice(0, 2)).toEqual([one, word]);
    }
  });
});
