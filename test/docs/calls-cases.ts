import { casesIn, type Mark, marksOf, outOf } from "./case-files.ts";

/** A small program that shows what one sentence of the manual means. */
export interface CallCase {
  readonly file: string;
  readonly name: string;
  readonly text: string;
  readonly marks: readonly Mark[];
  /** What each thread stores, if that matters. */
  readonly out: ((thread: number) => number) | null;
  readonly threads: number;
  /** Whether there is a kernel to run. */
  readonly runs: boolean;
}

const header = ".version 9.0\n.target sm_90\n.address_size 64\n";
const kernel = (body: string) => `.visible .entry k(.param .u64 out)
{
    .reg .u64 %o;
    .reg .u32 %t, %r;
    .reg .pred p;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %o, %t, 4, %o;
    mov.u32 %r, 0;
    st.global.u32 [%o], %r;
${body}    st.global.u32 [%o], %r;
    ret;
}
`;

/**
 * The cases of the files of a folder: what is after `---` becomes the body of a kernel, which stores `%r` for thread
 * `%t`. `// out: expression of t` says what it must be.
 */
export const callCasesIn = (folder: URL): CallCase[] =>
  casesIn(folder).map(({ file, name, text: program }) => {
    const [declarations = "", body] = program.split(/^---\n/m);
    const start = declarations.includes(".version") ? "" : header;
    const text = start + declarations + (body === undefined ? "" : kernel(body));
    const marks = marksOf(text);
    return {
      file,
      name,
      text,
      marks,
      out: outOf(program),
      threads: Number(/^\/\/ threads: (\d+)$/m.exec(program)?.[1] ?? 32),
      runs: body !== undefined && !marks.some((m) => m.kind === "error"),
    };
  });

export const readCallCases = (): CallCase[] => callCasesIn(new URL("calls/", import.meta.url));
