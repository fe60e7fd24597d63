import { type DemangledName, readName } from "./read-name.ts";

export type { DemangledName } from "./read-name.ts";

/** Names are looked up again and again; a program has few. */
const known = new Map<string, DemangledName | null>();
const mostKnown = 4096;

/**
 * Demangles a C++ name as the Itanium ABI has it (`_Z6reducePKfPfi`), in the style of GNU's `c++filt`. Null for any
 * other text.
 */
export function demangle(mangled: string): DemangledName | null {
  if (!mangled.startsWith("_Z") && !mangled.startsWith("__Z")) return null;
  const found = known.get(mangled);
  if (found !== undefined) return found;
  const demangled = readName(mangled);
  if (known.size >= mostKnown) known.clear();
  known.set(mangled, demangled);
  return demangled;
}
