import type { Node } from "./graph.ts";

/** What makes the elements of one half of some vectors elements of twice the width, which fill a vector. */
export interface Widening {
  /** The operation, whichever half. */
  readonly op: string;
  readonly isHigh: boolean;
  readonly from: readonly Node[];
}

/** What makes the elements of two vectors elements of half the width, which fill one. */
export interface Narrowing {
  readonly op: string;
  readonly from: readonly [Node, Node];
}

const readsHalf = /^(\w+\.(?:extend|extmul|promote|convert))_(low|high)_(\w+)$/;
const fillsLowHalf = /^(\w+\.(?:demote_f64x2|trunc_sat_f64x2_[su]))_zero$/;
const narrows = /^\w+\.narrow_\w+$/;

/** Returns how a vector is made of halves; null if it is not. */
export function wideningOf(node: Node): Widening | null {
  const half = readsHalf.exec(node.op);
  if (half === null) return null;
  const op = `${half[1]}_${half[3]}`;
  if (half[2] === "high") return { op, isHigh: true, from: node.args };
  // The high halves, where these have been brought down.
  const isHigh = node.args.every(isHighHalf);
  return { op, isHigh, from: isHigh ? node.args.map(({ args }) => args[0]!) : node.args };
}

/** Whether the low half of a vector is the high half of another. */
const isHighHalf = ({ op, immediates }: Node): boolean =>
  op === "i8x16.shuffle" && immediates.slice(0, 8).every((byte, i) => byte === i + 8);

/** Returns how a vector is made of two whole ones; null if it is not. */
export function narrowingOf(node: Node): Narrowing | null {
  const [a, b] = node.args as [Node, Node];
  if (narrows.test(node.op)) return { op: node.op, from: [a, b] };
  if (node.op !== "i8x16.shuffle") return null;
  const words = wordsOf(node.immediates);
  if (words === "0,2,4,6") return { op: "i32x4.low_i64x2", from: [a, b] };
  if (words === "1,3,5,7") return { op: "i32x4.high_i64x2", from: [a, b] };
  if (words !== "0,1,4,5" || a.op !== b.op) return null;
  const half = fillsLowHalf.exec(a.op);
  return half === null ? null : { op: half[1]!, from: [a.args[0]!, b.args[0]!] };
}

/** The words of two vectors that a shuffle takes; an empty text if it takes other bytes. */
function wordsOf(bytes: readonly number[]): string {
  const isWhole = bytes.every((byte, i) => byte % 4 === i % 4 && byte - (byte % 4) === bytes[i - (i % 4)]);
  return isWhole
    ? bytes
        .filter((_, i) => i % 4 === 0)
        .map((byte) => byte / 4)
        .join()
    : "";
}
