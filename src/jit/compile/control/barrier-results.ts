import type { Instruction, Op } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { anyOf } from "../lanes/mask-bits.ts";

export type Barrier = Extract<Op, { kind: "barrier" }>;

/**
 * Writes the result of a barrier's reduction to the registers of lanes (null: all). `result`: for `popc` the number,
 * else 0 or 1.
 */
export function writeReduction(
  { writer: w, locals }: Chunk,
  { dst: [register] }: Instruction,
  { reduce }: Barrier,
  lanes: readonly Wasm[] | null,
  result: Wasm,
): void {
  if (reduce === null || typeof register !== "number") return;
  const local = w.local("i32");
  w.assign([{ local, value: result }]);
  const scalar = wasm.local("i32", local);
  const all = wasm.op("i32x4.splat", reduce.op === "popc" ? scalar : wasm.op("i32.sub", wasm.i32(0), scalar));
  w.assign(
    locals(register).map((to, q) => {
      const isVector = w.typeOf(to) === "v128";
      if (lanes === null) return { local: to, value: isVector ? all : scalar };
      const old = wasm.local(w.typeOf(to), to);
      return { local: to, value: isVector ? wasm.blend(lanes[q]!, all, old) : wasm.select(anyOf(lanes), scalar, old) };
    }),
  );
  w.release(local);
}
