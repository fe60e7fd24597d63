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

/** What stands behind something that is `indent` columns wide: as `wrap`, and lines but the first are indented by as much. */
export const hang = (text: string, width: number, indent: number): string =>
  wrap(text, width - indent).replaceAll("\n", `\n${" ".repeat(indent)}`);

/** Columns beyond which prose is hard to read. */
export const mostColumns = 100;
