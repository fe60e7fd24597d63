import { describe, expect, test } from "vitest";
import { dwords, type Kernel, Random, run } from "./machine.ts";
import { type Case, testCases } from "./model.ts";

type Bits = 16 | 32 | 64;

/** Numbers as atomic operations see them: conversions from and to bits. */
interface Format {
  readonly toNumber: (bits: bigint) => number;
  readonly toBits: (value: number) => bigint;
}

const bytesOf = (write: (view: DataView) => void): DataView => {
  const view = new DataView(new ArrayBuffer(8));
  write(view);
  return view;
};

const f32: Format = {
  toNumber: (bits) => bytesOf((v) => v.setUint32(0, Number(bits))).getFloat32(0),
  toBits: (value) => BigInt(bytesOf((v) => v.setFloat32(0, value)).getUint32(0)),
};
const f64: Format = {
  toNumber: (bits) => bytesOf((v) => v.setBigUint64(0, bits)).getFloat64(0),
  toBits: (value) => bytesOf((v) => v.setFloat64(0, value)).getBigUint64(0),
};

/** Every 16-bit value, and the nearest one to a number, ties to the even pattern. */
function small(toNumber: (bits: number) => number): Format {
  const finite = Array.from({ length: 0x8000 }, (_, bits) => ({ bits, value: toNumber(bits) })).filter(({ value }) =>
    Number.isFinite(value),
  );
  return {
    toNumber: (bits) => toNumber(Number(bits)),
    toBits: (value) => {
      const sign = Object.is(value, -0) || value < 0 ? 0x8000n : 0n;
      const size = Math.abs(value);
      let low = 0;
      let high = finite.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (finite[middle]!.value <= size) low = middle;
        else high = middle - 1;
      }
      const below = finite[low]!;
      const above = finite[low + 1];
      if (above === undefined) return sign | BigInt(below.bits);
      const distance = size - below.value - (above.value - size);
      return sign | BigInt(distance < 0 || (distance === 0 && below.bits % 2 === 0) ? below.bits : above.bits);
    },
  };
}
const hf = small((bits) => {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? Number.POSITIVE_INFINITY
        : (1024 + fraction) * 2 ** (exponent - 25);
  return bits & 0x8000 ? -size : size;
});
const bf = small((bits) => f32.toNumber(BigInt(bits) << 16n));

const formats = { 16: hf, 32: f32, 64: f64 } as const;

type Rule = (old: bigint, src0: bigint, src1: bigint, bits: Bits, format: Format) => bigint;
const less = (a: bigint, b: bigint): boolean => a < b;
const signedLess = (a: bigint, b: bigint, bits: Bits): boolean => BigInt.asIntN(bits, a) < BigInt.asIntN(bits, b);

const rules = {
  add: (old, src0) => old + src0,
  sub: (old, src0) => old - src0,
  inc: (old) => old + 1n,
  dec: (old) => old - 1n,
  umin: (old, src0) => (less(old, src0) ? old : src0),
  umax: (old, src0) => (less(old, src0) ? src0 : old),
  smin: (old, src0, _, bits) => (signedLess(old, src0, bits) ? old : src0),
  smax: (old, src0, _, bits) => (signedLess(old, src0, bits) ? src0 : old),
  and: (old, src0) => old & src0,
  or: (old, src0) => old | src0,
  xor: (old, src0) => old ^ src0,
  exchange: (_, src0) => src0,
  load: (old) => old,
  fadd: (old, src0, _, __, f) => f.toBits(f.toNumber(old) + f.toNumber(src0)),
  fsub: (old, src0, _, __, f) => f.toBits(f.toNumber(old) - f.toNumber(src0)),
  fmin: (old, src0, _, __, f) => f.toBits(Math.min(f.toNumber(old), f.toNumber(src0))),
  fmax: (old, src0, _, __, f) => f.toBits(Math.max(f.toNumber(old), f.toNumber(src0))),
  // DWORD_ATOMIC.md: "CMPXCHG: new = (old==src1) ? src0 : old", "FCMPWR: new = (src0 == old) ? src1 : old".
  cmpxchg: (old, src0, src1) => (old === src1 ? src0 : old),
  // LSC_UNTYPED.md: "set to VIFEQ only if VCMP == [VOFF]", with the operands VCMP VIFEQ.
  icas: (old, src0, src1) => (old === src0 ? src1 : old),
  fcas: (old, src0, src1, _, f) => (f.toNumber(old) === f.toNumber(src0) ? src1 : old),
} satisfies Record<string, Rule>;

