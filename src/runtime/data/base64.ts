const { btoa } = globalThis as unknown as { btoa: (characters: string) => string };

/** Encodes bytes as base64 (RFC 4648, with padding). */
export function base64(bytes: Uint8Array): string {
  let characters = "";
  for (let at = 0; at < bytes.length; at += 4096) {
    characters += String.fromCharCode(...bytes.subarray(at, at + 4096));
  }
  return btoa(characters);
}
