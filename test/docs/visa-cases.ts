import { casesIn, type Mark, marksOf, outOf } from "./case-files.ts";

/** A small program that shows one thing about vISA. */
export interface VisaCase {
  readonly file: string;
  readonly name: string;
  readonly text: string;
  readonly marks: readonly Mark[];
  /** Lines of the text, and the bytes that a CISA file has for the instructions there, in hexadecimal. */
  readonly bytes: readonly { readonly line: number; readonly bytes: string }[];
  /** What is stored for each lane, if that matters. */
  readonly out: ((lane: number) => number) | null;
  /** Lanes of the thread, and work items of the launch. */
  readonly width: 8 | 16 | 32;
  readonly items: number;
}

/**
 * The cases of a folder's files. What stands before `---` are functions, each of which begins with a line `function
 * NAME ArgSize RetValSize`; after it stands the body of a kernel `k`, which has each lane's number in ID, and whose
 * variable R is stored for all lanes, active or not, in the end (it begins as 0). `.decl` lines go where declarations
 * stand.
 *
 * Every routine has F, S, T (a dword), Q (a qword), SP, FP (%sp, %fp); X, Y, ID, R (a dword for each lane); ARG, RET
 * (%arg, %retval); P1, P2. F is the first variable that is declared.
 *
 * Beside the marks of `case-files.ts`, `// bytes: 4f ...` after an instruction says how it lies in a file; lines of
 * their own are `// width: lanes of a thread` (16 if absent) and `// items: work items` (as many). A case without `//
 * out: expression of the lane t` and without marks is not run.
 */
export const readVisaCases = (folder: "ifcall" | "visa"): VisaCase[] =>
  casesIn(new URL(`${folder}/`, import.meta.url)).map(({ file, name, text: source }) => {
    const setting = (what: string, byDefault: number): number =>
      Number(new RegExp(`^// ${what}: (\\d+)$`, "m").exec(source)?.[1] ?? byDefault);
    const width = setting("width", 16) as VisaCase["width"];
    const [functions = "", body = ""] = source.split(/^---\n/m);
    const text = [
      kernelText(body, width),
      ...functions
        .split(/^function /m)
        .slice(1)
        .map((f) => functionText(f, width)),
    ].join("\n");
    return {
      file,
      name,
      text,
      marks: marksOf(text),
      bytes: text.split("\n").flatMap((line, i) => {
        const [, bytes] = /\/\/ bytes: ([0-9a-f ]+)$/.exec(line) ?? [];
        return bytes === undefined ? [] : [{ line: i + 1, bytes }];
      }),
      out: outOf(source),
      width,
      items: setting("items", width),
    };
  });

const declarations = (width: number): string =>
  [
    ".decl F v_type=G type=ud num_elts=1 align=GRF",
    ...["S", "T"].map((v) => `.decl ${v} v_type=G type=ud num_elts=1 align=GRF`),
    ".decl Q v_type=G type=uq num_elts=1 align=GRF",
    ".decl SP v_type=G type=uq num_elts=1 alias=<%sp, 0>",
    ".decl FP v_type=G type=uq num_elts=1 alias=<%fp, 0>",
    ...["X", "Y", "ID", "R"].map((v) => `.decl ${v} v_type=G type=ud num_elts=${width} align=GRF`),
    ".decl ARG v_type=G type=ud num_elts=256 align=GRF alias=<%arg, 0>",
    ".decl RET v_type=G type=ud num_elts=96 align=GRF alias=<%retval, 0>",
    ...["P1", "P2"].map((p) => `.decl ${p} v_type=P num_elts=${width}`),
  ].join("\n");

const isDeclaration = (line: string): boolean => line.startsWith(".decl ");

/** The lines of a body that belong to the declarations, and the others. */
function parts(body: string): readonly [string, string] {
  const lines = body.split("\n").filter((line) => line !== "");
  return [
    lines
      .filter(isDeclaration)
      .map((line) => `${line}\n`)
      .join(""),
    lines
      .filter((line) => !isDeclaration(line))
      .map((line) => `${line}\n`)
      .join(""),
  ];
}

function kernelText(body: string, width: number): string {
  const [own, instructions] = parts(body);
  return `.version 3.6
.kernel "k"
${declarations(width)}
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl LANES v_type=G type=ud num_elts=${width} align=GRF
${own}.input OUT offset=32 size=8
.input LANES offset=64 size=${4 * width}
.kernel_attr SimdSize=${width}
.function "k_main"
k_main:
    mov (M1_NM, ${width}) ID(0,0)<1> LANES(0,0)<1;1,0>
    mov (M1_NM, ${width}) R(0,0)<1> 0:ud
${instructions}
    svm_block_st (${width / 4}) OUT(0,0)<0;1,0> R.0
    ret (M1, 1)
`;
}

function functionText(source: string, width: number): string {
  const [heading = "", ...lines] = source.split("\n");
  const [, name, argSize, retvalSize, mark] = /^(\w+)(?: (\d+) (\d+))?(.*)$/.exec(heading)!;
  const [own, instructions] = parts(lines.join("\n"));
  const size = (attribute: string, registers: string | undefined): string =>
    registers === undefined ? "" : `.kernel_attr ${attribute}=${registers}\n`;
  return `.global_function "${name}"${mark}
${declarations(width)}
${own}.kernel_attr SimdSize=${width}
${size("ArgSize", argSize)}${size("RetValSize", retvalSize)}.function "${name}_main"
${name}_main:
${instructions}`;
}