/** The table of DWORD_ATOMIC.md; `predec` returns the value that it has written. */
const legacy: Readonly<Record<string, Rule>> = {
  add: rules.add,
  sub: rules.sub,
  inc: rules.inc,
  dec: rules.dec,
  min: rules.umin,
  max: rules.umax,
  xchg: rules.exchange,
  cmpxchg: rules.cmpxchg,
  and: rules.and,
  or: rules.or,
  xor: rules.xor,
  minsint: rules.smin,
  maxsint: rules.smax,
  predec: rules.dec,
  fmax: rules.fmax,
  fmin: rules.fmin,
  fcmpwr: rules.fcas,
  fadd: rules.fadd,
  fsub: rules.fsub,
};

const lsc: Readonly<Record<string, Rule>> = {
  iinc: rules.inc,
  idec: rules.dec,
  load: rules.load,
  store: rules.exchange,
  iadd: rules.add,
  isub: rules.sub,
  smin: rules.smin,
  smax: rules.smax,
  umin: rules.umin,
  umax: rules.umax,
  icas: rules.icas,
  fadd: rules.fadd,
  fsub: rules.fsub,
  fmin: rules.fmin,
  fmax: rules.fmax,
  fcas: rules.fcas,
  and: rules.and,
  or: rules.or,
  xor: rules.xor,
  bfadd: rules.fadd,
  bfsub: rules.fsub,
  bfmin: rules.fmin,
  bfmax: rules.fmax,
  bfcas: rules.fcas,
};

/** Values of memory and of the first operand: some equal (for the comparisons), finite as floats. */
function values(random: Random, bits: Bits, format: Format | null, count: number): bigint[] {
  return Array.from({ length: count }, () => {
    if (format !== null) return format.toBits((random.next(4001) - 2000) / 16);
    return BigInt.asUintN(
      bits,
      (BigInt(random.next(2 ** 30)) << 35n) ^ BigInt(random.next(2 ** 30)) ^ (BigInt(random.next(8)) << 29n),
    );
  });
}

interface Form {
  readonly title: string;
  readonly text: string;
  readonly bits: Bits;
  readonly rule: Rule;
  readonly format: Format | null;
  readonly returnsNew?: boolean;
  /** The lanes' addresses in `A`: offsets into the surface, or addresses. */
  readonly offsets: boolean;
  readonly slot: number;
}

const elements = 24;

