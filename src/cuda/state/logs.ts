/** What a log entry is: cudaLogLevel. */
export const logLevel = { error: 0, warning: 1 } as const;

/** A function of the program that wants to know of each entry. */
export interface LogListener {
  readonly function: bigint;
  readonly data: bigint;
}

/** The driver keeps so many bytes of entries: what is older is lost. */
const maxBytes = 25_600;

const bytesOf = (line: string): number => new TextEncoder().encode(line).length;

/** Texts of errors that calls have returned, each of one line, and numbers for places between them. */
export class Logs {
  readonly #lines: string[] = [];
  #bytes = 0;
  /** The number of the oldest entry that is still there. */
  #first = 0;

  /** The number that the next entry will have. */
  get next(): number {
    return this.#first + this.#lines.length;
  }

  add(text: string): void {
    const line = `${text}\n`;
    this.#lines.push(line);
    this.#bytes += bytesOf(line);
    while (this.#bytes > maxBytes) {
      this.#bytes -= bytesOf(this.#lines.shift()!);
      this.#first++;
    }
  }

  /** The entries from a number on; `isWhole` is false if some of them are lost. */
  from(number: number): { readonly lines: readonly string[]; readonly isWhole: boolean } {
    return { lines: this.#lines.slice(Math.max(0, number - this.#first)), isWhole: number >= this.#first };
  }
}

const truncated = "[CUDA][W] older entries are missing\n";

/** All lines as one text, after a line that says so if earlier ones are lost. */
export const wholeText = ({ lines, isWhole }: ReturnType<Logs["from"]>): string =>
  (isWhole ? "" : truncated) + lines.join("");

/** As many of the last lines as fit into so many bytes, after a line that says so if that is not all. */
export function lastText(found: ReturnType<Logs["from"]>, room: number): string {
  const all = wholeText(found);
  if (bytesOf(all) <= room) return all;
  let text = "";
  for (const line of [...found.lines].reverse()) {
    if (bytesOf(truncated + line + text) > room) break;
    text = line + text;
  }
  return text === "" ? "" : truncated + text;
}
