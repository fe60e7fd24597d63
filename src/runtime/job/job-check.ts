import { elementInfo, type ElementType, elementTypes } from "../data/element.ts";
import { readTarget } from "./job-symbol.ts";
import { readElement, readHash } from "./job-value.ts";
import type { JsonField } from "./json-fields.ts";

/** The expected contents of a buffer or variable after the launches: `n` elements of `type` from its start. */
export interface Check {
  readonly of: "buffer" | "symbol";
  /** The name of the buffer or variable. */
  readonly buffer: string;
  readonly type: ElementType;
  /** How many elements are compared, from the first one on. */
  readonly n: number;
  readonly compare: Comparison;
  readonly expected: Expected;
  /** The hash of the expected bytes. */
  readonly sha256: string | null;
  /** Restricts the check to variants of this width; null checks all. */
  readonly simd: number | null;
}

/** How elements are compared. */
export type Comparison =
  | {
      readonly kind: "exact";
      /** Whether any NaN equals any other. */
      readonly anyNan: boolean;
      /** Whether -0 equals 0. */
      readonly anyZero: boolean;
      /**
       * Restricts the comparison to byte ranges (end exclusive) of each record of `period` bytes; null compares
       * everything.
       */
      readonly records: { readonly period: number; readonly ranges: readonly (readonly [number, number])[] } | null;
      /** The indices of elements that may have any value. */
      readonly skip: ReadonlySet<number>;
      /** The allowed values of elements that may have one of several, by index. */
      readonly alternatives: ReadonlyMap<number, readonly (number | bigint)[]>;
    }
  | { readonly kind: "tolerance"; readonly relative: number; readonly absolute: number }
  /** As multisets. */
  | { readonly kind: "sorted" };

/** The values that a buffer must hold: in a file, listed, or known by their hash alone. */
export type Expected =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "values"; readonly values: readonly (number | bigint)[] }
  /** Only the hash and the first values are known. */
  | { readonly kind: "hash"; readonly first: readonly (number | bigint)[] };

/**
 * The part of the specification of a buffer or variable that its checks need. Those of a job that is read know both.
 */
interface BufferShape {
  readonly type: ElementType | null;
  readonly n: number | null;
}

const maxBytes = 0x7fff_ffff;
const fields = [
  "buf",
  "symbol",
  "type",
  "n",
  "cmp",
  "sha256",
  "first",
  "file",
  "all",
  "expr",
  "nan",
  "zero",
  "period",
  "ranges",
];
const moreFields = ["rtol", "atol", "rel", "abs", "skip", "oneof", "simd"];

export function readCheck(
  field: JsonField,
  buffers: ReadonlyMap<string, BufferShape>,
  symbols: ReadonlyMap<string, BufferShape>,
): Check {
  field.object([...fields, ...moreFields]);
  const { of, name: buffer } = readTarget(field, { buffers, symbols });
  const spec = (of === "buffer" ? buffers : symbols).get(buffer);
  const type = field.get("type").present ? field.get("type").oneOf(elementTypes) : (spec?.type ?? "u8");
  const bytes = spec ? (spec.n ?? 0) * elementInfo[spec.type ?? "u8"].size : maxBytes;
  const max = Math.floor(bytes / elementInfo[type].size);
  const n = field.get("n").present ? field.get("n").count(0, max) : max;
  const values = (name: string) =>
    field
      .get(name)
      .items()
      .map((value) => readElement(value, type));
  const sha256 = readHash(field.get("sha256"));
  const compare = readComparison(field, type, n);
  let expected: Expected;
  if (field.get("file").present) expected = { kind: "file", path: field.get("file").string() };
  else if (field.get("all").present) {
    expected = { kind: "values", values: values("all") };
    if (expected.values.length !== n) field.get("all").fail(`has ${expected.values.length} values, n is ${n}`);
  } else {
    expected = { kind: "hash", first: field.get("first").present ? values("first") : [] };
    if (sha256 === null) field.fail("says nothing about what to expect", 'give "file", "all" or "sha256"');
    if (!isPlain(compare)) field.fail('only a plain "exact" comparison can do with a hash', 'give "file" or "all"');
  }
  const simd = field.get("simd");
  return { of, buffer, type, n, compare, expected, sha256, simd: simd.present ? simd.count(1, 32) : null };
}

/** Whether a comparison covers all bits of all elements. */
const isPlain = (c: Comparison): boolean =>
  c.kind === "exact" && !c.anyNan && !c.anyZero && c.records === null && c.skip.size === 0 && c.alternatives.size === 0;

function readComparison(field: JsonField, type: ElementType, n: number): Comparison {
  const any = (name: string): boolean => field.get(name).present && field.get(name).oneOf(["any", "same"]) === "any";
  const tolerance = (name: string): number => (field.get(name).present ? field.get(name).float() : 0);
  switch (field.get("cmp").present ? field.get("cmp").oneOf(["exact", "tol", "close", "sorted"]) : "exact") {
    case "tol":
      return { kind: "tolerance", relative: tolerance("rtol"), absolute: tolerance("atol") };
    case "close":
      return { kind: "tolerance", relative: tolerance("rel"), absolute: tolerance("abs") };
    case "sorted":
      return { kind: "sorted" };
    case "exact":
      return {
        kind: "exact",
        anyNan: any("nan"),
        anyZero: any("zero"),
        records: readRecords(field),
        skip: readSkip(field.get("skip"), n),
        alternatives: readAlternatives(field.get("oneof"), type, n),
      };
  }
}

const readSkip = (field: JsonField, n: number): ReadonlySet<number> =>
  new Set(field.present ? field.items().map((index) => index.count(0, n - 1)) : []);

/** Reads allowed values: `{"3": [1, 2]}` means that element 3 is 1 or 2. */
function readAlternatives(field: JsonField, type: ElementType, n: number): Map<number, readonly (number | bigint)[]> {
  const alternatives = new Map<number, readonly (number | bigint)[]>();
  if (!field.present) return alternatives;
  for (const [name, values] of field.entries()) {
    const index = /^\d{1,10}$/.test(name) ? Number(name) : n;
    if (index >= n) values.fail(`"${name}" is not the index of an element: they go from 0 to ${n - 1}`);
    alternatives.set(
      index,
      values.items().map((value) => readElement(value, type)),
    );
  }
  return alternatives;
}

function readRecords(field: JsonField): { period: number; ranges: [number, number][] } | null {
  if (!field.get("period").present) return null;
  const period = field.get("period").count(1, maxBytes);
  const ranges = field
    .get("ranges")
    .items()
    .map((range): [number, number] => {
      const [from, to] = range.items();
      if (!from || !to) range.fail("expected two numbers: the first byte and the one after the last");
      return [from?.count(0, period) ?? 0, to?.count(0, period) ?? 0];
    });
  return { period, ranges };
}
