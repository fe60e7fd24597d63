import { describe, expect, test } from "vitest";
import { elementInfo, Elements, elementTypes } from "../../src/runtime/data/element.ts";
import { generate, type Init, type LcgInit } from "../../src/runtime/job/init.ts";

/** The values of an initialization one by one, as docs/cli.md and the page of jobs define them. */
function* valuesOf(type: (typeof elementTypes)[number], init: Exclude<Init, { gen: "file" | "bytes" }>) {
  const { kind, size } = elementInfo[type];
  if (init.gen === "zero") for (;;) yield 0;
  if (init.gen === "fill") for (;;) yield init.value;
  if (init.gen === "list") for (let i = 0; ; i++) yield init.values[i] ?? 0;
  if (init.gen === "iota") {
    for (let i = 0; ; i++) {
      if (kind === "float") yield Number(init.start) + i * Number(init.step);
      else yield BigInt(init.start) + BigInt(i) * BigInt(init.step);
    }
  }
  const { seed, lo, hi, mod, add, scale } = init as LcgInit;
  let s = BigInt(seed);
  const step = (): bigint => (s = (s * 1664525n + 1013904223n) % 2n ** 32n);
  const mixed = (): bigint => step() ^ (s >> 16n);
  for (;;) {
    if (kind === "float") {
      yield mod === null
        ? lo + ((hi - lo) * Number(step() >> 8n)) / 2 ** 24
        : ((Number(mixed() >> 3n) % mod) + add) * scale;
    } else if (size === 8) {
      const [low, high] = [mixed(), mixed()];
      yield mod === null ? low + (high << 32n) : BigInt((Number(low >> 3n) % mod) + add);
    } else yield mod === null ? mixed() : BigInt((Number(mixed() >> 3n) % mod) + add);
  }
}

const inits: readonly Exclude<Init, { gen: "file" | "bytes" }>[] = [
  { gen: "zero" },
  { gen: "fill", value: -3 },
  { gen: "list", values: [1, 2, 3] },
  { gen: "iota", start: 5, step: 1 },
  { gen: "iota", start: -3n, step: -2n },
  { gen: "iota", start: 4_294_967_290, step: 3 },
  { gen: "iota", start: 0xff_ffff_ffffn, step: 0x1_0000_0001n },
  { gen: "lcg", seed: 7, lo: 0, hi: 1, mod: null, add: 0, scale: 1 },
  { gen: "lcg", seed: 0xffff_ffff, lo: -2, hi: 3, mod: null, add: 0, scale: 1 },
  { gen: "lcg", seed: 9, lo: 0, hi: 1, mod: 10, add: -5, scale: 0.5 },
];

describe.each(elementTypes)("%s", (type) => {
  // Around the length of a piece, within which buffers are filled.
  test.each([0, 1, 3, 4095, 4096, 4097, 9000])("%i elements", (n) => {
    for (const init of inits) {
      const want = Elements.zeros(type, n);
      const values = valuesOf(type, init);
      for (let i = 0; i < n; i++) want.set(i, values.next().value as number | bigint);
      expect(Buffer.compare(generate(type, n, init).bytes, want.bytes), JSON.stringify(init.gen)).toBe(0);
    }
  });
});

test("bytes at an odd place are filled too", () => {
  const { size } = elementInfo.f32;
  const odd = new Elements("f32", new Uint8Array(new ArrayBuffer(3 * size + 1), 1));
  expect([...new Float32Array(generate("f32", 3, inits[3]!, odd).bytes.slice().buffer)]).toEqual([5, 6, 7]);
});