function atomicCase({ title, text, bits, rule, format, returnsNew = false, offsets, slot }: Form): Case {
  const bytes = bits / 8;
  const random = new Random(bits);
  const memory = values(random, bits, format, elements);
  const first = values(random, bits, format, 16);
  const second = values(random, bits, format, 16);
  // Every third lane finds the value that it compares with; lanes 4 and 12 access the same location, one after the
  // other.
  const places = random.distinct(16, elements, 1);
  places[12] = places[4]!;
  places.forEach((place, i) => {
    if (i % 3 === 0) first[i] = memory[place]!;
    if (i % 3 === 1) second[i] = memory[place]!;
  });
  const buffer = new Uint8Array(256 + elements * 8);
  const view = new DataView(buffer.buffer);
  const put = (target: DataView, at: number, size: number, value: bigint): void => {
    for (let i = 0; i < size; i++) target.setUint8(at + i, Number((value >> BigInt(8 * i)) & 0xffn));
  };
  for (const [i, value] of memory.entries()) put(view, 256 + i * bytes, bytes, value);
  const operand = (numbers: readonly bigint[]): Uint8Array => {
    // Only the low half of a dword counts for 16 bits.
    const all = new Uint8Array(16 * slot).fill(0xa5);
    for (const [i, value] of numbers.entries()) put(new DataView(all.buffer), i * slot, bytes, value);
    return all;
  };
  const kernel: Kernel = {
    text: `    ${text}`,
    width: 16,
    items: 14,
    buffer,
    surfaces: { 3: [256, elements * 8] },
    surfaceVariables: { T6: 3 },
    registers: (base) => ({
      A: offsets
        ? { type: "ud", bytes: dwords(...places.map((i) => i * bytes)) }
        : {
            type: "uq",
            bytes: new Uint8Array(BigUint64Array.from(places, (i) => base + BigInt(256 + i * bytes)).buffer),
          },
      X: { type: "ub", bytes: operand(first) },
      Y: { type: "ub", bytes: operand(second) },
      D: { type: "ub", bytes: new Uint8Array(16 * slot).fill(0x77) },
    }),
  };
  return {
    title,
    kernel,
    expected: (m, active) => {
      for (let i = 0; i < 16; i++) {
        if (!active(i)) continue;
        const address = m.base + BigInt(256 + places[i]! * bytes);
        const old = m.load(address, bytes);
        const fresh = BigInt.asUintN(
          bits,
          rule(old, m.get("X", i * slot, bytes), m.get("Y", i * slot, bytes), bits, format!),
        );
        m.store(address, bytes, fresh);
        if (text.includes(" D")) m.put("D", i * slot, slot, returnsNew ? fresh : old);
      }
    },
  };
}

const isFloat = (name: string): boolean => /^b?f/.test(name);
const slotOf = (bits: Bits): number => (bits === 64 ? 8 : 4);

const svmForms = Object.entries(legacy).flatMap(([name, rule]) =>
  ([16, 32, 64] as const).map((bits): Form => {
    const width = bits === 32 ? "" : `.${bits}`;
    return {
      title: `svm_atomic.${name}${width}`,
      text: `svm_atomic.${name}${width} (M1, 16) A.0 D.0 X.0 Y.0`,
      bits,
      rule,
      format: isFloat(name) ? formats[bits] : null,
      returnsNew: name === "predec",
      offsets: false,
      slot: slotOf(bits),
    };
  }),
);
const dwordForms = Object.entries(legacy).flatMap(([name, rule]) =>
  ([16, 32] as const).map((bits): Form => {
    const width = bits === 32 ? "" : `.${bits}`;
    return {
      title: `dword_atomic.${name}${width}`,
      text: `dword_atomic.${name}${width} (M1, 16) T6 A.0 X.0 Y.0 D.0`,
      bits,
      rule,
      format: isFloat(name) ? formats[bits] : null,
      returnsNew: name === "predec",
      offsets: true,
      slot: 4,
    };
  }),
);
const lscForms = Object.entries(lsc).flatMap(([name, rule]) => {
  const brief = name.startsWith("bf");
  return (brief ? ([16] as const) : ([16, 32, 64] as const)).flatMap((bits): Form[] => {
    const data = bits === 16 ? "d16u32" : `d${bits}`;
    const format = brief ? bf : isFloat(name) ? formats[bits] : null;
    const common = { bits, rule, format, slot: slotOf(bits) };
    return [
      {
        ...common,
        title: `lsc_atomic_${name} ${data}, flat`,
        text: `lsc_atomic_${name}.ugm (M1, 16) D:${data} flat[A]:a64 X Y`,
        offsets: false,
      },
      {
        ...common,
        title: `lsc_atomic_${name} ${data}, a surface`,
        text: `lsc_atomic_${name}.ugm.uc.wb (M1, 16) D:${data} bti(0x3)[A]:a32 X Y`,
        offsets: true,
      },
    ];
  });
});

describe("svm_atomic", () => testCases(svmForms.map(atomicCase)));
describe("dword_atomic", () => testCases(dwordForms.map(atomicCase)));
describe("lsc_atomic", () => testCases(lscForms.map(atomicCase)));

