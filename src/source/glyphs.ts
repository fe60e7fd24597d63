/** One character as a terminal shows it. */
export interface Glyph {
  /** What is written for it: source text is untrusted, and must not move the cursor or change colours. */
  readonly text: string;
  /** Terminal columns. */
  readonly columns: number;
}

export const tabStop = 4;

const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
const zeroWidth = /\p{Mn}|\p{Me}|\p{Cf}/u;
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** `character` is one code point; `column` (from 0) is where it begins, which a tab needs to know. */
export function glyph(character: string, column: number): Glyph {
  const code = character.codePointAt(0)!;
  if (code >= 0x20 && code < 0x7f) return { text: character, columns: 1 };
  if (character === "\t") {
    const columns = tabStop - (column % tabStop);
    return { text: " ".repeat(columns), columns };
  }
  if (code < 0x20) return { text: String.fromCharCode(0x2400 + code), columns: 1 };
  if (unprintable.test(character)) return { text: code === 0x7f ? "\u2421" : "\ufffd", columns: 1 };
  return { text: character, columns: zeroWidth.test(character) ? 0 : wide.test(character) ? 2 : 1 };
}

/** Text that came from a file or a user, made safe to print; line ends stay. */
export const printable = (text: string): string =>
  text.replace(/[^\x20-\x7e\n]/gu, (character) => (character === "\t" ? " " : glyph(character, 0).text));
