import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Device, type EngineName } from "../../src/index.ts";
import { exactSum } from "../../src/numeric/exact-sum.ts";
import { numberToF16 } from "../../src/numeric/half.ts";

/** One mma m16n8k16: all rows of A are x, all columns of B y; out gets the first element of D, C is c. */
const kernelFor = (target: string): string => `.version 8.0\n.target ${target}\n.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .f32 c, .param .u64 out)\n{
    .reg .b64 %x, %y, %o, %l; .reg .b32 %t, %a<2>, %b<2>; .reg .f32 %c, %d<4>;
    ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.f32 %c, [c]; ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x; and.b32 %t, %t, 3; mul.wide.u32 %l, %t, 4;
    add.u64 %x, %x, %l; add.u64 %y, %y, %l;
    ld.global.b32 %a0, [%x]; ld.global.b32 %a1, [%x+16]; ld.global.b32 %b0, [%y]; ld.global.b32 %b1, [%y+16];
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
        {%d0, %d1, %d2, %d3}, {%a0, %a0, %a1, %a1}, {%b0, %b1}, {%c, %c, %c, %c};
    st.global.f32 [%o], %d0;
    ret;\n}\n`;

function product(
  target: string,
  options: { readonly engine: EngineName; readonly matrix?: "hardware" | "exact" },
  [c, x, y]: readonly [number, readonly number[], readonly number[]],
): number {
  const device = new Device();
  const patterns = (values: readonly number[]) =>
    device.buffer(Uint16Array.from({ length: 16 }, (_, i) => numberToF16(values[i] ?? 0)));
  const out = device.buffer("f32", 1);
  const kernel = device.load({ path: "k.ptx", text: kernelFor(target) }).kernel("k");
  const { ok } = kernel.launch({ grid: 1, block: 32, args: [patterns(x), patterns(y), c, out], ...options });
  expect(ok).toBe(true);
  return out.read()[0]!;
}

const e = 2 ** -12;
const one = 1 + 2 ** -23;
const times = (n: number, value: number): number[] => Array<number>(n).fill(value);

/** The table at the end of shared/modern/facts-tensor-numerics.md, from Fasi et al. 2021 and Xie et al. 2025. */
const rows: readonly [string, readonly [number, number[], number[]], exact: number, ampere: number, hopper: number][] =
  [
    ["1 and two products of 2^-24", [1, times(2, e), times(2, e)], one, one, one],
    ["1 and four of 2^-25", [1, times(4, e), times(4, e / 2)], one, 1, one],
    ["1 and eight of 2^-26", [1, times(8, e), times(8, e / 4)], one, 1, 1],
    ["1 and 2^-24 + 2^-30", [1, [e * (1 + 2 ** -6)], [e]], one, 1, 1],
    ["-1 and -(2^-24 + 2^-30)", [-1, [-e * (1 + 2 ** -6)], [e]], -one, -1, -1],
  ];

describe.each(["interpreter", "jit"] as const)("sums of products in the %s", (engine) => {
  test.each(rows)("%s", (_, terms, exact, ampere, hopper) => {
    expect(product("sm_80", { engine }, terms)).toBe(ampere);
    expect(product("sm_90", { engine, matrix: "hardware" }, terms)).toBe(hopper);
    expect(product("sm_80", { engine, matrix: "exact" }, terms)).toBe(exact);
    expect(product("sm_90", { engine, matrix: "exact" }, terms)).toBe(exact);
  });
});

test("another word than those two is refused", () => {
  expect(() => product("sm_80", { engine: "jit", matrix: "precise" as "exact" }, [0, [], []])).toThrow(
    /matrix is "precise": expected one of hardware, exact/,
  );
});

describe("exactSum", () => {
  /** The value of a double in units of 2^-1074. */
  const units = (value: number): bigint => {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, Math.abs(value));
    const bits = view.getBigUint64(0);
    const [exponent, fraction] = [bits >> 52n, bits & 0xf_ffff_ffff_ffffn];
    const magnitude = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
    return value < 0 ? -magnitude : magnitude;
  };
  const term = fc.tuple(fc.integer({ min: -(2 ** 22), max: 2 ** 22 }), fc.integer({ min: -300, max: 300 }));

  test("lies next to the exact sum, and is odd where that is no double", () => {
    fc.assert(
      fc.property(fc.array(term, { maxLength: 40 }), (pairs) => {
        const terms = pairs.map(([m, x]) => m * 2 ** x);
        const sum = exactSum(terms);
        const distance = units(sum) - terms.reduce((total, value) => total + units(value), 0n);
        if (distance === 0n) return;
        // By its bits: the logarithm of what lies just below a power of two is rounded up.
        const ulp = 1n << BigInt(Math.max(0, units(Math.abs(sum)).toString(2).length - 53));
        expect(distance < ulp * 2n && distance > -ulp * 2n).toBe(true);
        expect((units(sum) / ulp) & 1n).not.toBe(0n);
      }),
    );
  });

  test("infinities and NaNs go through", () => {
    expect(exactSum([1, Infinity, -5])).toBe(Infinity);
    expect(exactSum([Infinity, -Infinity])).toBeNaN();
    expect(exactSum([NaN, 1])).toBeNaN();
    expect(exactSum([2 ** 200, 1, -(2 ** 200)])).toBe(1);
  });
});
