import { form, instruction } from "../define.ts";
import { isSigned } from "../integer/integer-type.ts";

// A count of at least the width shifts all bits out. The primitives of 32 and 64 bits do so themselves; 16-bit shifts
// operate on an extended value, of which only the low half is used.

/** Section 9.7.8.8. */
export const shl = instruction("shl", {
  summary: "shifts left and fills with zeros",
  section: "9.7.8.8",
  forms: [
    form("shl.type d, a, b", {
      where: { type: ["b16", "b32", "b64"] },
      operands: { b: "u32" },
      since: "1.0",
      sem: (k, { a, b }) => k.shl(a, b),
    }),
  ],
});

/** Section 9.7.8.9. */
export const shr = instruction("shr", {
  summary: "shifts right and fills with zeros or the sign",
  section: "9.7.8.9",
  forms: [
    form("shr.type d, a, b", {
      where: { type: ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"] },
      operands: { b: "u32" },
      since: "1.0",
      sem: (k, { a, b }, { type }) => k.shr(a, b, isSigned(type)),
    }),
  ],
});

/** Section 9.7.8.7. */
export const shf = instruction("shf", {
  summary: "shifts a pair of words and returns one word",
  section: "9.7.8.7",
  forms: [
    form("shf.dir.mode.b32 d, a, b, c", {
      where: { dir: ["l", "r"], mode: ["clamp", "wrap"] },
      operands: { c: "u32" },
      since: "3.1",
      target: "sm_32",
      sem: (k, { a, b, c }, { dir, mode }) => {
        const n = mode === "clamp" ? k.min(c, k.i32(32), false) : k.and(c, k.i32(31));
        const rest = k.sub(k.i32(32), n);
        return dir === "l" ? k.or(k.shl(b, n), k.shr(a, rest, false)) : k.or(k.shl(b, rest), k.shr(a, n, false));
      },
    }),
  ],
});
