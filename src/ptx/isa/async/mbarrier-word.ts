import { atAddress, mbarrierBits as bits, type OpOf } from "../../../ir/index.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";
import { accessOf, type Ordering } from "../memory/access.ts";

/*
 * Every operation on an mbarrier is an atomic one on its word (`mbarrierBits`). The state that an arrival returns is
 * the word before it.
 */

type Atomic = OpOf<"atomic">;

/** The word before the operation. */
export const old: Expr = { kind: "old", ty: "i64", index: 0 };

export const maxCount = 2 ** 20 - 1;
const txBias = 2 ** 20;

const wide = (value: Expr): Expr => k.op("i64.extend_i32_u", value);
const field = (word: Expr, at: number, width: number): Expr =>
  k.and(k.op("i32.wrap_i64", k.shr(word, k.i32(at), false)), k.i32(2 ** width - 1));

export const pendingIn = (word: Expr): Expr => field(word, bits.pending, 20);
const expectedIn = (word: Expr): Expr => field(word, bits.expected, 20);
const transactionsIn = (word: Expr): Expr => field(word, bits.transactions, 21);
export const parityIn = (word: Expr): Expr => field(word, bits.parity, 1);

const isMbarrier: Expr = k.eq(field(old, bits.mark, 2), k.i32(2));

const either = (...conditions: readonly Expr[]): Expr => conditions.reduce((a, b) => k.op("pred.or", a, b));
const both = (a: Expr, b: Expr): Expr => k.op("pred.and", a, b);

const isAbove = (value: Expr, limit: number): Expr => k.lt(k.i32(limit), value, false);
const isBadCount = (count: Expr): Expr => either(k.eq(count, k.i32(0)), isAbove(count, maxCount));

const minus = (word: Expr, value: Expr, at: number): Expr => k.sub(word, k.shl(wide(value), k.i32(at)));
const plus = (word: Expr, value: Expr, at: number): Expr => k.add(word, k.shl(wide(value), k.i32(at)));

/** An mbarrier in its first phase. */
export const initialWord = (count: Expr): Expr => {
  const empty = k.i64(BigInt.asIntN(64, (2n << BigInt(bits.mark)) | (BigInt(txBias) << BigInt(bits.transactions))));
  return plus(plus(empty, count, bits.pending), count, bits.expected);
};

const isComplete = (word: Expr): Expr =>
  both(k.eq(pendingIn(word), k.i32(0)), k.eq(transactionsIn(word), k.i32(txBias)));

/** The word in the next phase if nothing is pending. */
const settled = (word: Expr): Expr =>
  k.select(isComplete(word), plus(k.xor(word, k.i64(1n << BigInt(bits.parity))), expectedIn(word), bits.pending), word);

/** What can be wrong with an operation, in the order in which it is looked for. */
type Problem = readonly [code: string, when: Expr, message: string];

const uninitialized: Problem = [
  "mbarrier-uninitialized",
  k.not(isMbarrier),
  "there is no mbarrier at the address: mbarrier.init has not been executed for it, or mbarrier.inval since",
];

export const badCount = (count: Expr): Problem => [
  "mbarrier-bad-count",
  isBadCount(count),
  "the count of an mbarrier must be from 1 to 1048575",
];

/** How an operation changes the word, and what can be wrong with it. */
interface Change {
  readonly word: Expr;
  readonly problems: readonly Problem[];
}

const unchanged: Change = { word: old, problems: [uninitialized] };

export const expecting = ({ word, problems }: Change, transactions: Expr): Change => {
  const after = k.add(transactionsIn(word), transactions);
  const tooMany = either(isAbove(transactions, maxCount), isAbove(after, 2 * txBias - 1));
  const message = "more transactions are expected than an mbarrier can count: 1048575";
  return {
    word: plus(word, transactions, bits.transactions),
    problems: [...problems, ["mbarrier-count-overflow", tooMany, message]],
  };
};

/** `drops`: later phases expect so many arrivals less, too. */
export const arriving = ({ word, problems }: Change, count: Expr, drops: boolean): Change => ({
  word: drops ? minus(minus(word, count, bits.pending), count, bits.expected) : minus(word, count, bits.pending),
  problems: [
    ...problems,
    badCount(count),
    [
      "mbarrier-count-overflow",
      k.lt(pendingIn(word), count, false),
      "more threads arrive at the mbarrier than are pending in its phase",
    ],
  ],
});

export const completing = ({ word, problems }: Change, transactions: Expr): Change => {
  const tooMany = either(isAbove(transactions, maxCount), k.le(transactionsIn(word), transactions, false));
  const message = "more transactions are complete than an mbarrier can count: 1048575 beyond those that it expects";
  return {
    word: minus(word, transactions, bits.transactions),
    problems: [...problems, ["mbarrier-count-overflow", tooMany, message]],
  };
};

/** The next phase begins if nothing is pending any more. */
export const settling = ({ word, problems }: Change): Change => ({ word: settled(word), problems });

/** The phase must not complete. */
export const incomplete = ({ word, problems }: Change): Change => ({
  word,
  problems: [
    ...problems,
    [
      "mbarrier-no-complete",
      isComplete(word),
      "an arrival with .noComplete is the last that the phase of the mbarrier waits for",
    ],
  ],
});

/** The pending count goes up for a moment, and down again when the thread's copies are complete. */
export const passing = (): Change => ({
  word: old,
  problems: [
    ...unchanged.problems,
    [
      "mbarrier-count-overflow",
      k.eq(pendingIn(old), k.i32(maxCount)),
      "more arrivals are pending than an mbarrier can count: 1048575",
    ],
  ],
});

export const begin = unchanged;

interface Where {
  readonly address: Expr;
  readonly space: string | undefined;
  readonly ordering: Ordering;
}

/** The atomic operation that makes a change; `result`: what the instruction returns, if not the word before. */
export function mbarrierOp(where: Where, { word, problems }: Change, result: Expr = old): Atomic {
  const number = problems.reduceRight<Expr>((rest, [, when], i) => k.select(when, k.i32(i + 1), rest), k.i32(0));
  return {
    kind: "atomic",
    access: accessOf({ type: "b64", ss: where.space }, where.ordering),
    place: atAddress(where.address),
    combine: [k.select(k.eq(number, k.i32(0)), word, old)],
    results: [result],
    problem: { number, reports: problems.map(([code, , message]) => ({ code, message })) },
  };
}
