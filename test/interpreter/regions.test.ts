import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LaneRule } from "../../src/ir/index.ts";
import { type Expr, kit, type Region } from "../../src/semantics/index.ts";
import { sanitizersFor } from "../../src/sanitizers/index.ts";
import { engines, range } from "./harness.ts";
import {
  channels,
  flat,
  freeAt,
  idAt,
  into,
  intoAt,
  kernel,
  one,
  read,
  readAt,
  region,
  runThreads,
  storeBytes,
  storeLanes,
} from "./threads.ts";

const all = channels(16);
const scalar = channels(1, 0, { noMask: true });
const ids = read(flat(idAt));

describe.each(engines)("regions, with $name", ({ generate }) => {
  test("neighbours, a stride, rows, a scalar", () => {
    const patterns: readonly (readonly [Region, (lane: number) => number])[] = [
      [flat(freeAt), (i) => i],
      [region(freeAt, [2, 1, 0]), (i) => 2 * i],
      [region(freeAt, [8, 8, 1]), (i) => i],
      [region(freeAt, [0, 1, 0]), () => 0],
      [region(freeAt, [0, 8, 1]), (i) => i % 8],
      [region(freeAt, [4, 2, 1]), (i) => 4 * (i >> 1) + (i & 1)],
      [region(freeAt + 4, [1, 4, 0]), (i) => 1 + (i >> 2)],
      [region(freeAt, [16, 8, 2]), (i) => 2 * i],
    ];
    for (const [pattern, element] of patterns) {
      const { m, k } = kernel(256);
      // Element i holds 100 + i.
      for (const half of [0, 16]) {
        k.emit(
          { kind: "pure", values: [kit.add(ids, kit.i32(100 + half))] },
          { dst: [into(flat(freeAt + half * 4))], lanes: all },
        );
      }
      storeLanes(k, read(pattern), all);
      k.exit();
      expect([...runThreads(m, { generate, words: 16 }).out]).toEqual(range(16, (i) => 100 + element(i)));
    }
  });

  test("small elements are extended as they say, and written without their neighbours", () => {
    const { m, k } = kernel(64);
    k.emit({ kind: "pure", values: [kit.sub(ids, kit.i32(3))] }, { dst: [into(flat(freeAt), 8)], lanes: all });
    k.emit(
      { kind: "pure", values: [read(flat(freeAt), 8, true)] },
      { dst: [into(region(freeAt + 18, [1, 1, 0]), 16)], lanes: channels(8) },
    );
    storeLanes(
      k,
      kit.add(read(flat(freeAt), 8, false), kit.mul(read(flat(freeAt + 18), 16, false), kit.i32(1000))),
      all,
    );
    k.exit();
    const byte = (i: number) => (i - 3) & 0xff;
    const word = (i: number) => (i < 8 ? (i - 3) & 0xffff : 0);
    expect([...runThreads(m, { generate, words: 16 }).out]).toEqual(range(16, (i) => byte(i) + 1000 * word(i)));
  });

  test("elements need not be aligned, and halves of 64 bits are elements", () => {
    const { m, k } = kernel(160);
    const wide = kit.op("i64.from_halves", kit.add(ids, kit.i32(7)), kit.sub(kit.i32(0), ids));
    k.emit({ kind: "pure", values: [wide] }, { dst: [into(flat(freeAt + 3), 64)], lanes: all });
    const back = read(flat(freeAt + 3), 64);
    storeLanes(k, kit.add(kit.wrap(back), kit.mul(kit.high(back), kit.i32(1000))), all);
    k.exit();
    expect([...runThreads(m, { generate, words: 16 }).out]).toEqual(range(16, (i) => i + 7 - i * 1000));
  });

  test("a predicate is a word, bit by bit, and channels beyond the group's lanes execute with NoMask", () => {
    const { m, k } = kernel(64);
    const p = k.reg("pred");
    k.emit(
      { kind: "pure", values: [kit.eq(kit.and(ids, kit.i32(1)), kit.i32(1))] },
      { dst: [p], lanes: channels(16, 0, { noMask: true }) },
    );
    k.emit(
      { kind: "pure", values: [{ kind: "lane-word", ty: "i32", reg: p.index }] },
      { dst: [into(one(freeAt))], lanes: scalar },
    );
    storeBytes(k, freeAt, 4);
    k.exit();
    expect(runThreads(m, { generate, words: 1, width: 8 }).out[0]).toBe(0xaaaa);
  });

  test("all sources are read before anything is written", () => {
    const { m, k } = kernel(128);
    k.emit({ kind: "pure", values: [ids] }, { dst: [into(flat(freeAt + 4))], lanes: all });
    // Up by one element, and then doubled in place by the first one, which is written as well.
    k.emit({ kind: "pure", values: [read(flat(freeAt + 4))] }, { dst: [into(flat(freeAt + 8))], lanes: all });
    k.emit(
      { kind: "pure", values: [kit.add(read(flat(freeAt + 8)), read(one(freeAt + 12)))] },
      { dst: [into(flat(freeAt + 8))], lanes: all },
    );
    storeLanes(k, read(flat(freeAt + 8)), all);
    k.exit();
    expect([...runThreads(m, { generate, words: 16 }).out]).toEqual(range(16, (i) => i + 1));
  });

  test("a computed place is within the file, or reads 0 and drops what is written", () => {
    const { m, k } = kernel(64);
    const own = kit.add(kit.i32(freeAt), kit.mul(kit.xor(ids, kit.i32(15)), kit.i32(4)));
    k.emit({ kind: "pure", values: [kit.add(ids, kit.i32(1))] }, { dst: [intoAt(own)], lanes: all });
    for (const far of [-4, -1, freeAt + 61, freeAt + 64, 0x7fff_fffc]) {
      k.emit({ kind: "pure", values: [kit.i32(-1)] }, { dst: [intoAt(kit.i32(far))], lanes: scalar });
      storeLanes(k, kit.add(readAt(own), readAt(kit.i32(far))), all);
    }
    k.exit();
    const { ok, out } = runThreads(m, { generate, words: 16 });
    expect(ok).toBe(true);
    expect([...out]).toEqual(range(16, (i) => i + 1));
  });

  test("a place outside of the file is reported where the instruction asks for it", () => {
    const { m, k } = kernel(64);
    const place = kit.add(kit.i32(freeAt), kit.mul(ids, kit.i32(8)));
    k.emit(
      { kind: "pure", values: [readAt(place)] },
      {
        dst: [into(flat(freeAt))],
        lanes: all,
        undefinedCases: [{ code: "register-out-of-bounds", when: kit.le(kit.i32(freeAt + 64), place, false) }],
      },
    );
    k.exit();
    const { reports } = runThreads(m, { generate, observers: sanitizersFor(["memory"]) });
    expect(reports.map((r) => [r.severity, r.code, r.threads.map((t) => t.thread[0])])).toEqual([
      ["warning", "register-out-of-bounds", range(8, (i) => i + 8)],
    ]);
  });

  test("a region that runs out of the file reads 0 there, and does not write", () => {
    const { m, k } = kernel(32);
    const beyond = flat(freeAt + 16);
    k.emit({ kind: "pure", values: [kit.add(ids, kit.i32(1))] }, { dst: [into(beyond)], lanes: all });
    storeLanes(k, read(beyond), all);
    k.exit();
    expect([...runThreads(m, { generate, words: 16 }).out]).toEqual(range(16, (i) => (i < 4 ? i + 1 : 0)));
  });

  test("a NaN that is moved keeps its bits, one that is computed is canonical", () => {
    const { m, k } = kernel(64);
    const f = (at: Region) => read(at, 32, true, "f32");
    k.emit({ kind: "pure", values: [kit.i32(0xff81_2345 | 0)] }, { dst: [into(flat(freeAt))], lanes: all });
    k.emit({ kind: "pure", values: [f(flat(freeAt))] }, { dst: [into(flat(freeAt))], lanes: channels(8) });
    k.emit(
      { kind: "pure", values: [kit.add(f(flat(freeAt)), kit.f32(1))] },
      { dst: [into(flat(freeAt + 32, 8))], lanes: channels(8, 8) },
    );
    storeLanes(k, read(flat(freeAt)), all);
    k.exit();
    const { out } = runThreads(m, { generate, words: 16 });
    expect([...out].slice(0, 8)).toEqual(range(8, () => 0xff81_2345 | 0));
    expect(new Set(out.slice(8))).toEqual(new Set([0x7fff_ffff]));
  });
});

