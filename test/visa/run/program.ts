/**
 * A program and what it computes, as a function of the work item: a model that knows nothing of lanes, masks or
 * registers.
 *
 * The text is vISA with a few words of its own, which `routineTexts` replaces: `(E)` all channels, `(NM)` all of them
 * whatever the mask, `(one)` channel 0 without mask; `X@` the vector X as a source and `X!` as a destination; `S$` the
 * scalar S as a source; `#` the registers that a vector of dwords takes, `##` twice as many.
 *
 * Every routine has the vectors X, Y, Z, W (dwords), the scalars S, T, U, V (dwords), Q (a qword), F (a function's
 * address), the predicates P1 to P4, the address variable A1, and ARG and RET over %arg and %retval. The kernel has ID
 * (the work item of each lane), SELF (the address of the work item's first dword of the output), STK (an address
 * private to the thread), and R, which it stores at SELF in the lanes that are active when its text ends; R begins as
 * 0.
 */
export interface Program {
  readonly title: string;
  /** Lanes of a thread; the program is run with each of these. */
  readonly widths: readonly (8 | 16 | 32)[];
  readonly kernel: string;
  /** Text after the kernel's end: its subroutines. */
  readonly subroutines?: string;
  readonly functions?: readonly FunctionText[];
  /** Further declarations of every routine. */
  readonly declarations?: string;
  /** Work items of the launch, and of a group. */
  readonly items?: number;
  readonly group?: number;
  readonly expected: (id: number, width: number) => number;
}

export interface FunctionText {
  readonly name: string;
  /** Vectors of dwords that it takes and returns. */
  readonly takes: number;
  readonly returns: number;
  readonly body: string;
}

/** Bytes of a register, and of the payload before what a program names. */
const grfBytes = 32;
/** The offset of each of the kernel's inputs in the payload, in bytes. */
export const inputs = { out: grfBytes, stack: grfBytes + 8, id: 2 * grfBytes } as const;

export interface RoutineText {
  readonly name: string;
  readonly text: string;
}

/** The texts of the routines, each a file of its own, the kernel first. */
export function routineTexts(program: Program, width: number): readonly RoutineText[] {
  const { kernel, subroutines = "", functions = [] } = program;
  const kernelText = `${head(program, width, "kernel", "k")}${inputText(width)}${attributes(width)}
.function "k_main"
k_main:
${firstLines(width)}
${kernel}
${lastLines(width)}
${subroutines}`;
  const texts = functions.map(({ name, takes, returns, body }) => ({
    name,
    text: `${head(program, width, "global_function", name)}${attributes(width)}
.kernel_attr Extern
.kernel_attr ArgSize=${takes * vectorGrfs(width)}
.kernel_attr RetValSize=${returns * vectorGrfs(width)}
.function "${name}_main"
${name}_main:
${body}`,
  }));
  return [{ name: "k", text: kernelText }, ...texts].map(({ name, text }) => ({ name, text: expand(text, width) }));
}

const vectorGrfs = (width: number): number => (4 * width) / grfBytes;

const head = ({ declarations = "" }: Program, width: number, directive: string, name: string): string => `.version 3.6
.${directive} "${name}"
.decl ARG v_type=G type=ud num_elts=256 align=GRF alias=<%arg, 0>
.decl RET v_type=G type=ud num_elts=96 align=GRF alias=<%retval, 0>
${["X", "Y", "Z", "W", "R", "ID"].map((v) => `.decl ${v} v_type=G type=ud num_elts=${width} align=GRF`).join("\n")}
${["S", "T", "U", "V", "F"].map((v) => `.decl ${v} v_type=G type=ud num_elts=1 align=GRF`).join("\n")}
${["Q", "OUT", "STK"].map((v) => `.decl ${v} v_type=G type=uq num_elts=1 align=GRF`).join("\n")}
.decl SELF v_type=G type=uq num_elts=${width} align=GRF
${[1, 2, 3, 4].map((i) => `.decl P${i} v_type=P num_elts=${width}`).join("\n")}
.decl A1 v_type=A num_elts=16
${declarations}
`;

const inputText = (width: number): string => `.input OUT offset=${inputs.out} size=8
.input STK offset=${inputs.stack} size=8
.input ID offset=${inputs.id} size=${4 * width}
`;

const attributes = (width: number): string => `.kernel_attr SimdSize=${width}
.kernel_attr Target="3d"`;

/** SELF, eight lanes at a time: they take two registers. */
const firstLines = (width: number): string =>
  Array.from(
    { length: width / 8 },
    (_, i) => `mov (M1_NM, 8) SELF(${2 * i},0)<1> ID(${i},0)<1;1,0>
shl (M1_NM, 8) SELF(${2 * i},0)<1> SELF(${2 * i},0)<1;1,0> 2:ud
add (M1_NM, 8) SELF(${2 * i},0)<1> SELF(${2 * i},0)<1;1,0> OUT(0,0)<0;1,0>
mov (M1_NM, 8) R(${i},0)<1> 0:ud`,
  ).join("\n");

const lastLines = (width: number): string =>
  (width === 32
    ? ["svm_scatter.4.1 (M1, 16) SELF.0 R.0", "svm_scatter.4.1 (M5, 16) SELF.128 R.64"]
    : [`svm_scatter.4.1 (M1, ${width}) SELF.0 R.0`]
  )
    .concat("ret (M1, 1)")
    .join("\n");

/** Labels begin in the first column. */
const expand = (text: string, width: number): string =>
  text
    .replaceAll("(E)", `(M1, ${width})`)
    .replaceAll("(NM)", `(M1_NM, ${width})`)
    .replaceAll("(one)", "(M1_NM, 1)")
    .replaceAll(/\b(\w+)@/g, "$1(0,0)<1;1,0>")
    .replaceAll(/\b(\w+)!(?!\w)/g, "$1(0,0)<1>")
    .replaceAll(/\b(\w+)\$/g, "$1(0,0)<0;1,0>")
    .replaceAll("##", String(2 * vectorGrfs(width)))
    .replaceAll("#", String(vectorGrfs(width)))
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => (/^\.|:$/.test(line) ? line : `    ${line}`))
    .join("\n")
    .concat("\n");
