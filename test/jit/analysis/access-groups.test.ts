import { describe, expect, test } from "vitest";
import { accessGroups, addressOf } from "../../../src/jit/compile/analysis/access/access-groups.ts";
import { restartablePrefixOf } from "../../../src/jit/compile/analysis/access/restartable-prefix.ts";
import { wideLoadsOf } from "../../../src/jit/compile/analysis/access/wide-loads.ts";
import { kit } from "../../../src/semantics/index.ts";
import { Analysed } from "./analysed.ts";

const begin =
  "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; ld.param.u64 %x0, [x]; ld.param.u64 %x1, [y]; mad.wide.u32 %x2, %r0, 16, %x0;\n";

const codeOf = (line: string): Analysed => new Analysed(`${begin}${line}\nret;`);

/** By access of line 1: the number of its group, and its place in it. */
function groupsOf(line: string): readonly (readonly [number, number])[] {
  const code = codeOf(line);
  const members = accessGroups(code.code);
  const found = code.at(1).flatMap((i) => members.get(i) ?? []);
  const groups = [...new Set(found.map(({ group }) => group))];
  return found.map(({ group, at }) => [groups.indexOf(group), at] as const);
}

describe("accesses of a block that are near each other are checked together", () => {
  const load = (n: number, address: string): string => `ld.global.u32 %r${n}, [${address}];`;

  test.each([
    [
      "from one base",
      `${load(1, "%x2+4")} ${load(2, "%x2")} ${load(3, "%x2+12")}`,
      [
        [0, 4],
        [0, 0],
        [0, 12],
      ],
    ],
    [
      "through a register that is a sum",
      `${load(1, "%x2")} add.u64 %x3, %x2, 8; ${load(2, "%x3")}`,
      [
        [0, 0],
        [0, 8],
      ],
    ],
    [
      "not from other bases",
      `${load(1, "%x2")} ${load(2, "%x1")}`,
      [
        [0, 0],
        [1, 0],
      ],
    ],
    [
      "not more than 4096 bytes from each other",
      `${load(1, "%x2")} ${load(2, "%x2+4096")}`,
      [
        [0, 0],
        [1, 0],
      ],
    ],
    [
      "not after the base has changed",
      `${load(1, "%x2")} ld.global.u64 %x2, [%x1]; ${load(2, "%x2")}`,
      [
        [0, 0],
        [1, 0],
        [2, 0],
      ],
    ],
    [
      "not if they are aligned to different multiples",
      "ld.global.u32 %r1, [%x2]; ld.global.u64 %x3, [%x2+4];",
      [
        [0, 0],
        [1, 0],
      ],
    ],
    [
      "loads and stores of global memory alike",
      "ld.global.u32 %r1, [%x2]; st.global.u32 [%x2+4], %s0;",
      [
        [0, 0],
        [0, 4],
      ],
    ],
  ])("%s", (_, line, groups) => {
    expect(groupsOf(line)).toEqual(groups);
  });
});

test("an address is a base and constant bytes, if these are fewer than 2^31", () => {
  const x = { kind: "reg", ty: "i64", reg: 3 } as const;
  expect(addressOf(kit.add(kit.add(x, kit.i64(8n)), kit.i64(4n)))).toEqual({ base: x, offset: 12 });
  const far = kit.add(x, kit.i64(2n ** 31n));
  expect(addressOf(far)).toEqual({ base: far, offset: 0 });
});

describe("loads of words that lie within 16 bytes become one", () => {
  const elementsOf = (line: string): readonly number[] => {
    const code = codeOf(line);
    const parts = wideLoadsOf(code.code, accessGroups(code.code));
    return code.at(1).flatMap((i) => (parts.has(i) ? parts.get(i)!.at / 4 : []));
  };
  const words = (...offsets: number[]): string =>
    offsets.map((offset, i) => `ld.global.u32 %r${i + 1}, [%x2+${offset}];`).join(" ");

  test.each([
    ["four words, in any order", words(4, 0, 12, 8), [1, 0, 3, 2]],
    ["three of them", words(0, 4, 12), [0, 1, 3]],
    ["not two", words(0, 4), []],
    ["not past the sixteenth byte", words(0, 4, 16), []],
    ["not across a store", `${words(0, 4)} st.global.u32 [%x1], %s0; ld.global.u32 %r5, [%x2+8];`, []],
    ["not what is volatile", words(0, 4, 8).replace("ld.", "ld.volatile."), []],
  ])("%s", (_, line, elements) => {
    expect(elementsOf(line)).toEqual(elements);
  });
});

describe("what may be done at the start of a block", () => {
  const prefixOf = (line: string) => {
    const code = codeOf(line);
    const [first] = code.at(1);
    const block = code.code.graph.blockAt(first!);
    const { end } = code.code.graph.blocks[block]!;
    const { computed, accesses } = restartablePrefixOf(code.analysis, block, end, (i) => i < first!);
    return { computed: computed.map((i) => i - first!), accesses: accesses.map((i) => i - first!) };
  };

  test("scalars that nothing before them reads or writes", () => {
    expect(prefixOf("add.u64 %x3, %x1, 8; ld.global.u32 %r1, [%x3];")).toEqual({ computed: [0], accesses: [1] });
  });

  test("not vectors, nor what is computed from them", () => {
    expect(prefixOf("ld.global.u32 %r1, [%x2]; add.u32 %r2, %r1, 1;")).toEqual({ computed: [], accesses: [0] });
  });

  test("not what overwrites a value with which the block would begin again", () => {
    // The same pointer goes around the loop.
    const code = codeOf(`LOOP: ld.global.u32 %r1, [%x1];
add.u64 %x1, %x1, 4;
st.global.u32 [%x1], %r1; setp.lt.u32 %p0, %r1, %s0; @%p0 bra LOOP;`);
    const block = code.blockOf(1);
    const { computed, accesses, isReady } = restartablePrefixOf(
      code.analysis,
      block,
      code.code.graph.blocks[block]!.end,
      () => false,
    );
    const [load, sum, store] = [1, 2, 3].map((line) => code.at(line)[0]!);
    expect(computed).not.toContain(sum);
    expect(accesses).toEqual([load, store]);
    // So at the start of the block the address of the load is there, that of the store is not.
    expect([load, store].map((i) => isReady(code.register("%x1"), i!))).toEqual([true, false]);
  });

  test("not what is guarded", () => {
    expect(prefixOf("setp.eq.u32 %p0, %s0, 0; @%p0 ld.global.u32 %r1, [%x2];")).toEqual({
      computed: [0],
      accesses: [],
    });
  });
});
