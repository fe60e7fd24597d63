import type { Catalogue } from "../../source/index.ts";
import { declarationCodes } from "./codes-declarations.ts";
import { flowCodes } from "./codes-flow.ts";
import { instructionCodes } from "./codes-instructions.ts";
import { nameCodes } from "./codes-names.ts";
import { operandCodes } from "./codes-operands.ts";

/** Every diagnostic of the checker of vISA. */
export const visaCheckCodes = {
  ...nameCodes,
  ...declarationCodes,
  ...operandCodes,
  ...instructionCodes,
  ...flowCodes,
} satisfies Catalogue;

export type VisaCheckCode = keyof typeof visaCheckCodes;
