import { type Wasm, wasm } from "../../wasm/index.ts";
import type { Emission } from "../prim.ts";
import { uniform32 } from "../uniform.ts";

type Direction = "shl" | "shr_s" | "shr_u";

/** Shifts by an `i32` count below the size, and sets values to 0 where an `i32` is 0. */
interface Shifter {
  readonly bits: 32 | 64;
  readonly shift: (a: Wasm, n: Wasm) => Wasm;
  readonly keep: (p: Wasm, a: Wasm) => Wasm;
  readonly zero: Wasm;
}

/** WebAssembly takes counts modulo the size; PTX clamps them. */
function clamped({ bits, shift, keep, zero }: Shifter, direction: Direction, a: Wasm, n: Wasm): Wasm {
  const max = wasm.i32(bits - 1);
  if (n.kind === "const") {
    if (n.ty === "i32" && n.value >>> 0 < bits) return shift(a, n);
    return direction === "shr_s" ? shift(a, max) : zero;
  }
  const within = wasm.op("i32.lt_u", n, wasm.i32(bits));
  return direction === "shr_s" ? shift(a, wasm.select(within, n, max)) : keep(within, shift(a, n));
}

const scalars = (bits: 32 | 64, direction: Direction): Shifter => ({
  bits,
  shift: (a, n) =>
    bits === 32 ? wasm.op(`i32.${direction}`, a, n) : wasm.op(`i64.${direction}`, a, wasm.op("i64.extend_i32_u", n)),
  keep: (p, a) => wasm.select(p, a, bits === 32 ? wasm.i32(0) : wasm.i64(0n)),
  zero: bits === 32 ? wasm.i32(0) : wasm.i64(0n),
});

const vectors = (bits: 32 | 64, direction: Direction): Shifter => ({
  bits,
  shift: (a, n) => wasm.op(bits === 32 ? `i32x4.${direction}` : `i64x2.${direction}`, a, n),
  keep: (p, a) => wasm.op("v128.and", a, wasm.op("i32x4.splat", wasm.op("i32.sub", wasm.i32(0), p))),
  zero: wasm.i32x4(0),
});

/**
 * 2^n in each lane, or 0 for counts of 32 or more: byte i is looked up at index n - 8i, and indices beyond the table
 * give zeros.
 */
function powers(n: Wasm): Wasm {
  const count = wasm.op("i32x4.min_u", n, wasm.i32x4(32));
  const spread = wasm.shuffle(count, count, [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12]);
  const places = wasm.op("i8x16.sub", spread, wasm.i32x4(0x1810_0800));
  return wasm.op("i8x16.swizzle", wasm.lanes([0x0804_0201, 0x8040_2010, 0, 0]), places);
}

/**
 * Shifts each lane by its own count: the whole vector is shifted by each count, and then each lane is taken from its
 * own result.
 */
function eachLane({ bits, shift }: Shifter, direction: Direction, a: Wasm, n: Wasm): Wasm {
  const counts = direction === "shr_s" ? wasm.op("i32x4.min_u", n, wasm.i32x4(bits - 1)) : n;
  const by = (lane: number): Wasm => shift(a, wasm.lane("i32x4.extract_lane", lane, counts));
  const shifted =
    bits === 64
      ? wasm.shuffle32(by(0), by(1), [0, 1, 6, 7])
      : wasm.shuffle32(
          wasm.shuffle32(by(0), by(1), [0, 5, 0, 5]),
          wasm.shuffle32(by(2), by(3), [2, 7, 2, 7]),
          [0, 1, 4, 5],
        );
  if (direction === "shr_s") return shifted;
  const within = wasm.op("i32x4.lt_u", n, wasm.i32x4(bits));
  return wasm.op("v128.and", shifted, bits === 64 ? wasm.op("i64x2.extend_low_i32x4_s", within) : within);
}

/** A shift with clamped counts. Most counts are constants, or the same in all lanes. */
export function shift(bits: 32 | 64, direction: Direction): Emission {
  const [one, all] = [scalars(bits, direction), vectors(bits, direction)];
  const vector = (a: Wasm, n: Wasm): Wasm => {
    const count = uniform32(n, bits === 32 ? 4 : 2);
    if (count !== null) return clamped(all, direction, a, count);
    return bits === 32 && direction === "shl" ? wasm.op("i32x4.mul", a, powers(n)) : eachLane(all, direction, a, n);
  };
  return {
    scalar: (a, n) => clamped(one, direction, a!, n!),
    [bits === 32 ? "quad" : "half"]: vector,
  };
}
