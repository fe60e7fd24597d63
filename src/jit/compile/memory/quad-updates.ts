import type { Access } from "../../../ir/index.ts";
import { type Expr, onceForEach, primOf } from "../../../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { canonicalNan } from "../lanes/canonical-nan.ts";
import { applyVector, type Value, type Vector, vectorOf } from "../lanes/value.ts";
import { hasOld } from "./read-modify-write.ts";

/** Whether all that is done to the old element has a form for four lanes. */
const hasQuads = (expr: Expr): boolean =>
  !hasOld(expr) ||
  expr.kind === "old" ||
  (expr.kind === "prim" && primOf(expr.prim).wasm.quad !== undefined && expr.args.every(hasQuads));

/**
 * Whether four lanes may compute new elements at once: floats, of which a lane alone takes a dozen operations. A lane
 * adds an integer to memory in one.
 */
export const updatesByQuads = ({ bits }: Access, combine: readonly Expr[]): boolean =>
  bits === 32 && combine.length === 1 && combine[0]!.ty === "f32" && hasQuads(combine[0]!);

/** A quad whose lanes update an element each. */
interface QuadUpdate {
  /** Where the elements are, in a vector. */
  readonly places: Wasm;
  readonly quad: number;
  readonly expr: Expr;
  /** What does not depend on memory. */
  readonly operands: ReadonlyMap<Expr, Value>;
  /** The local for the old elements. */
  readonly old: number;
}

/** Writes an update of four elements at once where they are different ones; else `oneByOne`. */
export function writeQuadUpdate(
  w: FunctionWriter,
  { places, quad, expr, operands, old }: QuadUpdate,
  oneByOne: () => void,
): void {
  const isSame = (lanes: readonly [number, number, number, number]): Wasm =>
    wasm.op("i32x4.eq", places, wasm.shuffle32(places, places, lanes));
  const anySame = wasm.op("v128.or", isSame([1, 2, 3, 0]), isSame([2, 3, 0, 1]));
  const placeOf = (lane: number): Wasm => wasm.lane("i32x4.extract_lane", lane, places);
  w.value(wasm.op("i32.eqz", wasm.op("v128.any_true", anySame)));
  w.expect(true);
  w.if(() => {
    for (let lane = 0; lane < 4; lane++) {
      w.value(placeOf(lane));
      if (lane === 0) w.memory("v128.load32_zero", 4);
      else {
        w.get(old);
        w.memory("v128.load32_lane", 4, 0, lane);
      }
      w.set(old);
    }
    const fresh = w.local("v128");
    w.assign([{ local: fresh, value: freshOf(expr, quad, operands, wasm.local("v128", old)) }]);
    for (let lane = 0; lane < 4; lane++) {
      w.value(placeOf(lane));
      w.get(fresh);
      w.memory("v128.store32_lane", 4, 0, lane);
    }
    w.release(fresh);
  }, oneByOne);
}

/** The bits that a quad stores. */
function freshOf(expr: Expr, quad: number, operands: ReadonlyMap<Expr, Value>, old: Wasm): Wasm {
  const vectorFor = onceForEach<Vector>((e, vectorFor) => {
    const operand = operands.get(e);
    if (operand !== undefined) {
      const all = vectorOf(operand, quad + 1);
      return { ...all, quads: [all.quads[quad]!] };
    }
    if (e.kind === "prim") return applyVector(e.prim, e.args.map(vectorFor), 1);
    return { kind: "vector", ty: e.ty, quads: [[old]] };
  });
  const value = canonicalNan(vectorFor(expr));
  if (value.kind !== "vector") throw new Error("four lanes have a vector");
  return value.quads[0]![0]!;
}
