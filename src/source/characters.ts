/**
 * The most tokens and comments that a file may have; a larger one is refused, so that memory stays bounded for any
 * input.
 */
export const tokenLimit = 0x100_0000;

/** The ASCII decimal digits. */
export const digits = "0123456789";
/** The ASCII letters. */
export const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Returns the UTF-16 code of a one-character string. */
export const codeOf = (character: string): number => character.charCodeAt(0);

/**
 * Returns a table with a 1 at the code of each of these ASCII characters. Reading past its end gives undefined, which
 * is falsy.
 */
export function characterTable(characters: string): Uint8Array {
  const marked = new Uint8Array(128);
  for (const character of characters) marked[codeOf(character)] = 1;
  return marked;
}
