export { cisaCodes } from "./codes.ts";
export { readCisa } from "./reader.ts";
export { writeCisa } from "./writer.ts";
