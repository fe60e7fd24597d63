export { cisaCodes } from "./codes.ts";
export { type CisaRead, readCisa } from "./reader.ts";
export { type CisaWritten, writeCisa } from "./writer.ts";
