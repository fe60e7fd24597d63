/** A file is damaged, or its format is one that is not read. The message says what is wrong and where. */
export class ContainerError extends Error {
  override readonly name = "ContainerError";
}

/** "byte 0x1f40", as the places in a file are written. */
export const byteAt = (offset: number): string => `byte 0x${offset.toString(16)}`;
