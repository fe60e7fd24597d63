/** One file of a program: its text, or for CISA files (`.isa`, vISA in binary form) its bytes. */
export type SourceFile = {
  /** As it is to appear in messages. */
  readonly path: string;
} & ({ readonly text: string; readonly bytes?: never } | { readonly bytes: Uint8Array; readonly text?: never });

const utf8 = new TextDecoder();

/** Bytes that are no UTF-8 become U+FFFD, which the parser then complains about at their place. */
export const textOf = (file: SourceFile): string => file.text ?? utf8.decode(file.bytes);
