export { type BindOptions, bindVisa } from "./bind.ts";
export { visaCheckCodes } from "./codes.ts";
