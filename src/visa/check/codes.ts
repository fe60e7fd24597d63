import type { Catalogue } from "../../source/index.ts";
import { nameCodes } from "./codes-names.ts";

/** Every diagnostic of the checker of vISA. */
export const visaCheckCodes = { ...nameCodes } satisfies Catalogue;

export type VisaCheckCode = keyof typeof visaCheckCodes;
