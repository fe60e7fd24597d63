import { abs, neg } from "./abs-neg.ts";
import { add, mul, sub } from "./add-sub-mul.ts";
import { copysign } from "./copysign.ts";
import { div } from "./div.ts";
import { fma, mad } from "./fma-mad.ts";
import { max, min } from "./min-max.ts";
import { rcp } from "./rcp.ts";
import { rsqrt, sqrt } from "./sqrt.ts";
import { testp } from "./testp.ts";
import { cos, ex2, lg2, sin, tanh } from "./transcendental.ts";

/** Section 9.7.3. */
export const floatInstructions = [
  ...[testp, copysign, add, sub, mul, fma, mad, div, abs, neg, min, max],
  ...[rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh],
];
