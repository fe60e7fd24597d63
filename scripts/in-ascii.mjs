// V8 reads a file of ASCII as it is, and any other one only after it has been decoded, which takes longer than reading.

/**
 * JavaScript with `\\uXXXX` for what is not ASCII, which means the same in names, texts and patterns. Throws for text
 * that is taken raw, where it does not.
 */
export function asciiOf(code) {
  if (/\bString\.raw`[^`]*[^\0-\x7f]/.test(code)) throw new Error("text that is taken raw has to be ASCII");
  return code.replace(/(\\*)([^\0-\x7f])/g, (_, before, unit) => {
    // A character that is escaped already keeps what is before: of backslashes, pairs mean themselves.
    const pairs = before.slice(0, before.length & ~1);
    return `${pairs}\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Makes a bundler write ASCII. */
export const inAscii = {
  name: "ascii",
  generateBundle(_, output) {
    for (const file of Object.values(output)) if (file.type === "chunk") file.code = asciiOf(file.code);
  },
};
