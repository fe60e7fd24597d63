export { parseVisa, type ParseVisaOptions } from "./file.ts";
