/** The functions of the CUDA runtime that device code may call without a body. */
const functions: ReadonlySet<string> = new Set(["vprintf", "malloc", "free", "__assertfail"]);

export const isProvided = (name: string): boolean => functions.has(name);
