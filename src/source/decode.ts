const utf8 = new TextDecoder();

/**
 * The text of a file. It is UTF-8, or UTF-16 where a byte order mark says so, as PowerShell writes what is redirected. Bytes
 * that are neither become U+FFFD, which a parser then complains about at their place.
 */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return utf8.decode(bytes);
}
