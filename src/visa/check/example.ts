/** Variables that an example declares if it uses them. */
const kernelVariables = {
  A: "v_type=G type=ud num_elts=16 align=GRF",
  B: "v_type=G type=ud num_elts=16 align=GRF",
  F: "v_type=G type=f num_elts=16 align=GRF",
  W: "v_type=G type=uw num_elts=16 align=GRF",
  Q: "v_type=G type=uq num_elts=16 align=GRF",
  X1: "v_type=A num_elts=4",
  P1: "v_type=P num_elts=16",
} as const;

const functionVariables = {
  ARG: "v_type=G type=ud num_elts=256 align=GRF alias=<%arg, 0>",
  RET: "v_type=G type=ud num_elts=96 align=GRF alias=<%retval, 0>",
  P1: "v_type=P num_elts=16",
} as const;

/**
 * A kernel of 16 lanes, for the examples of catalogue pages. It has the given declarations, and those of A, B (ud), F
 * (f), W (uw), Q (uq), P1 and X1 that it uses.
 */
export const kernel = (body: string, declarations = ""): string =>
  `.version 3.6
.kernel "k"
${named(kernelVariables, body + declarations)}${lines(declarations)}.kernel_attr SimdSize=16
.function "k_main"
k_main:
${lines(body)}    ret (M1, 1)
`;

/** The same kernel with a body that provokes a diagnostic and with one that does not. */
export const bodies = (bad: string, good: string) => ({ bad: kernel(bad), good: kernel(good) });

/** A function of 16 lanes; ARG and RET are aliases of %arg and %retval. */
export const callee = (name: string, body: string, attributes = "ArgSize=2\nRetValSize=2"): string =>
  `.version 3.6
.global_function "${name}"
${named(functionVariables, body)}.kernel_attr SimdSize=16
${attributes.replace(/^/gm, ".kernel_attr ")}
.function "${name}_0"
${name}_0:
${lines(body)}`;

const named = (variables: Readonly<Record<string, string>>, text: string): string =>
  Object.entries(variables)
    .filter(([name]) => new RegExp(`\\b${name}\\b`).test(text))
    .map(([name, rest]) => `.decl ${name} ${rest}\n`)
    .join("");

const lines = (text: string): string => (text === "" ? "" : `${text.replace(/^(?=[\w(])(?!\w+:)/gm, "    ")}\n`);
