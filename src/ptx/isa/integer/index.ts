import { abs, neg } from "./abs-neg.ts";
import { add, sub } from "./add-sub.ts";
import { bfe, bfi, bmsk, szext } from "./bit-field.ts";
import { bfind, brev, clz, fns, popc } from "./count-bits.ts";
import { div, rem } from "./div-rem.ts";
import { dp2a, dp4a } from "./dot-product.ts";
import { max, min } from "./min-max.ts";
import { mad, mul } from "./mul-mad.ts";
import { mad24, mul24 } from "./mul24-mad24.ts";
import { sad } from "./sad.ts";

/** Section 9.7.1. */
export const integerInstructions = [
  ...[add, sub, mul, mad, mul24, mad24, sad, div, rem, abs, neg, min, max],
  ...[popc, clz, bfind, fns, brev, bfe, bfi, szext, bmsk, dp4a, dp2a],
];
