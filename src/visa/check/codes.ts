import type { Catalogue } from "../../source/index.ts";
import { declarationCodes } from "./codes-declarations.ts";
import { flowCodes } from "./codes-flow.ts";
import { instructionCodes } from "./codes-instructions.ts";
import { nameCodes } from "./codes-names.ts";
import { operandCodes } from "./codes-operands.ts";

/** Catalogue pages of every diagnostic of `bindVisa`, `checkVisa` and `linkVisa`, by code. */
export const visaCheckCodes = {
  ...nameCodes,
  ...declarationCodes,
  ...operandCodes,
  ...instructionCodes,
  ...flowCodes,
} satisfies Catalogue;

/** The code of a diagnostic of the checker. */
export type VisaCheckCode = keyof typeof visaCheckCodes;
