import { selp } from "./selp.ts";
import { set, setHalf } from "./set.ts";
import { setp, setpHalf } from "./setp.ts";
import { slct } from "./slct.ts";

/** Sections 9.7.6 and 9.7.7. */
export const compareInstructions = [set, setp, selp, slct, setHalf, setpHalf] as const;
