import { type LibraryFunction, type Wasm, wasm } from "../../../wasm/index.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { bothMasks, knownLanesOf } from "../lanes/mask.ts";
import { extended, i64 } from "../lanes/scalar.ts";

/** The most rounds of a loop for which checks are hoisted. */
export const maxRounds = 2 ** 30;

/**
 * The number of rounds for which a range `first` bytes after the start of an object and `room` bytes before the last
 * good position stays within it if it moves by `step` each round.
 */
export const roundsWithin: LibraryFunction = {
  name: "roundsWithin",
  params: ["i32", "i64", "i64", "i64"],
  result: "i32",
  body: (ok, first, room, step) => {
    const isUp = wasm.op("i64.gt_s", step!, wasm.i64(0n));
    const size = wasm.select(isUp, step!, wasm.op("i64.sub", wasm.i64(0n), step!));
    const isStill = wasm.op("i64.eqz", step!);
    const times = wasm.op("i64.div_u", wasm.select(isUp, room!, first!), wasm.select(isStill, wasm.i64(1n), size));
    const most = wasm.i64(BigInt(maxRounds - 1));
    const fewer = wasm.op("i32.and", wasm.op("i64.lt_u", times, most), wasm.op("i32.eqz", isStill));
    const rounds = wasm.op("i32.add", wasm.op("i32.wrap_i64", wasm.select(fewer, times, most)), wasm.i32(1));
    return wasm.select(ok!, rounds, wasm.i32(0));
  },
};

/** 1 if no (unsigned) word of a lane in the mask exceeds a limit, else 0. */
export function allWithin(words: readonly Wasm[], limit: Wasm, mask: readonly Wasm[] | null): Wasm {
  const most = bothMasks(words, mask)!.reduce((a, b) => wasm.op("i32x4.max_u", a, b));
  return wasm.op("i32.eqz", wasm.op("v128.any_true", wasm.op("i32x4.gt_u", most, limit)));
}

/**
 * 1 if the lanes of a mask, of which each is `stride` bytes after the one before, are at most `room` bytes after the
 * start of an object, the first lane of the chunk being `distance` after it; else 0.
 */
export function maskWithin(mask: readonly Wasm[], distance: Wasm, stride: number, room: Wasm): Wasm {
  const lanes = knownLanesOf(mask);
  if (lanes === null || !isLong(distance) || !isLong(room)) {
    return wasm.call(activeWithin, laneBits(mask), distance, i64(stride), room);
  }
  const isWithin = (lane: number): boolean => {
    const at = distance.value + BigInt(stride * lane);
    return at >= 0n && at <= room.value;
  };
  return wasm.i32(lanes.every(isWithin) ? 1 : 0);
}

const isLong = (node: Wasm): node is Extract<Wasm, { kind: "const"; ty: "i64" }> =>
  node.kind === "const" && node.ty === "i64";

/** Whether the first and the last of some lanes are within an object; then those between them are, too. */
const activeWithin: LibraryFunction = {
  name: "activeWithin",
  params: ["i32", "i64", "i64", "i64"],
  result: "i32",
  body: (bits, distance, stride, room) => {
    const isWithin = (lane: Wasm): Wasm => {
      const at = wasm.op("i64.add", distance!, wasm.op("i64.mul", extended(lane), stride!));
      return wasm.op("i64.le_u", at, room!);
    };
    const first = isWithin(wasm.op("i32.ctz", bits!));
    const last = isWithin(wasm.op("i32.sub", wasm.i32(31), wasm.op("i32.clz", bits!)));
    return wasm.op("i32.and", wasm.op("i32.and", first, last), wasm.op("i64.ge_s", room!, wasm.i64(0n)));
  },
};
