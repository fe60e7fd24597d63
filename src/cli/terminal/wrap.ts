/** Breaks paragraphs into lines of at most `width` columns; lines that begin with a space are kept as they are. */
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

/**
 * What stands behind something that is `indent` columns wide: as `wrap`, and lines but the first are indented by as
 * much.
 */
export const hang = (text: string, width: number, indent: number): string =>
  wrap(text, width - indent).replaceAll("\n", `\n${" ".repeat(indent)}`);

/** A column that is narrower is no place for text. */
const narrowest = 24;

/** A word, and text in a column of its own that begins `at`; or below the word, if the column would be too narrow. */
export function beside(
  word: string,
  { text, at, columns }: { readonly text: string; readonly at: number; readonly columns: number },
): string {
  return columns - at < narrowest
    ? `  ${word}\n      ${hang(text, columns, 6)}`.trimEnd()
    : `  ${word.padEnd(at - 4)}  ${hang(text, columns, at)}`.trimEnd();
}

/** Columns beyond which prose is hard to read. */
export const maxColumns = 100;
