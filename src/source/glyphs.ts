/** A character as a terminal shows it. */
export interface Glyph {
  /**
   * The text to write. It differs from the character if that could move the cursor or change colours: source text is
   * untrusted.
   */
  readonly text: string;
  /** Width in terminal columns: 0 for combining marks, 2 for wide characters, up to `tabStop` for tabs. */
  readonly columns: number;
}

/** Distance between tab stops, in terminal columns. */
export const tabStop = 4;

const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
const zeroWidth = /\p{Mn}|\p{Me}|\p{Cf}/u;
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const widePlanesOrEmoji = /[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

const columnsOf = (character: string): number =>
  zeroWidth.test(character) ? 0 : wide.test(character) || widePlanesOrEmoji.test(character) ? 2 : 1;

/**
 * Returns how to show `character`, a single code point. `column`, counted from 0, is where it begins; the width of a
 * tab depends on it.
 */
export function glyph(character: string, column: number): Glyph {
  const code = character.codePointAt(0)!;
  if (code >= 0x20 && code < 0x7f) return { text: character, columns: 1 };
  if (character === "\t") {
    const columns = tabStop - (column % tabStop);
    return { text: " ".repeat(columns), columns };
  }
  if (code < 0x20) return { text: String.fromCharCode(0x2400 + code), columns: 1 };
  if (unprintable.test(character)) return { text: code === 0x7f ? "\u2421" : "\ufffd", columns: 1 };
  return { text: character, columns: columnsOf(character) };
}

/**
 * Makes text from a file or a user safe to print: control and formatting characters are replaced, line feeds stay, tabs
 * become single spaces.
 */
export const printable = (text: string): string =>
  text.replace(/[^\x20-\x7e\n]/gu, (character) => (character === "\t" ? " " : glyph(character, 0).text));
