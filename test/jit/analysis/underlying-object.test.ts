import { expect, test } from "vitest";
import { UnderlyingObjects } from "../../../src/jit/compile/analysis/values/underlying-object.ts";
import { Analysed } from "./analysed.ts";

// The object of the address in %x9. The pointers x and y are at offsets 0 and 8 among the parameters.

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; ld.param.u64 %x0, [x]; ld.param.u64 %x1, [y];\n";

function objectOf(body: string, offset = 0) {
  const code = new Analysed(`${begin}${body}\nret;`, undefined, ".shared .b32 table[64];\n");
  return new UnderlyingObjects(code.analysis, [0, 8]).of(code.register("%x9"), offset);
}

const param = (offset: number, distance: number | null) => ({ root: { kind: "param", offset }, distance });

test.each([
  ["a pointer", "mov.u64 %x9, %x1;", param(8, 0)],
  ["a pointer and bytes", "add.u64 %x8, %x0, 16; sub.u64 %x9, %x8, 4;", param(0, 12)],
  ["an element", "mad.wide.u32 %x9, %r0, 4, %x1;", param(8, 0)],
  ["an element further on", "mul.wide.u32 %x8, %r0, 4; add.u64 %x8, %x8, 20; add.u64 %x9, %x0, %x8;", param(0, 20)],
  // The same in all lanes, but not a number: it belongs to the base, whose distance is then unknown.
  ["an offset from a parameter", "mul.wide.u32 %x8, %s0, 4; add.u64 %x9, %x0, %x8;", param(0, null)],
  // Two writers of the same object.
  ["a pointer that moves on", "mov.u64 %x9, %x0; setp.eq.u32 %p0, %s0, 0; @%p0 add.u64 %x9, %x9, 4;", param(0, null)],
  ["a difference of pointers", "sub.u64 %x9, %x0, %x1;", param(0, null)],
  ["what has been loaded", "ld.global.u64 %x9, [%x0];", null],
  ["what is multiplied", "mul.lo.u64 %x9, %x0, 2;", null],
])("%s", (_, body, object) => {
  expect(objectOf(body)).toEqual(object === null ? [] : [object]);
});

test("a variable of the program is its address", () => {
  const found = objectOf("mov.u64 %x8, table; mad.wide.u32 %x9, %r0, 4, %x8;", 8);
  expect(found).toHaveLength(1);
  // The offset of the access belongs to the address at which the object is looked up, not to the distance of the base.
  const { root, distance } = found[0]!;
  expect(root).toEqual({ kind: "constant", addresses: [distance! + 8] });
});

test("of an unknown base the offset may be the address", () => {
  expect(objectOf("ld.global.u64 %x9, [%x0];", 64)).toEqual([
    { root: { kind: "constant", addresses: [64] }, distance: null },
  ]);
});

test.each([
  ["written in two places", "mov.u64 %x9, %x0; setp.eq.u32 %p0, %r0, 0; @%p0 mov.u64 %x9, %x1;"],
  ["selected", "setp.eq.u32 %p0, %r0, 0; selp.b64 %x9, %x0, %x1, %p0;"],
  ["selected, and an element", "setp.eq.u32 %p0, %r0, 0; selp.b64 %x8, %x0, %x1, %p0; mad.wide.u32 %x9, %r0, 4, %x8;"],
])("of a pointer that is %s, both may be it", (_, body) => {
  expect(objectOf(body)).toEqual([param(0, null), param(8, null)]);
});
