import { readdirSync, readFileSync } from "node:fs";

/** A small program that shows what one sentence of the manual means. */
export interface CallCase {
  readonly file: string;
  readonly name: string;
  readonly text: string;
  /** `line severity code` of the diagnostics, `line code` of the reports. */
  readonly diagnostics: readonly string[];
  readonly reports: readonly string[];
  /** What each thread stores, if that matters. */
  readonly out: ((thread: number) => number) | null;
  readonly threads: number;
  /** Whether there is a kernel to run. */
  readonly runs: boolean;
}

const folder = new URL("calls/", import.meta.url);

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
 * The cases of the files in `calls/`: each begins with `==== name`; what is behind `---` becomes the body of a kernel, which
 * stores `%r` for thread `%t`. `// out: expression of t` says what it must be, `// error: code`, `// warning: code` and
 * `// report: code` behind a line what must be said of it.
 */
export function readCallCases(): CallCase[] {
  return readdirSync(folder).flatMap((file) => {
    const [, ...cases] = readFileSync(new URL(file, folder), "utf8").split(/^==== /m);
    return cases.map((source) => readCase(file, source));
  });
}

function readCase(file: string, source: string): CallCase {
  const name = source.slice(0, source.indexOf("\n"));
  const program = source.slice(name.length + 1);
  const [declarations = "", body] = program.split(/^---\n/m);
  const start = declarations.includes(".version") ? "" : header;
  const text = start + declarations + (body === undefined ? "" : kernel(body));
  const marks = text.split("\n").flatMap((line, i) =>
    [...line.matchAll(/\/\/ (error|warning|report): ([\w-]+)/g)].map(([, kind = "", code = ""]) => ({
      kind,
      text: kind === "report" ? `${i + 1} ${code}` : `${i + 1} ${kind} ${code}`,
    })),
  );
  const expression = /^\/\/ out: (.*)$/m.exec(program)?.[1];
  return {
    file,
    name,
    text,
    diagnostics: marks.filter((m) => m.kind !== "report").map((m) => m.text),
    reports: marks.filter((m) => m.kind === "report").map((m) => m.text),
    out: expression === undefined ? null : (new Function("t", `return ${expression}`) as (t: number) => number),
    threads: Number(/^\/\/ threads: (\d+)$/m.exec(program)?.[1] ?? 32),
    runs: body !== undefined && !marks.some((m) => m.kind === "error"),
  };
}