describe("atomic operations without a result", () => {
  const form = { bits: 32, rule: rules.add, format: null, slot: 4 } as const;
  testCases(
    [
      { ...form, title: "svm_atomic", text: "svm_atomic.add (M1, 16) A.0 %null.0 X.0 %null.0", offsets: false },
      { ...form, title: "dword_atomic", text: "dword_atomic.add (M1, 16) T6 A.0 X.0 %null.0 %null.0", offsets: true },
      {
        ...form,
        title: "lsc_atomic",
        text: "lsc_atomic_iadd.ugm (M1, 16) %null:d32 flat[A]:a64 X %null",
        offsets: false,
      },
    ].map(atomicCase),
  );
});

test("beyond the end of a surface an atomic operation returns 0 and changes nothing", () => {
  const buffer = dwords(1, 2, 3, 4);
  const outcome = run({
    text: "    dword_atomic.add (M1, 8) T6 A.0 X.0 %null.0 D.0",
    width: 8,
    buffer,
    surfaces: { 1: [0, 8] },
    surfaceVariables: { T6: 1 },
    registers: () => ({
      A: { type: "ud", bytes: dwords(0, 4, 8, 12, 16, 0xffff_fffc, 0, 4) },
      X: { type: "ud", bytes: dwords(10, 20, 30, 40, 50, 60, 70, 80) },
      D: { type: "ud", bytes: dwords(9, 9, 9, 9, 9, 9, 9, 9) },
    }),
  });
  expect(outcome.reports).toEqual([]);
  expect(outcome.buffer).toEqual(dwords(81, 102, 3, 4));
  expect(outcome.registers.D).toEqual(dwords(1, 2, 0, 0, 0, 0, 11, 22));
});

test("in shared local memory", () => {
  const outcome = run({
    text: `    dword_atomic.add (M1, 8) T0 A.0 X.0 %null.0 %null.0
    lsc_atomic_iadd.slm (M1, 8) D:d32 flat[A+0x8]:a32 X %null
    dword_atomic.inc (M1_NM, 1) T0 A.0 %null.0 %null.0 E.0`,
    width: 8,
    slmBytes: 64,
    registers: () => ({
      A: { type: "ud", bytes: dwords(0x1000_0000, 4, 0, 4, 0, 4, 0, 4) },
      X: { type: "ud", bytes: dwords(1, 2, 4, 8, 16, 32, 64, 128) },
      D: { type: "ud", bytes: new Uint8Array(32) },
      E: { type: "ud", bytes: new Uint8Array(4) },
    }),
  });
  expect(outcome.reports).toEqual([]);
  expect(outcome.registers.D).toEqual(dwords(0, 0, 1, 2, 5, 10, 21, 42));
  expect(outcome.registers.E).toEqual(dwords(85));
});

test("of a number and a NaN, the number is the minimum and the maximum; zeros of both signs compare equal", () => {
  const nan = 0x7fc0_0000;
  const outcome = run({
    text: `    svm_atomic.fmin (M1, 8) A.0 %null.0 X.0 %null.0
    svm_atomic.fmax (M1, 8) A.0 %null.0 X.0 %null.0
    svm_atomic.fcmpwr (M1_NM, 1) Z.0 %null.0 M.0 X.0`,
    width: 8,
    buffer: dwords(nan, 0x3f80_0000, 0, 0),
    registers: (base) => ({
      A: {
        type: "uq",
        bytes: new Uint8Array(BigUint64Array.from([0, 4, 8, 12, 0, 4, 8, 12], (i) => base + BigInt(i)).buffer),
      },
      X: { type: "f", bytes: dwords(0x4000_0000, nan, 0, 0, 0x4000_0000, nan, 0, 0) },
      Z: { type: "uq", bytes: new Uint8Array(BigUint64Array.of(base + 8n).buffer) },
      M: { type: "f", bytes: dwords(0x8000_0000) },
    }),
  });
  expect(outcome.reports).toEqual([]);
  expect(outcome.buffer).toEqual(dwords(0x4000_0000, 0x3f80_0000, 0x4000_0000, 0));
});
