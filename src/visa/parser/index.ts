export { parseVisa } from "./file.ts";
