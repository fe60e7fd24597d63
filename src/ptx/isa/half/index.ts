import { abs, neg } from "./abs-neg.ts";
import { add, mul, sub } from "./add-sub-mul.ts";
import { fma } from "./fma.ts";
import { max, min } from "./min-max.ts";
import { ex2, tanh } from "./tanh-ex2.ts";

/** Section 9.7.4. */
export const halfInstructions = [add, sub, mul, fma, neg, abs, min, max, tanh, ex2];
