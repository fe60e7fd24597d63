import { module } from "../check/example.ts";
import type { Catalogue } from "../../source/index.ts";

/** Two files, each after a comment line with its name. */
const files = (a: string, b: string): string => `// a.ptx\n${a}\n// b.ptx\n${b}`;
const modules = (a: string, b: string): string => files(module(a), module(b));
const header = (version: string, target: string, addressSize: number): string =>
  `.version ${version}\n.target ${target}\n.address_size ${addressSize}\n`;

const callsF = ".extern .func f();\n.visible .entry k() { call f; ret; }";
const f = ".visible .func f() { ret; }";
const loadsV =
  ".extern .global .u32 v;\n.visible .entry k() { .reg .u32 a; ld.global.u32 a, [v]; st.global.u32 [v], a; ret; }";

/** Catalogue pages of the diagnostics of the linker. */
export const linkCodes = {
  "unresolved-symbol": {
    title: "a function or variable that no module defines",
    page: "A module declares the name (`.extern`, or a function without a body), but no module of the program defines it as `.visible`, `.weak` or `.common`. A definition without one of these words is visible in its own module only, and a declaration without `.extern` must be followed by a definition in the same module.\n\nLanewise itself provides vprintf, malloc, free and __assertfail.\n\nnvlink accepts an undefined function that is never called. Here it is an error, because the mistake would only show once there is a call.",
    section: "11.6.1",
    example: { bad: modules(callsF, ".func f() { ret; }"), good: modules(callsF, f) },
  },
  "duplicate-symbol": {
    title: "two modules define the same visible name",
    page: "Only one module may define a `.visible` function or variable, or give a `.common` variable an initial value. Of several `.weak` definitions the first is used, and a `.visible` definition takes precedence over them.\n\nMake a definition that several files share, for instance from a header, `.weak`; leave the linkage word out if each file has its own.",
    section: "11.6.3",
    example: { bad: modules(f, f), good: modules(f, f.replace(".visible", ".weak")) },
  },
  "symbol-kind-mismatch": {
    title: "a name is a function in one module and a variable in another, or the state spaces differ",
    page: "All modules must agree on what a name is: a function, a kernel, a texture, or a variable of one state space.",
    section: "11.6.1",
    example: {
      bad: modules(loadsV, ".visible .const .u32 v = 1;"),
      good: modules(loadsV, ".visible .global .u32 v = 1;"),
    },
  },
  "prototype-mismatch": {
    title: "modules declare a function with different parameters",
    page: "A call is compiled according to the declaration in its own module, so the number, kinds, sizes and alignments of the parameters must match the definition. Integers and untyped bits of the same size match; .f32 and .f64 do not match .b32 and .b64; arrays match if their element sizes and bounds agree.",
    section: "11.2.2",
    example: { bad: modules(callsF, ".visible .func f(.param .b32 a) { ret; }"), good: modules(callsF, f) },
  },
  "variable-mismatch": {
    title: "modules declare a variable with different sizes",
    page: "An `.extern` declaration must have the size of the definition; only an array's first bound may be left out. Either both must be `.managed` or neither. All `.weak` definitions must have the same size. `.common` ones may differ, and the largest is used; one with an initial value must be the largest.\n\nThe alignment is that of the definition: there is a warning for a declaration with a larger one.",
    section: "11.6.4",
    example: {
      bad: modules(loadsV, ".visible .global .u64 v = 1;"),
      good: modules(loadsV, ".visible .global .u32 v = 1;"),
    },
  },
  "link-address-size": {
    title: "modules with 32-bit and 64-bit addresses cannot be linked",
    page: "All modules of a program must have the same `.address_size`, which is 32 in a module without the directive.",
    section: "11.1.3",
    example: {
      bad: files(`${header("9.0", "sm_75", 64)}${callsF}\n`, `${header("9.0", "sm_75", 32)}${f}\n`),
      good: files(`${header("9.0", "sm_75", 64)}${callsF}\n`, `${header("9.0", "sm_75", 64)}${f}\n`),
    },
  },
  "link-target": {
    title: "no device runs the code of all modules",
    page: "The target of a program is the newest target of its modules, and the code of the others must run there too: code for sm_80 runs on all later devices, code for sm_90a only on sm_90, code for sm_100f on the family of sm_100. All modules must also have the same texturing mode, `texmode_unified` or `texmode_independent`.",
    section: "11.1.2",
    example: {
      bad: files(`${header("9.0", "sm_90a", 64)}${callsF}\n`, `${header("9.0", "sm_100", 64)}${f}\n`),
      good: files(`${header("9.0", "sm_90a", 64)}${callsF}\n`, `${header("7.0", "sm_80", 64)}${f}\n`),
    },
  },
  "kernel-renamed": {
    title: "two modules have a kernel with the same name",
    page: "A kernel without `.visible` is visible in its own module only, so another module may have a kernel with the same name. Both can be launched, so the later one is renamed.",
    section: "11.6.2",
    example: {
      bad: modules(".entry k() { ret; }", ".entry k() { exit; }"),
      good: modules(".entry k() { ret; }", ".entry k2() { exit; }"),
    },
  },
} satisfies Catalogue;

/** The code of a diagnostic that the linker reports. */
export type LinkCode = keyof typeof linkCodes;
