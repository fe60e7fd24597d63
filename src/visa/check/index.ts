export { type BindOptions, bindVisa } from "./bind.ts";
export { type CheckedVisa, type CheckVisaOptions, checkVisa } from "./check.ts";
export { visaCheckCodes } from "./codes.ts";
export { type LinkedVisa, linkVisa, type LinkVisaOptions } from "./link.ts";
