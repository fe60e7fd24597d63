import { jobCodes } from "../runtime/codes.ts";
import type { Catalogue } from "../source/index.ts";

/** All codes that the program can produce, by where they come from. */
export const catalogues: readonly { readonly title: string; readonly codes: Catalogue }[] = [
  { title: "Job files", codes: jobCodes },
];
