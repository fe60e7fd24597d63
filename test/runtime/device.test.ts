import { describe, expect, test } from "vitest";
import { Device, LoadError, scalar, struct } from "../../src/index.ts";

const header = ".version 8.0\n.target sm_80\n.address_size 64\n";

const saxpy = `${header}
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
    .reg .pred %p;
    .reg .b32 %i, %n, %t, %c;
    .reg .f32 %a, %x, %y;
    .reg .b64 %px, %py, %o;
    ld.param.u32 %n, [n];
    mov.u32 %c, %ctaid.x;
    mov.u32 %t, %ntid.x;
    mov.u32 %i, %tid.x;
    mad.lo.u32 %i, %c, %t, %i;
    setp.ge.u32 %p, %i, %n;
    @%p bra DONE;
    ld.param.f32 %a, [a];
    ld.param.u64 %px, [x];
    ld.param.u64 %py, [y];
    mul.wide.u32 %o, %i, 4;
    add.u64 %px, %px, %o;
    add.u64 %py, %py, %o;
    ld.global.f32 %x, [%px];
    ld.global.f32 %y, [%py];
    fma.rn.f32 %y, %a, %x, %y;
    st.global.f32 [%py], %y;
DONE:
    ret;
}
`;

/** Copies its parameter, byte for byte, into a buffer. */
const copy = (type: string, bytes: number): string => `${header}
.visible .entry copy(.param ${type} value, .param .u64 out)
{
    .reg .b64 %o;
    .reg .b16 %v;
    ld.param.u64 %o, [out];
${Array.from({ length: bytes }, (_, i) => `    ld.param.b8 %v, [value+${i}];\n    st.global.b8 [%o+${i}], %v;`).join("\n")}
    ret;
}
`;

const pattern = (type: string, bytes: number, value: Parameters<typeof scalar>[1] | ReturnType<typeof scalar>) => {
  const device = new Device();
  const out = device.buffer("u8", bytes);
  const result = device
    .load(copy(type, bytes))
    .kernel("copy")
    .launch({ grid: 1, block: 1, args: [value, out] });
  expect(result.ok).toBe(true);
  return [...out.read()];
};

test("the example in the README", () => {
  const device = new Device();
  const kernel = device.load(saxpy).kernel("saxpy");
  const x = device.buffer(Float32Array.from({ length: 1000 }, (_, i) => i));
  const y = device.buffer("f32", 1000);
  const result = kernel.launch({ grid: 4, block: 256, args: [1000, 2.5, x, y], sanitize: "all" });
  expect(result.reports).toEqual([]);
  expect(result.ok).toBe(true);
  expect(result.threads).toBe(1024);
  expect(y.read()).toEqual(Float32Array.from({ length: 1000 }, (_, i) => 2.5 * i));
});

test("observers see what happens", () => {
  const device = new Device();
  const stores: number[] = [];
  device
    .load(saxpy)
    .kernel("saxpy")
    .launch({
      grid: 1,
      block: 64,
      args: [40, 1, device.buffer("f32", 64), device.buffer("f32", 64)],
      observers: [{ access: ({ effect, mask }) => void (effect === "store" && stores.push(mask >>> 0)) }],
    });
  // 40 elements: all lanes of the first warp and 8 of the second.
  expect(stores).toEqual([0xffff_ffff, 0xff]);
});

