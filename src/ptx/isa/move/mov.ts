import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";

/** Splits a value of `bits` bits into halves, low half first. */
const halves = (k: Kit, a: Expr, bits: number): readonly Expr[] =>
  bits === 64 ? [k.wrap(a), k.high(a)] : [k.field(a, 0, bits / 2, false), k.field(a, bits / 2, bits / 2, false)];

/** Joins two values of `bits` bits. */
const join = (k: Kit, low: Expr, high: Expr, bits: number): Expr =>
  bits === 32 ? k.pair(low, high) : k.or(low, k.shl(high, k.i32(bits)));

/** Regroups parts of `from` bits, lowest first, into parts of `to` bits. */
function regroup(k: Kit, parts: readonly Expr[], from: number, to: number): readonly Expr[] {
  if (from === to) return parts;
  if (from > to) {
    const finer = parts.flatMap((p) => halves(k, p, from));
    return regroup(k, finer, from / 2, to);
  }
  const coarser = parts.flatMap((p, i) => (i % 2 === 0 ? [join(k, p, parts[i + 1]!, from)] : []));
  return regroup(k, coarser, from * 2, to);
}

/** Copies a value. A floating-point register is copied as bits, so that a NaN keeps its payload. */
const copied = (k: Kit, a: Expr): Expr =>
  a.kind !== "const" && (a.ty === "f32" || a.ty === "f64") ? k.bitcast(a, a.ty === "f32" ? "i32" : "i64") : a;

const scalars = ["u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"] as const;

/** Sections 9.7.9.3 and 9.7.9.4. */
export const mov = instruction("mov", {
  summary: "copies a register, a special register, a constant or an address; packs and unpacks vectors",
  section: "9.7.9.3",
  forms: [
    form("mov.type d, a", {
      where: { type: scalars },
      since: "1.0",
      gates: { f64: { target: "sm_13" } },
      sem: (k, { a }) => copied(k, a),
    }),
    form("mov.pred d, {!}a", { since: "1.0", sem: (_, { a }) => a }),
    form("mov.type d, a", {
      where: { type: ["b16", "b32", "b64", "b128"] },
      since: "1.0",
      gates: { b128: { since: "8.3", target: "sm_70" } },
      operands: { d: "split type[1,2,4]", a: "split type[1,2,4]" },
      // A 128-bit scalar is two 64-bit values.
      sem: (k, _, { type }, ops) => {
        const bits = Number(type.slice(1));
        const source = ops.vector("a");
        const count = Math.max(ops.count("d"), bits / 64);
        return { d: regroup(k, source, bits / source.length, bits / count) };
      },
      note: "copies bits; a vector in braces is packed into a scalar or unpacked from one, with its first element lowest",
    }),
    // `mov.v4.f32 {a,b,c,d}, V` (6.4.3), and the special registers that are vectors (10.12).
    form("mov.vec.type d, a", {
      where: { vec: ["v2", "v4"], type: [...scalars, "b16", "b32", "b64"] },
      since: "1.0",
      gates: { f64: { target: "sm_13" } },
      operands: { d: "type[vec]", a: "type[vec]" },
      invalid: ({ vec, type }) => (vec === "v4" && type.endsWith("64") ? "a vector can have at most 128 bits" : null),
      sem: (k, _, __, ops) => ({ d: ops.vector("a").map((element) => copied(k, element)) }),
      note: "copies a vector element by element",
    }),
  ],
});
