export { parsePtx } from "./module.ts";
