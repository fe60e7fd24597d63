import {
  type Arrangement,
  atAddress,
  byteFragmentsToColumns,
  byteColumnsToFragments,
  byteRowsToFragments,
  fragmentsToRows,
  rowsToFragments,
  transposedFragment,
} from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import { form, instruction, type OperandAccess, type Step } from "../define.ts";
import { accessOf } from "../memory/access.ts";
import { align, arrange } from "./steps.ts";
import { unpackedRow } from "./packed-row.ts";

const spaces = ["shared", "shared::cta"] as const;
const counts = ["x1", "x2", "x4"] as const;
const window = { "shared::cta": { since: "7.8" } };
const blackwell = { since: "8.6", target: ["sm_100f", "sm_101f", "sm_110f", "sm_120f"] } as const;

/** The registers of `num` matrices of 16 by 16 bytes, two for each. */
const doubled = ({ num }: { readonly num: string }): string => `b32[${2 * Number(num.slice(1))}]`;

const numberOf = (num: string): number => Number(num.slice(1));

/** The lanes that give the address of a row; undefined: all. */
const lanesBelow = (rows: number): { readonly where?: Expr } =>
  rows === 32 ? {} : { where: kit.lt({ kind: "special", ty: "i32", name: "laneid" }, kit.i32(rows), false) };

interface RowModifiers {
  readonly num: string;
  readonly ss?: string | undefined;
  readonly src_fmt?: string;
}

/** A row of 16 bytes: four words. */
const rowAccess = ({ ss }: RowModifiers) => accessOf({ type: "b32", vec: "v4", ss });

/** The steps of ldmatrix: lanes load a row of `rows` each, then all get their fragments. */
function load(address: Expr, m: RowModifiers, ops: OperandAccess, rows: number, arrangement: Arrangement): Step[] {
  const row = [0, 1, 2, 3].map((i) => ops.temporary(i));
  const words = row.map(({ value }) => value);
  const dst = row.map(({ register }) => register);
  const only = lanesBelow(rows);
  const unpacked = unpackedRow(words, m.src_fmt);
  return [
    align,
    { op: { kind: "load", access: rowAccess(m), place: atAddress(address) }, dst, ...only },
    ...(unpacked === words ? [] : [{ op: { kind: "pure", values: unpacked }, dst, ...only } as const]),
    arrange(words, arrangement),
  ];
}

/** The steps of stmatrix: all lanes give their fragments, then lanes store a row of 16 bytes each. */
function store(address: Expr, m: RowModifiers, ops: OperandAccess, arrangement: Arrangement): Step[] {
  const row = [0, 1, 2, 3].map((i) => ops.temporary(i));
  const values = row.map(({ value }) => value);
  return [
    align,
    { ...arrange(ops.vector("r"), arrangement), dst: row.map(({ register }) => register) },
    {
      op: { kind: "store", access: rowAccess(m), place: atAddress(address), values },
      dst: [],
      ...lanesBelow(8 * numberOf(m.num)),
    },
  ];
}

/** Section 9.7.14.5.15. */
export const ldmatrix = instruction("ldmatrix", {
  summary: "loads matrices from shared memory into the lanes of a warp",
  section: "9.7.14.5.15",
  forms: [
    form("ldmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 d, [a]", {
      where: { num: counts, ss: spaces },
      operands: { d: ({ num }) => `b32[${num.slice(1)}]`, a: "address shared" },
      anyOrder: true,
      since: "6.5",
      target: "sm_75",
      gates: window,
      effect: (_, { a }, m, ops) => load(a, m, ops, 8 * numberOf(m.num), rowsToFragments(numberOf(m.num), m.trans)),
    }),
    form("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8 d, [a]", {
      where: { num: ["x1", "x2"], ss: spaces },
      operands: { d: doubled, a: "address shared" },
      anyOrder: true,
      ...blackwell,
      effect: (_, { a }, m, ops) => load(a, m, ops, 16 * numberOf(m.num), byteColumnsToFragments(numberOf(m.num))),
    }),
    form("ldmatrix.sync.aligned.m8n16.num{.ss}.b8x16.src_fmt d, [a]", {
      where: { num: counts, ss: spaces, src_fmt: ["b6x16_p32", "b4x16_p64"] },
      operands: { d: ({ num }) => `b32[${num.slice(1)}]`, a: "address shared" },
      anyOrder: true,
      ...blackwell,
      effect: (_, { a }, m, ops) => load(a, m, ops, 8 * numberOf(m.num), byteRowsToFragments(numberOf(m.num))),
    }),
    form("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8x16.src_fmt d, [a]", {
      where: { num: ["x1", "x2"], ss: spaces, src_fmt: ["b6x16_p32", "b4x16_p64"] },
      operands: { d: doubled, a: "address shared" },
      anyOrder: true,
      ...blackwell,
      effect: (_, { a }, m, ops) => load(a, m, ops, 16 * numberOf(m.num), byteColumnsToFragments(numberOf(m.num))),
    }),
  ],
});

/** Section 9.7.14.5.16. */
export const stmatrix = instruction("stmatrix", {
  summary: "stores matrices from the lanes of a warp to shared memory",
  section: "9.7.14.5.16",
  forms: [
    form("stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 [a], r", {
      where: { num: counts, ss: spaces },
      operands: { r: ({ num }) => `b32[${num.slice(1)}]`, a: "address shared" },
      anyOrder: true,
      since: "7.8",
      target: "sm_90",
      effect: (_, { a }, m, ops) => store(a, m, ops, fragmentsToRows(numberOf(m.num), m.trans)),
    }),
    form("stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8 [a], r", {
      where: { num: counts, ss: spaces },
      operands: { r: ({ num }) => `b32[${num.slice(1)}]`, a: "address shared" },
      anyOrder: true,
      ...blackwell,
      note: "The manual gives the layout of the fragments only as a picture: it is that of CUTLASS here.",
      effect: (_, { a }, m, ops) => store(a, m, ops, byteFragmentsToColumns(numberOf(m.num))),
    }),
  ],
});

/** Section 9.7.14.5.17. */
export const movmatrix = instruction("movmatrix", {
  summary: "transposes a matrix held by the lanes of a warp",
  section: "9.7.14.5.17",
  forms: [
    form("movmatrix.sync.aligned.m8n8.trans.b16 d, a", {
      operands: { d: "b32", a: "reg b32" },
      since: "7.8",
      target: "sm_75",
      effect: (_, { a }) => [align, arrange([a], transposedFragment())],
    }),
  ],
});
