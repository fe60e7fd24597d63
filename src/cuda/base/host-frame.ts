/** A call in the program's own code: the function around it, and its line if that is known. */
export interface HostFrame {
  readonly function: string;
  readonly file: string | null;
  readonly line: number | null;
}

/** Stacks as lines below a message. */
export const stackLines = (frames: readonly HostFrame[]): readonly string[] =>
  frames.map(({ function: name, file, line }) => `      at ${name}${file === null ? "" : ` (${file}:${line})`}`);
