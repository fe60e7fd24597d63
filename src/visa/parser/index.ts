export { type ParseVisaOptions, parseVisa } from "./file.ts";
