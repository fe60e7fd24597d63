/** Breaks paragraphs into lines of at most `width` columns. Lines that begin with a space are kept as they are. */
export function wrap(text: string, width: number): string {
  return text
    .split("\n")
    .map((line) => {
      if (/^\s/.test(line)) return line;
      const lines: string[] = [];
      let current = "";
      for (const word of line.split(" ")) {
        if (current !== "" && current.length + 1 + word.length > width) {
          lines.push(current);
          current = word;
        } else current = current === "" ? word : `${current} ${word}`;
      }
      return [...lines, current].join("\n");
    })
    .join("\n");
}

/** Wraps text that begins in column `indent` of its first line, and indents the other lines to the same column. */
export const hang = (text: string, width: number, indent: number): string =>
  wrap(text, width - indent).replaceAll("\n", `\n${" ".repeat(indent)}`);

/** The narrowest column, in characters, that text is put into. */
const narrowest = 24;

/** Puts text next to a word, in a column that begins at `at`; or below the word if the column would be too narrow. */
export function beside(
  word: string,
  { text, at, columns }: { readonly text: string; readonly at: number; readonly columns: number },
): string {
  return columns - at < narrowest
    ? `  ${word}\n      ${hang(text, columns, 6)}`.trimEnd()
    : `  ${word.padEnd(at - 4)}  ${hang(text, columns, at)}`.trimEnd();
}

/** Longer lines of prose are hard to read. */
export const maxColumns = 100;
