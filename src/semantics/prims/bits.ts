import { expanded, named } from "../expansion.ts";
import { prim } from "../prim.ts";
import { brev, clz, nthSet as nthSetWasm, permute, popcnt } from "./bits-wasm.ts";

const count = (a: number): number => {
  const pairs = a - ((a >>> 1) & 0x5555_5555);
  const nibbles = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
};

const reverse = (a: number): number => {
  let r = ((a >>> 1) & 0x5555_5555) | ((a & 0x5555_5555) << 1);
  r = ((r >>> 2) & 0x3333_3333) | ((r & 0x3333_3333) << 2);
  r = ((r >>> 4) & 0x0f0f_0f0f) | ((r & 0x0f0f_0f0f) << 4);
  r = ((r >>> 8) & 0x00ff_00ff) | ((r & 0x00ff_00ff) << 8);
  return (r >>> 16) | (r << 16);
};

/** Section 9.7.1.17. A base outside the word finds no bit. */
const nthSet = (mask: number, base: number, offset: number): number => {
  let left = offset === 0 ? 1 : Math.abs(offset);
  const step = offset < 0 ? -1 : 1;
  for (let at = base; at >= 0 && at < 32; at += step) {
    if ((mask >>> at) & 1 && --left === 0) return at;
    if (offset === 0) break;
  }
  return -1;
};

/** Selects one of the eight bytes of `b:a`; bit 3 of the selection replicates the byte's sign instead. */
const pick = (a: number, b: number, selection: number): number => {
  const byte = (selection & 4 ? b : a) >> ((selection & 3) << 3);
  return (selection & 8 ? (byte << 24) >> 31 : byte) & 0xff;
};

/** Counts, finds and moves single bits and bytes of a word. */
export const bitPrims = named({
  "i32.popcnt": prim(["i32"], "i32", count, popcnt),
  "i32.clz": prim(["i32"], "i32", (a) => Math.clz32(a), clz),
  "i32.brev": prim(["i32"], "i32", reverse, brev),
  /** The position of the n-th set bit of a mask, from a base upwards or downwards; -1 if there is none. */
  "i32.nth_set": expanded(["i32", "i32", "i32"], "i32", nthSet, nthSetWasm),
  /** Four bytes of `b:a`, each chosen by a nibble of the third operand (section 9.7.9.7, generic form). */
  "i32.permute": prim(
    ["i32", "i32", "i32"],
    "i32",
    (a, b, s) => pick(a, b, s) | (pick(a, b, s >> 4) << 8) | (pick(a, b, s >> 8) << 16) | (pick(a, b, s >> 12) << 24),
    permute,
  ),
});