describe.each(engines)("which lanes execute, with $name", ({ generate }) => {
  /** The lanes that write, where every odd lane's predicate is set. */
  function writers(rule: LaneRule, guard: { negate?: boolean; collapse?: "any" | "all" } | null): readonly number[] {
    const { m, k } = kernel(64);
    const p = k.reg("pred");
    k.set(p, kit.eq(kit.and(ids, kit.i32(1)), kit.i32(1)), { lanes: channels(16, 0, { noMask: true }) });
    const { first, count } = rule;
    const to = into(flat(freeAt + first * 4, first));
    const collapse = guard?.collapse === undefined ? {} : { collapse: guard.collapse };
    const when = guard === null ? {} : guard.negate === true ? { unless: p } : { when: p };
    k.emit({ kind: "pure", values: [kit.i32(count)] }, { dst: [to], lanes: rule, ...when, ...collapse });
    storeBytes(k, freeAt, 64);
    k.exit();
    const { out } = runThreads(m, { generate, words: 16, width: 16, block: [12, 1, 1] });
    return range(16, (i) => i).filter((i) => out[i] === count);
  }
  const lanes = (from: number, to: number, keep = (_: number) => true) =>
    range(to - from, (i) => from + i).filter(keep);
  const odd = (i: number) => i % 2 === 1;

  test.each<readonly [string, LaneRule, Parameters<typeof writers>[1], readonly number[]]>([
    ["all lanes of the thread, which are 12", channels(16), null, lanes(0, 12)],
    ["a quarter", channels(4, 8), null, lanes(8, 12)],
    ["a quarter that is not there", channels(4, 12), null, []],
    ["the same with NoMask", channels(4, 12, { noMask: true }), null, lanes(12, 16)],
    ["odd lanes", channels(8, 4), {}, lanes(4, 12, odd)],
    ["even lanes", channels(8), { negate: true }, lanes(0, 8, (i) => !odd(i))],
    ["any of the channels", channels(8, 8), { collapse: "any" }, lanes(8, 12)],
    ["not any of the channels", channels(8, 8), { collapse: "any", negate: true }, []],
    ["all of the channels", channels(8), { collapse: "all" }, []],
    ["not all of the channels", channels(8), { collapse: "all", negate: true }, lanes(0, 8)],
    ["one channel, whose predicate is not set", channels(1, 2, { noMask: true }), {}, []],
    ["one channel, whose predicate is set", channels(1, 3, { noMask: true }), { collapse: "all" }, [3]],
  ])("%s", (_, rule, guard, expected) => {
    expect(writers(rule, guard)).toEqual(expected);
  });
});

