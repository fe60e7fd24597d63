/** C++ names, mangled as the Itanium ABI has it, as they were in the source. */
export { demangle, type DemangledName } from "./demangle.ts";
export { displayName, readable, signatureOf } from "./display.ts";
export { matchName, nameHints } from "./match.ts";
