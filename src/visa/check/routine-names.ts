import type { BoundRoutine } from "../symbols.ts";

/**
 * What IGC puts the functions of a program behind, where no kernel of its own carries them: a kernel that does nothing.
 * Several files of one program may have it.
 */
const carrier = "Intel_Symbol_Table_Void_Program";

export const isCarrier = ({ kind, name }: BoundRoutine): boolean => kind === "kernel" && name === carrier;
