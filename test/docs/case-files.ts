import { readdirSync, readFileSync } from "node:fs";

/** A case of a folder of text files: what stands after `==== name`. */
export interface CaseText {
  readonly file: string;
  readonly name: string;
  readonly text: string;
}

export function casesIn(folder: URL): CaseText[] {
  return readdirSync(folder).flatMap((file) => {
    const [, ...cases] = readFileSync(new URL(file, folder), "utf8").split(/^==== /m);
    return cases.map((source) => {
      const name = source.slice(0, source.indexOf("\n"));
      return { file, name, text: source.slice(name.length + 1) };
    });
  });
}

/** What is to be said of a line of a program: `// error: code`, `// warning: code` and `// report: code` after it. */
export interface Mark {
  readonly kind: "error" | "warning" | "report";
  readonly line: number;
  readonly code: string;
}

export const marksOf = (program: string): Mark[] =>
  program.split("\n").flatMap((text, i) =>
    [...text.matchAll(/\/\/ (error|warning|report): ([\w-]+)/g)].map(([, kind, code = ""]) => ({
      kind: kind as Mark["kind"],
      line: i + 1,
      code,
    })),
  );

/** The values of `// out: expression` for each of so many threads, or null. */
export function outOf(text: string): ((thread: number) => number) | null {
  const expression = /^\/\/ out: (.*)$/m.exec(text)?.[1];
  return expression === undefined ? null : (new Function("t", `return ${expression}`) as (t: number) => number);
}

/** As tests compare them: `line kind code`. */
export const markText = ({ line, kind, code }: Mark): string => `${line} ${kind} ${code}`;
