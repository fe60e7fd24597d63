import { reportCodes } from "../machine/codes.ts";
import { checkCodes } from "../ptx/check/codes.ts";
import { instructionCodes } from "../ptx/check/codes-instruction.ts";
import { syntaxCodes } from "../ptx/codes-syntax.ts";
import { linkCodes } from "../ptx/link/codes.ts";
import { deviceFunctionCodes, jobCodes } from "../runtime/codes.ts";
import type { Catalogue } from "../source/index.ts";

/** All codes that the program can produce, by where they come from. */
export const catalogues: readonly { readonly title: string; readonly codes: Catalogue }[] = [
  { title: "PTX syntax", codes: syntaxCodes },
  { title: "PTX rules", codes: { ...checkCodes, ...instructionCodes } },
  { title: "Linking", codes: linkCodes },
  { title: "Reports of runs", codes: { ...reportCodes, ...deviceFunctionCodes } },
  { title: "Job files", codes: jobCodes },
];
