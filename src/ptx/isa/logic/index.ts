import { and, cnot, not, or, xor } from "./bitwise.ts";
import { lop3 } from "./lop3.ts";
import { prmt } from "./prmt.ts";
import { shf, shl, shr } from "./shift.ts";

/** Section 9.7.8, and `prmt` (9.7.9.7), which is listed among the data movements but computes a value. */
export const logicInstructions = [and, or, xor, not, cnot, lop3, shf, shl, shr, prmt];
