/** The instruction sets that there are. */
export const isas = ["ptx", "visa"] as const;
/** An instruction set. @useDeclaredType */
export type Isa = (typeof isas)[number];

/** A CISA file: vISA in binary form. */
export const isCisaName = (path: string): boolean => /\.isa$/i.test(path);

/** What a file of this name holds. */
export const isaOfName = (path: string): Isa => (/\.(visaasm|isaasm|isa)$/i.test(path) ? "visa" : "ptx");
