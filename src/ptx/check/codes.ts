import type { Catalogue } from "../../source/index.ts";
import type { instructionCodes } from "./codes-instruction.ts";
import { callCodes } from "./codes-call.ts";
import { declarationCodes } from "./codes-declaration.ts";
import { moduleCodes } from "./codes-module.ts";

/** Catalogue pages of all diagnostics of the checker but those about instructions, which are in `instructionCodes`. */
export const checkCodes = { ...moduleCodes, ...declarationCodes, ...callCodes } satisfies Catalogue;

/** The code of a diagnostic that the checker reports. */
export type CheckCode = keyof typeof checkCodes | keyof typeof instructionCodes;
