import { add, sub } from "./add-sub.ts";
import { fma } from "./fma.ts";

/** Section 9.7.5. */
export const mixedInstructions = [add, sub, fma];
