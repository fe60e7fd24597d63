const utf8 = new TextDecoder();

/**
 * Decodes the bytes of a file: UTF-16 if they begin with a byte order mark (PowerShell writes redirected output that
 * way), otherwise UTF-8. Never throws: malformed sequences become U+FFFD, which a parser then reports at its position.
 */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return utf8.decode(bytes);
}
