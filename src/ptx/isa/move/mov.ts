import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";

/** The two halves of a value of `bits` bits, low half first. */
const halves = (k: Kit, a: Expr, bits: number): readonly Expr[] =>
  bits === 64 ? [k.wrap(a), k.high(a)] : [k.field(a, 0, bits / 2, false), k.field(a, bits / 2, bits / 2, false)];

const join = (k: Kit, low: Expr, high: Expr, bits: number): Expr =>
  bits === 32 ? k.pair(low, high) : k.or(low, k.shl(high, k.i32(bits)));

/** The same bits, cut into parts of `to` bits instead of `from`; low part first. */
function recut(k: Kit, parts: readonly Expr[], from: number, to: number): readonly Expr[] {
  if (from === to) return parts;
  if (from > to) {
    const finer = parts.flatMap((p) => halves(k, p, from));
    return recut(k, finer, from / 2, to);
  }
  const coarser = parts.flatMap((p, i) => (i % 2 === 0 ? [join(k, p, parts[i + 1]!, from)] : []));
  return recut(k, coarser, from * 2, to);
}

/** A floating-point register is copied as bits, so that a NaN keeps its own. */
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
      // A scalar of 128 bits is two values of 64.
      sem: (k, _, { type }, ops) => {
        const bits = Number(type.slice(1));
        const source = ops.vector("a");
        const count = Math.max(ops.count("d"), bits / 64);
        return { d: recut(k, source, bits / source.length, bits / count) };
      },
      note: "copies bits; a vector in braces is packed into a scalar or unpacked from it, first element lowest",
    }),
    // 6.4.3: `mov.v4.f32 {a,b,c,d}, V`, and the vectors among the special registers (10.12).
    form("mov.vec.type d, a", {
      where: { vec: ["v2", "v4"], type: [...scalars, "b16", "b32", "b64"] },
      since: "1.0",
      gates: { f64: { target: "sm_13" } },
      operands: { d: "type[vec]", a: "type[vec]" },
      invalid: ({ vec, type }) => (vec === "v4" && type.endsWith("64") ? "a vector has at most 128 bits" : null),
      sem: (k, _, __, ops) => ({ d: ops.vector("a").map((element) => copied(k, element)) }),
      note: "copies a vector, element by element",
    }),
  ],
});
