import { expect, test } from "vitest";
import { type Expr, kit, printEquations, printExpr } from "../../src/semantics/index.ts";

const names = ["a", "b", "c"];
const leaf = (index: number, ty: Expr["ty"] = "i32"): Expr => ({ kind: "reg", ty, reg: index });
const [a, b, c] = [leaf(0), leaf(1), leaf(2)];
const nameOf = (expr: Expr) => (expr.kind === "reg" ? names[expr.reg]! : expr.kind);
const print = (expr: Expr) => printExpr(expr, nameOf);

test.each([
  [kit.add(kit.mul(a, b), c), "a * b + c"],
  [kit.mul(kit.add(a, b), c), "(a + b) * c"],
  [kit.sub(a, kit.sub(b, c)), "a - (b - c)"],
  [kit.sub(kit.sub(a, b), c), "a - b - c"],
  [kit.neg(kit.add(a, b)), "-(a + b)"],
  [kit.not(kit.and(a, b)), "~(a & b)"],
  [kit.or(kit.and(a, b), kit.shl(c, kit.i32(4))), "a & b | c << 4"],
  [kit.and(a, kit.i32(0xffff)), "a & 0xffff"],
  [kit.add(a, kit.i32(-4)), "a + -4"],
  [kit.shr(a, b, true), "a >> b"],
  [kit.shr(kit.shl(kit.add(a, b), kit.i32(0)), kit.i32(16), false), "a + b >>> 16"],
  [kit.shr(a, b, false), "a >>> b"],
  [kit.select(kit.lt(a, b, false), a, b), "a <u b ? a : b"],
  [kit.widen(kit.add(a, b), true), "sext(a + b)"],
  [kit.op("f32.add_rz", leaf(0, "f32"), leaf(1, "f32")), "add_rz.f32(a, b)"],
  [kit.op("pred.not", leaf(0, "pred")), "!a"],
])("%#", (expr, text) => expect(print(expr)).toBe(text));

test("a part that is used twice gets one name", () => {
  const sum = kit.add(a, b);
  const square = kit.mul(sum, sum);
  const results = [
    { name: "d", value: kit.xor(square, c) },
    { name: "p", value: kit.eq(square, c) },
  ];
  expect(printEquations(results, nameOf)).toEqual(["t1 = a + b", "t2 = t1 * t1", "d = t2 ^ c", "p = t2 == c"]);
});

test("a chain of shared parts is printed in linear size", () => {
  let expr = a;
  for (let i = 0; i < 60; i++) expr = kit.add(expr, expr);
  expect(printEquations([{ name: "d", value: expr }], nameOf).join("\n").length).toBeLessThan(1500);
});

test("reads of a byte file show the byte, the region and the type", () => {
  const region = { at: 1728, first: 0, vertical: 8, width: 8, horizontal: 1 };
  const source: Expr = { kind: "region", ty: "f32", bits: 32, signed: false, region };
  const high: Expr = { kind: "region", ty: "i32", bits: 16, signed: true, region: { ...region, first: 8 } };
  const indirect: Expr = { kind: "indirect", ty: "i32", bits: 8, signed: false, address: kit.add(a, kit.i32(4)) };
  expect(print(kit.neg(kit.bitcast(source, "i32")))).toBe("-bits_as_i32(file[1728]<8;8,1>:f32)");
  expect(print(kit.add(high, indirect))).toBe("file[1728]<8;8,1>:s16 from lane 8 + file[a + 4]:u8");
});
