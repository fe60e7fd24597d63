/** A file with more tokens and comments than this is refused, so that memory stays bounded whatever the input. */
export const tokenLimit = 0x100_0000;

export const digits = "0123456789";
export const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

export const codeOf = (character: string): number => character.charCodeAt(0);

/** Marks these ASCII characters with 1, by code. Reading past the table gives undefined, which is no. */
export function characterTable(characters: string): Uint8Array {
  const marked = new Uint8Array(128);
  for (const character of characters) marked[codeOf(character)] = 1;
  return marked;
}