describe("arguments", () => {
  test.each([
    [".u32", 4, -1, [255, 255, 255, 255]],
    [".s8", 1, 200, [200]],
    [".u16", 2, 0x1234, [0x34, 0x12]],
    [".f32", 4, 1, [0, 0, 0x80, 0x3f]],
    [".f64", 8, -2, [0, 0, 0, 0, 0, 0, 0, 0xc0]],
    [".u64", 8, 0x0102_0304_0506_0708n, [8, 7, 6, 5, 4, 3, 2, 1]],
    [".b32", 4, scalar("f32", 1), [0, 0, 0x80, 0x3f]],
    [".b16", 2, scalar("f16", 1.5), [0, 0x3e]],
  ] as const)("%s %s %s", (type, bytes, value, expected) => {
    expect(pattern(type, bytes, value as never)).toEqual(expected);
  });

  test("a struct by value, with an address patched in", () => {
    const device = new Device();
    const out = device.buffer("u8", 16);
    const kernel = device.load(copy(".align 8 .b8", 16).replace("value,", "value[16],")).kernel("copy");
    const x = device.buffer("u32", 4);
    const bytes = Uint8Array.from({ length: 16 }, (_, i) => i);
    kernel.launch({ grid: 1, block: 1, args: [struct(bytes, [{ at: 8, to: x.at(4) }]), out] });
    const got = new DataView(out.readBytes().buffer);
    expect(got.getBigUint64(0, true)).toBe(0x0706_0504_0302_0100n);
    expect(got.getBigUint64(8, true)).toBe(x.address + 4n);
  });

  test.each([
    [[], 'kernel "saxpy" has 4 parameters, not 0: `n` (.u32), `a` (.f32), `x` (.u64), `y` (.u64)'],
    [[2 ** 32, 1, 0, 0], 'argument 0 of kernel "saxpy": 4294967296 does not fit u32: `n` (.u32)'],
    [[1.5, 1, 0, 0], "1.5 is not an integer, which u32 holds"],
    [[scalar("u64", 1), 1, 0, 0], "a value of type u64 given for `n` (.u32)"],
    [["buffer", 1, 0, 0], "a buffer given for `n` (.u32), which holds no address"],
    [[1, new Uint8Array(3), 0, 0], "3 bytes given for `a` (.f32)"],
    [[1, 1, "foreign", 0], "the buffer belongs to another device"],
  ])("%j", (args, message) => {
    const device = new Device();
    const kernel = device.load(saxpy).kernel("saxpy");
    const given = args.map((arg) => {
      if (arg === "buffer") return device.buffer("u8", 4);
      return arg === "foreign" ? new Device().buffer("u8", 4) : arg;
    });
    expect(() => kernel.launch({ grid: 1, block: 1, args: given as never })).toThrow(message);
  });
});

describe("what cannot be launched", () => {
  const kernel = () => new Device().load(saxpy).kernel("saxpy");
  test.each([
    [{ grid: 0, block: 1 }, "a grid of (0, 1, 1) is not from (1, 1, 1) to (2147483647, 65535, 65535)"],
    [{ grid: 1, block: 2048 }, "a block of (2048, 1, 1) is not from"],
    [{ grid: 1, block: [64, 32] as const }, "a block of 2048 threads; it has at most 1024"],
    [{ grid: 1.5, block: 1 }, "a grid of (1.5, 1, 1)"],
    [{ grid: 1, block: 1, shared: -1 }, "-1 bytes of shared memory"],
  ])("%j", (options, message) => {
    expect(() => kernel().launch({ ...options, args: [1, 1, 0, 0] })).toThrow(message);
  });

  test("a kernel that does not exist", () => {
    expect(() => new Device().load(saxpy).kernel("saxpi")).toThrow('there is no kernel "saxpi"; did you mean "saxpy"?');
    expect(new Device().load(saxpy).kernels).toEqual(["saxpy"]);
  });

  test(".reqntid and .maxntid", () => {
    const bounded = (bound: string) => saxpy.replace("y)\n{", `y)\n${bound}\n{`);
    const launch = (text: string, block: number) =>
      new Device()
        .load(text)
        .kernel("saxpy")
        .launch({ grid: 1, block, args: [0, 1, 0, 0] });
    expect(() => launch(bounded(".reqntid 32"), 64)).toThrow(".reqntid wants (32, 1, 1)");
    expect(() => launch(bounded(".maxntid 32"), 64)).toThrow("a block of 64 threads, but .maxntid allows 32");
    expect(launch(bounded(".reqntid 32"), 32).ok).toBe(true);
  });

  test("a module with errors", () => {
    const load = () => new Device().load({ path: "a.ptx", text: saxpy.replace("mov.u32 %c", "mov.u32 %d") });
    expect(load).toThrow(LoadError);
    expect(load).toThrow(/a\.ptx:\d+:\d+: error: .*%d/);
  });
});

