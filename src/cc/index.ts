export { type Target, translated } from "./translate.ts";
export { Untranslatable } from "./untranslatable.ts";
