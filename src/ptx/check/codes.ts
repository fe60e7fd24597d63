import type { Catalogue } from "../../source/index.ts";
import type { instructionCodes } from "./codes-instruction.ts";
import { callCodes } from "./codes-call.ts";
import { declarationCodes } from "./codes-declaration.ts";
import { moduleCodes } from "./codes-module.ts";

/** Diagnostics about modules, declarations, names and calls; those about instructions are in `instructionCodes`. */
export const checkCodes = { ...moduleCodes, ...declarationCodes, ...callCodes } satisfies Catalogue;

export type CheckCode = keyof typeof checkCodes | keyof typeof instructionCodes;
