import { type FunctionWriter, wasm } from "../../../wasm/index.ts";
import type { LaunchShape } from "../../abi/launch-shape.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { ModuleUnit } from "../module/module-unit.ts";

/** Shared memory begins as zeros in every block. */
export function clearShared({ layout, facts }: ModuleUnit, w: FunctionWriter, context: number): void {
  w.value(wasm.op("i32.add", wasm.local("i32", context), wasm.i32(layout.shared)));
  w.i32(0);
  w.i32(facts.sharedBytes);
  w.memoryFill();
}

/** The lanes that have a thread. */
export function activate(
  { writer, active }: Chunk,
  { full, width }: LaunchShape,
  threads: number,
  first: number,
): void {
  const rest = wasm.op("i32x4.splat", wasm.op("i32.sub", wasm.local("i32", threads), wasm.local("i32", first)));
  const left = width === null || width === 4 * active.length ? rest : wasm.op("i32x4.min_s", rest, wasm.i32x4(width));
  const lanes = (q: number) => wasm.lanes([4 * q, 4 * q + 1, 4 * q + 2, 4 * q + 3]);
  writer.assign(
    active.map((local, q) => ({ local, value: full ? wasm.i32x4(-1) : wasm.op("i32x4.lt_s", lanes(q), left) })),
  );
}

/** Registers that are read before they are written hold zeros. */
export function clearRegisters({ writer, analysis, locals }: Chunk): void {
  const zero = { i32: wasm.i32(0), i64: wasm.i64(0n), v128: wasm.i32x4(0), f32: wasm.f32(0), f64: wasm.f64(0) };
  analysis.code.liveness.liveIn(0).forEach((r) => {
    writer.assign(locals(r).map((l) => ({ local: l, value: zero[writer.typeOf(l)] })));
  });
}
