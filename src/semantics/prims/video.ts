import { expanded, named } from "../expansion.ts";
import { mulAddShrSat } from "./video-wasm.ts";

const MAX = 0x7fff_ffff_ffff_ffffn;

/** Primitives of the video instructions (section 9.7.18). */
export const videoPrims = named({
  /** `(a * b + c) >> n` without losing intermediate bits, clamped to 64 bits. */
  "i64.mul_add_shr_sat": expanded(
    ["i64", "i64", "i64", "i32"],
    "i64",
    (a, b, c, n) => {
      const exact = (a * b + c) >> BigInt(n & 63);
      return exact > MAX ? MAX : exact < -MAX ? -MAX - 1n : exact;
    },
    mulAddShrSat,
  ),
});