describe("buffers", () => {
  test("every type keeps its values", () => {
    const device = new Device();
    for (const array of [
      new Uint8Array([0, 255]),
      new Int8Array([-128, 127]),
      new Uint16Array([0, 65_535]),
      new Int16Array([-32_768, 32_767]),
      new Uint32Array([0, 0xffff_ffff]),
      new Int32Array([-(2 ** 31), 2 ** 31 - 1]),
      new BigUint64Array([0n, 2n ** 64n - 1n]),
      new BigInt64Array([-(2n ** 63n), 2n ** 63n - 1n]),
      new Float32Array([-0, Number.NaN, Infinity, 1.5]),
      new Float64Array([-0, Number.NaN, Infinity, 0.1]),
    ]) {
      expect(device.buffer(array).read()).toEqual(array);
    }
    expect(device.buffer("f16", [0.1, 65_504, 1e6]).read()).toEqual(
      new Float32Array([0.0999755859375, 65_504, Infinity]),
    );
    expect(device.buffer("bf16", [1, 3.140625]).readBytes()).toEqual(new Uint8Array([0x80, 0x3f, 0x49, 0x40]));
  });

  test.each([
    ["u8", Uint8Array, [0, 255, 7]],
    ["s16", Int16Array, [-5, 32_767, 0]],
    ["u64", BigUint64Array, [0n, 2n ** 64n - 1n, 1n]],
    ["f32", Float32Array, [-0, Number.NaN, 1.5]],
    ["f16", Float32Array, [0.1, 65_504, -1e6]],
    ["bf16", Float32Array, [3.140625, Number.NaN, -1e39]],
  ] as const)("of %s are read into an array that there is", (type, arrayClass, values) => {
    const device = new Device();
    const x = device.buffer(type, values);
    const whole = new arrayClass(5);
    const into = whole.subarray(1, 4);
    expect(x.read(into as never)).toBe(into);
    expect(into).toEqual(x.read());
    expect([whole[0], whole[4]].map(Number)).toEqual([0, 0]);
    const wrong = "a buffer of 3 values of " + type + " cannot be read into that";
    expect(() => x.read(whole as never)).toThrow(`5 elements of a ${arrayClass.name}: ${wrong}`);
    expect(() => x.read(new DataView(new ArrayBuffer(24)) as never)).toThrow(wrong);
    expect(() => x.read([1, 2, 3] as never)).toThrow(wrong);
  });

  test("are aligned and separate, and reject what does not fit", () => {
    const device = new Device();
    const x = device.buffer("u8", 3);
    const y = device.buffer("u8", 3);
    expect(x.address % 256n).toBe(0n);
    expect(y.address % 256n).toBe(0n);
    expect(y.address - x.address).toBeGreaterThanOrEqual(256n);
    expect(() => x.write([1, 2, 3, 4])).toThrow("4 bytes at byte 0 do not fit a buffer of 3 bytes");
    expect(() => x.write([1], -1)).toThrow("do not fit");
    expect([...x.write([7], 2).read()]).toEqual([0, 0, 7]);
    x.free();
    expect(() => x.read()).toThrow("the buffer has been freed");
    expect(() => device.buffer("u8", -1)).toThrow("cannot allocate -1 bytes");
    expect(() => device.buffer("f64", 2 ** 40)).toThrow("out of device memory");
    expect(() => device.buffer("u9" as never, 1)).toThrow('there is no element type "u9"');
  });
});

describe("what is written into a buffer", () => {
  const values = [0, 1, -1, 200, 70_000, -40_000, 2.75, -2.75, 3e9];
  const types = ["u8", "s8", "u16", "s16", "u32", "s32", "f32", "f64", "f16", "bf16"] as const;
  const arrays = [Uint8Array, Int8Array, Uint16Array, Int16Array, Uint32Array, Int32Array, Float32Array, Float64Array];

  test.each(types)("is the same from an array of any kind as from a list of its values, as %s", (type) => {
    const device = new Device();
    for (const array of arrays) {
      const given = Reflect.construct(array, [values]) as Float64Array;
      const list = device.buffer(type, values.length + 1).write([...given], 1);
      expect(
        device
          .buffer(type, values.length + 1)
          .write(given, 1)
          .readBytes(),
      ).toEqual(list.readBytes());
    }
  });

  test("keeps nothing of the array, and what is read keeps nothing of the buffer", () => {
    const buffer = new Device().buffer("s32", 4);
    const given = Uint32Array.of(1, 2, 3, 2 ** 32 - 1);
    buffer.write(given.subarray(2));
    given.fill(9);
    const read = buffer.read();
    expect([...read]).toEqual([3, -1, 0, 0]);
    read.fill(7);
    expect([...buffer.read()]).toEqual([3, -1, 0, 0]);
  });
});
