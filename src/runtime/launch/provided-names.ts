/** The CUDA runtime functions that device code may call without defining them; see `device-functions.ts`. */
export const providedNames = ["vprintf", "malloc", "free", "__assertfail"] as const;

export const isProvided = (name: string): boolean => (providedNames as readonly string[]).includes(name);
