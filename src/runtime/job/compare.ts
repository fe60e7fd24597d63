import { Elements } from "../data/element.ts";
import type { Comparison } from "./job-check.ts";

/** An element of a buffer that is not as expected: its index, its value and the expected one. */
export interface Difference {
  readonly index: number;
  readonly got: number | bigint;
  readonly want: number | bigint;
}

export interface ComparisonResult {
  readonly mismatches: number;
  readonly first: Difference | null;
}

type SameElement = (index: number) => boolean;

/** Compares the elements of two arrays of the same type and length; "bits": one by one, and bit by bit. */
export function compareElements(got: Elements, want: Elements, comparison: Comparison | "bits"): ComparisonResult {
  if (comparison !== "bits" && comparison.kind === "sorted") return count(sorted(got), sorted(want), "bits");
  return count(got, want, comparison);
}

function count(got: Elements, want: Elements, comparison: Exclude<Comparison, { kind: "sorted" }> | "bits") {
  const same: SameElement =
    comparison === "bits"
      ? sameBits(got, want)
      : comparison.kind === "tolerance"
        ? within(got, want, comparison.relative, comparison.absolute)
        : exactly(got, want, comparison);
  let mismatches = 0;
  let first: Difference | null = null;
  for (let i = 0; i < want.length; i++) {
    if (same(i)) continue;
    mismatches++;
    first ??= { index: i, got: got.get(i), want: want.get(i) };
  }
  return { mismatches, first };
}

const sameBits =
  (got: Elements, want: Elements): SameElement =>
  (i) =>
    got.pattern(i) === want.pattern(i);

function within(got: Elements, want: Elements, relative: number, absolute: number): SameElement {
  return (i) => {
    const g = Number(got.get(i));
    const w = Number(want.get(i));
    if (g === w || (g !== g && w !== w)) return true;
    // With an infinite `want` the tolerance would be infinite too, and everything within it.
    return Number.isFinite(w) && Math.abs(g - w) <= absolute + relative * Math.abs(w);
  };
}

function exactly(
  got: Elements,
  want: Elements,
  { anyNan, anyZero, records, skip, alternatives }: Extract<Comparison, { kind: "exact" }>,
): SameElement {
  const compared = records === null ? null : comparedBytes(records);
  return (i) => {
    if (skip.has(i)) return true;
    const allowed = alternatives.get(i);
    if (allowed !== undefined) return allowed.some((value) => samePattern(got, i, value));
    if (compared !== null) return sameCompared(got, want, i, compared);
    if (got.pattern(i) === want.pattern(i)) return true;
    if (!anyNan && !anyZero) return false;
    const g = got.get(i);
    const w = want.get(i);
    return (anyNan && g !== g && w !== w) || (anyZero && g === 0 && w === 0);
  };
}

/** Whether an element has the bits that this value has in its type. */
function samePattern(got: Elements, index: number, value: number | bigint): boolean {
  const one = Elements.zeros(got.type, 1);
  one.set(0, value);
  return got.pattern(index) === one.pattern(0);
}

/** Whether each byte of a record is compared. */
function comparedBytes({ period, ranges }: NonNullable<Extract<Comparison, { kind: "exact" }>["records"]>): Uint8Array {
  const compared = new Uint8Array(period);
  for (const [from, to] of ranges) compared.fill(1, from, to);
  return compared;
}

function sameCompared(got: Elements, want: Elements, index: number, compared: Uint8Array): boolean {
  for (let at = index * want.size; at < (index + 1) * want.size; at++) {
    if (compared[at % compared.length] === 1 && got.bytes[at] !== want.bytes[at]) return false;
  }
  return true;
}

/** The same elements in the order of their bits, which puts equal multisets into equal arrays. */
function sorted(elements: Elements): Elements {
  const patterns = Array.from({ length: elements.length }, (_, i) => elements.pattern(i));
  const order = patterns
    .map((_, i) => i)
    .sort((a, b) => (patterns[a]! < patterns[b]! ? -1 : patterns[a]! > patterns[b]! ? 1 : 0));
  const result = new Uint8Array(elements.bytes.length);
  order.forEach((from, to) => {
    result.set(elements.bytes.subarray(from * elements.size, (from + 1) * elements.size), to * elements.size);
  });
  return new Elements(elements.type, result);
}
