import { type Expr, kit } from "../../semantics/index.ts";

/** The number of a lane in its thread of `width` lanes, a power of two. */
export const laneNumber = (width: number): Expr =>
  kit.and({ kind: "special", ty: "i32", name: "laneid" }, kit.i32(width - 1));

/** A value of each lane as a function of its number: linear, or small numbers. Null if it is neither. */
function linearTable(values: readonly number[]): Expr | null {
  const [first = 0, second = first] = values;
  const step = second - first;
  if (!values.every((value, lane) => value === first + step * lane)) return null;
  if (step === 0) return kit.i32(first);
  const lane = laneNumber(values.length);
  const scaled = step === 1 ? lane : kit.mul(lane, kit.i32(step));
  return first === 0 ? scaled : kit.add(scaled, kit.i32(first));
}

/** A number from 0 to 31 for each lane of a thread, as an expression. */
export function tableOf(values: readonly number[]): Expr {
  const linear = linearTable(values);
  if (linear !== null) return linear;
  const lane = laneNumber(values.length);
  const by = values[0]!;
  if (values.every((value, l) => value === (l ^ by))) return kit.xor(lane, kit.i32(by));
  // Eight lanes are the bytes of a number.
  const groups = Array.from({ length: Math.ceil(values.length / 8) }, (_, g) =>
    kit.i64(values.slice(8 * g, 8 * g + 8).reduce((sum, value, i) => sum | (BigInt(value) << BigInt(8 * i)), 0n)),
  );
  const bytes = groups.reduce((rest, group, g) => kit.select(kit.lt(lane, kit.i32(8 * g), false), rest, group));
  const shift = kit.shl(kit.and(lane, kit.i32(7)), kit.i32(3));
  return kit.and(kit.wrap(kit.shr(bytes, shift, false)), kit.i32(255));
}

/** Whether a lane is among some of a thread of `width`. */
export function isAmong(lanes: readonly number[], width: number): Expr {
  const lane = laneNumber(width);
  const first = Math.min(...lanes);
  const count = lanes.length;
  if (Math.max(...lanes) - first + 1 === count) {
    const from = first === 0 ? lane : kit.sub(lane, kit.i32(first));
    return kit.lt(from, kit.i32(count), false);
  }
  const mask = lanes.reduce((bits, l) => bits | (1 << l), 0);
  return kit.ne(kit.and(kit.shr(kit.i32(mask), lane, false), kit.i32(1)), kit.i32(0));
}
