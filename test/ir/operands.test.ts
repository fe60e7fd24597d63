import { describe, expect, test } from "vitest";
import {
  type Instruction,
  mapOperands,
  mapWarpOperands,
  type Op,
  operandsOf,
  symbolsOf,
  valuesOf,
  visitOperands,
} from "../../src/ir/index.ts";
import { type Expr, kit } from "../../src/semantics/index.ts";
import { allSamples, samples } from "./sample-ops.ts";

const instruction = (op: Op, undefinedCases: Instruction["undefinedCases"] = []): Instruction => ({
  guard: null,
  op,
  dst: [],
  undefinedCases,
  span: { start: 0, end: 0 },
  location: null,
});

/** All expressions in a value, by looking at each of its fields: what the descriptions must not miss. */
function expressionsIn(value: unknown): Expr[] {
  if (typeof value !== "object" || value === null) return [];
  if ("ty" in value) return [value as Expr];
  return Object.values(value).flatMap(expressionsIn);
}

const named = allSamples.map((op, i) => ({ name: `${op.kind} (${i})`, op }));

describe.each(named)("$name", ({ op }) => {
  test("shows every expression that it has, each once", () => {
    const shown: Expr[] = [];
    visitOperands(op, (expr) => shown.push(expr));
    expect(new Set(shown)).toEqual(new Set(expressionsIn(op)));
    expect(shown.length).toBe(expressionsIn(op).length);
    expect(operandsOf(op)).toEqual(shown);
  });

  test("is the same object where nothing is replaced", () => {
    const before = instruction(op, [{ code: "c", when: kit.pred(true) }]);
    expect(mapOperands(before, (expr) => expr)).toBe(before);
  });

  test("has the expressions that replace its own, in the same order, and is otherwise as it was", () => {
    const before = structuredClone(op);
    const operands = operandsOf(op);
    const others = new Map(operands.map((expr, i) => [expr, kit.i32(1000 + i)]));
    const after = mapOperands(instruction(op), (expr) => others.get(expr)!).op;
    expect(operandsOf(after)).toEqual(operands.map((expr) => others.get(expr)));
    expect(op).toEqual(before);
    const back = new Map([...others].map(([expr, other]) => [other, expr]));
    expect(mapOperands(instruction(after), (expr) => back.get(expr)!).op).toEqual(op);
  });
});

test("undefined cases are replaced, and not shown", () => {
  const when = kit.eq(kit.i32(1), kit.i32(2));
  const before = instruction({ kind: "nothing" }, [{ code: "c", when }]);
  expect(operandsOf(before.op)).toEqual([]);
  const after = mapOperands(before, () => kit.pred(false));
  expect(after.undefinedCases).toEqual([{ code: "c", when: kit.pred(false) }]);
});

test("the operands of a warp-wide operation alone", () => {
  const [{ warp }] = samples.warp.filter(({ warp: { op } }) => op === "redux") as [(typeof samples.warp)[number]];
  if (warp.op !== "redux") throw new Error(warp.op);
  const other = mapWarpOperands(warp, () => kit.i32(5));
  expect(other).toEqual({ ...warp, operands: [kit.i32(5)] });
});

test("an argument has a value for each of its registers", () => {
  const [call] = samples.call;
  expect(call!.args.map((arg) => valuesOf(arg).length)).toEqual([1, 0, 2, 2]);
  expect(call!.args.flatMap(valuesOf)).toEqual(operandsOf(call!));
});

test("symbols, wherever they are in an expression", () => {
  const symbol = (name: string): Expr => ({ kind: "symbol", ty: "i32", symbol: name, offset: 0, generic: false });
  const shared = kit.add(symbol("a"), kit.i32(1));
  const indirect: Expr = { kind: "indirect", ty: "i32", bits: 32, signed: false, address: symbol("b") };
  const found: string[] = [];
  symbolsOf({ kind: "pure", values: [kit.mul(shared, shared), indirect] }, (name) => found.push(name), new Set());
  expect(found).toEqual(["a", "b"]);
});
