export { cisaCodes } from "./codes.ts";
export { type CisaRead, readCisa } from "./reader.ts";
