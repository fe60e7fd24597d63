import { reportCodes } from "../../machine/reports/codes.ts";
import { instructionCodes } from "../../ptx/check/codes-instruction.ts";
import { checkCodes } from "../../ptx/check/codes.ts";
import { syntaxCodes } from "../../ptx/codes-syntax.ts";
import { linkCodes } from "../../ptx/link/codes.ts";
import { deviceFunctionCodes, jobCodes } from "../../runtime/data/codes.ts";
import type { Catalogue } from "../../source/index.ts";
import { visaCheckCodes } from "../../visa/check/codes.ts";
import { cisaCodes } from "../../visa/cisa/codes.ts";
import { syntaxCodes as visaSyntaxCodes } from "../../visa/codes-syntax.ts";

interface CatalogueOfRoom {
  readonly title: string;
  readonly codes: Catalogue;
  /** The commands that can produce the codes: checks of texts, runs, or the reading of jobs. */
  readonly of: "check" | "run" | "job";
  /** The manual that the pages' sections belong to. */
  readonly manual: string;
}

const ptx = "PTX manual, section ";
const visa = "vISA manual, ";

/** All codes that the program can produce, grouped by origin. */
export const catalogues: readonly CatalogueOfRoom[] = [
  { title: "PTX syntax", codes: syntaxCodes, manual: ptx, of: "check" },
  { title: "PTX rules", codes: { ...checkCodes, ...instructionCodes }, manual: ptx, of: "check" },
  { title: "Linking", codes: linkCodes, manual: ptx, of: "check" },
  { title: "vISA syntax", codes: visaSyntaxCodes, manual: visa, of: "check" },
  { title: "vISA rules", codes: visaCheckCodes, manual: visa, of: "check" },
  { title: "CISA files", codes: cisaCodes, manual: visa, of: "check" },
  { title: "Reports of runs", codes: { ...reportCodes, ...deviceFunctionCodes }, manual: ptx, of: "run" },
  { title: "Job files", codes: jobCodes, manual: ptx, of: "job" },
];