/** An independent model: a byte array, and lanes that read all of their sources before any of them writes. */
test("any instruction over a file of bytes does what a plain model does, with both realisations", () => {
  const size = fc.constantFrom(8, 16, 32, 64);
  const place = fc.record({
    at: fc.nat(90),
    vertical: fc.constantFrom(0, 1, 2, 4),
    width: fc.constantFrom(1, 2, 4, 8),
    horizontal: fc.constantFrom(0, 1, 2),
    bits: size,
  });
  const instruction = fc.record({
    a: place,
    b: place,
    to: place,
    signed: fc.boolean(),
    first: fc.constantFrom(0, 4, 8),
    count: fc.constantFrom(1, 4, 8),
  });
  const bytes = 128;
  fc.assert(
    fc.property(fc.array(instruction, { minLength: 1, maxLength: 12 }), (list) => {
      const model = new DataView(new ArrayBuffer(bytes));
      for (let i = 0; i < bytes; i++) model.setUint8(i, i * 37 + 1);
      const outputs = engines.map(({ generate }) => {
        const { m, k } = kernel(bytes);
        for (let i = 0; i < bytes; i++) {
          k.emit({ kind: "pure", values: [kit.i32(i * 37 + 1)] }, { dst: [into(one(freeAt + i), 8)], lanes: scalar });
        }
        for (const { a, b, to, signed, first, count } of list) {
          const source = ({ at, vertical, width, horizontal, bits }: typeof a): Expr => {
            const value = read(region(freeAt + at, [vertical, width, horizontal], first), bits as 8, signed);
            return to.bits === 64
              ? bits === 64
                ? value
                : kit.widen(value, signed)
              : bits === 64
                ? kit.wrap(value)
                : value;
          };
          const target = region(freeAt + to.at, [to.vertical, to.width, to.horizontal], first);
          k.emit(
            { kind: "pure", values: [kit.add(source(a), source(b))] },
            { dst: [into(target, to.bits as 8)], lanes: channels(count, first, { noMask: true }) },
          );
        }
        storeBytes(k, freeAt, bytes);
        k.exit();
        return [...new Uint8Array(runThreads(m, { generate, words: bytes / 4 }).out.slice().buffer)];
      });
      for (const { a, b, to, signed, count } of list) {
        const at = (p: typeof a, e: number) =>
          p.at + ((Math.floor(e / p.width) * p.vertical + (e % p.width) * p.horizontal) * p.bits) / 8;
        const get = (p: typeof a, e: number): bigint => {
          let value = 0n;
          for (let i = p.bits / 8 - 1; i >= 0; i--) {
            // A part of an element is outside: then all of it is.
            if (at(p, e) + p.bits / 8 > bytes) return 0n;
            value = (value << 8n) | BigInt(model.getUint8(at(p, e) + i));
          }
          return signed ? BigInt.asIntN(p.bits, value) : value;
        };
        const sums = range(count, (e) => get(a, e) + get(b, e));
        sums.forEach((sum, e) => {
          if (at(to, e) + to.bits / 8 > bytes) return;
          for (let i = 0; i < to.bits / 8; i++) {
            model.setUint8(at(to, e) + i, Number((sum >> BigInt(8 * i)) & 0xffn));
          }
        });
      }
      const expected = [...new Uint8Array(model.buffer)];
      expect(outputs[0]).toEqual(expected);
      expect(outputs[1]).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});
