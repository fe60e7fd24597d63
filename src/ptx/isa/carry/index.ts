import { addCC, addc, subCC, subc } from "./add-sub.ts";
import { madCC, madc } from "./mad.ts";

/** Section 9.7.2. */
export const carryInstructions = [addCC, addc, subCC, subc, madCC, madc];
