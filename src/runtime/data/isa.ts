/** The supported instruction sets. */
export const isas = ["ptx", "visa"] as const;
/** An instruction set: NVIDIA PTX or Intel vISA. @useDeclaredType */
export type Isa = (typeof isas)[number];

/** Whether the name is that of a CISA file, which is vISA in binary form. */
export const isCisaName = (path: string): boolean => /\.isa$/i.test(path);

/** The instruction set of a file, according to the ending of its name. */
export const isaOfName = (path: string): Isa => (/\.(visaasm|isaasm|isa)$/i.test(path) ? "visa" : "ptx");
