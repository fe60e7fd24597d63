import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { isSigned, widthOf } from "./integer-type.ts";

/** Positions and lengths are the low 8 bits of a register, or an immediate of 8 bits. */
const byteOperand = "u32 0..255";

/** The low `length` bits of `a`, extended according to the type. A length above the width keeps all of `a`. */
function extend(k: Kit, a: Expr, length: Expr, type: string): Expr {
  const width = k.i32(widthOf(type));
  const spare = k.sub(width, k.min(length, width, false));
  return k.shr(k.shl(a, spare), spare, isSigned(type));
}

/** A mask of `length` ones from bit `at` on, with the type of `like`. Bits above the width are dropped. */
const ones = (k: Kit, like: Expr, at: Expr, length: Expr): Expr => k.shl(k.not(k.shl(k.int(like, -1), length)), at);

/** Section 9.7.1.19. */
export const bfe = instruction("bfe", {
  summary: "extracts a bit field",
  section: "9.7.1.19",
  forms: [
    form("bfe.type d, a, b, c", {
      where: { type: ["u32", "u64", "s32", "s64"] },
      operands: { b: byteOperand, c: byteOperand },
      since: "2.0",
      target: "sm_20",
      sem: (k, { a, b, c }, { type }) =>
        extend(k, k.shr(a, k.narrow(b, 8, false), isSigned(type)), k.narrow(c, 8, false), type),
    }),
  ],
});

/** Section 9.7.1.20. The manual calls the destination `f`, and the position and length `c` and `d`. */
export const bfi = instruction("bfi", {
  summary: "inserts a bit field",
  section: "9.7.1.20",
  forms: [
    form("bfi.type d, a, b, c, e", {
      where: { type: ["b32", "b64"] },
      operands: { c: byteOperand, e: byteOperand },
      since: "2.0",
      target: "sm_20",
      sem: (k, { a, b, c, e }) => {
        const at = k.narrow(c, 8, false);
        const field = ones(k, a, at, k.narrow(e, 8, false));
        return k.or(k.and(b, k.not(field)), k.and(k.shl(a, at), field));
      },
    }),
  ],
});

/**
 * A bit position or length according to its mode. `.clamp` needs no operation, because shifts treat 32 and more alike.
 */
const limited = (k: Kit, mode: "clamp" | "wrap", count: Expr): Expr =>
  mode === "wrap" ? k.and(count, k.i32(31)) : count;

/** Section 9.7.1.21. */
export const szext = instruction("szext", {
  summary: "sign- or zero-extends the low bits of a value",
  section: "9.7.1.21",
  forms: [
    form("szext.mode.type d, a, b", {
      where: { mode: ["clamp", "wrap"], type: ["u32", "s32"] },
      operands: { b: "u32" },
      since: "7.6",
      target: "sm_70",
      sem: (k, { a, b }, { mode, type }) => extend(k, a, limited(k, mode, b), type),
    }),
  ],
});

/** Section 9.7.1.22. */
export const bmsk = instruction("bmsk", {
  summary: "makes a mask of a given width from a bit position on",
  section: "9.7.1.22",
  forms: [
    form("bmsk.mode.b32 d, a, b", {
      where: { mode: ["clamp", "wrap"] },
      since: "7.6",
      target: "sm_70",
      sem: (k, { a, b }, { mode }) => ones(k, a, limited(k, mode, a), limited(k, mode, b)),
    }),
  ],
});
