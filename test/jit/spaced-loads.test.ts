import { expect, test } from "vitest";
import { expectSame } from "./harness.ts";

const threads = 32;

/** A variable of so many bytes, each of another value, about half of them with the highest bit set. */
const table = (bytes: number): string =>
  `.global .align 4 .b8 table[${bytes}] = {${Array.from({ length: bytes }, (_, i) => (37 * i + 11) % 256).join(", ")}};`;

const types = ["u8", "s8", "u16", "s16", "u32"] as const;

test.each(types)("elements of type %s, with others between them, up to the last byte of a variable", (type) => {
  const bytes = Number(type.slice(1)) / 8;
  for (let stride = 2 * bytes; stride <= 16; stride += bytes) {
    const before = table((threads - 1) * stride + bytes);
    const body = `mov.u64 %d0, table; mad.wide.u32 %d0, %t, ${stride}, %d0; ld.global.${type} %r1, [%d0];
      st.global.b32 [%out], %r1; ret;`;
    const block = [threads, 1, 1] as const;
    expect(expectSame({ name: "", before, body, block, words: 1 }).reports, `${stride} bytes apart`).toEqual([]);
  }
});

test.each(types)("elements of type %s, of which the last is beyond the end of a variable", (type) => {
  const bytes = Number(type.slice(1)) / 8;
  const body = `mov.u64 %d0, table; mad.wide.u32 %d0, %t, ${2 * bytes}, %d0; ld.global.${type} %r1, [%d0];
    st.global.b32 [%out], %r1; ret;`;
  const before = table((threads - 1) * 2 * bytes);
  const { reports } = expectSame({ name: "", before, body, block: [threads, 1, 1], words: 1 });
  expect(reports).toMatchObject([{ code: "global-out-of-bounds" }]);
});
