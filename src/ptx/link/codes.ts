import { module } from "../check/example.ts";
import type { Catalogue } from "../../source/index.ts";

/** Two files, each under a line with its name. */
const files = (a: string, b: string): string => `// a.ptx\n${a}\n// b.ptx\n${b}`;
const modules = (a: string, b: string): string => files(module(a), module(b));
const header = (version: string, target: string, addressSize: number): string =>
  `.version ${version}\n.target ${target}\n.address_size ${addressSize}\n`;

const callsF = ".extern .func f();\n.visible .entry k() { call f; ret; }";
const f = ".visible .func f() { ret; }";
const loadsV =
  ".extern .global .u32 v;\n.visible .entry k() { .reg .u32 a; ld.global.u32 a, [v]; st.global.u32 [v], a; ret; }";

/** Diagnostics about several modules that are to become one program. */
export const linkCodes = {
  "unresolved-symbol": {
    title: "a function or variable that no module defines",
    page: "A module declares it (`.extern`, or a function without a body), and none of the modules of the program defines it with `.visible`, `.weak` or `.common`. A definition without one of these is only known in its own module, and a declaration without `.extern` only stands for a definition further down.\n\nLanewise itself provides vprintf, malloc, free and __assertfail.\n\nnvlink lets a function pass that nobody calls. Here it is an error, because it is a mistake that shows as soon as somebody does.",
    section: "11.6.1",
    example: { bad: modules(callsF, ".func f() { ret; }"), good: modules(callsF, f) },
  },
  "duplicate-symbol": {
    title: "two modules define the same visible name",
    page: "Only one module may define a `.visible` function or variable, or give a `.common` variable an initial value. Of several `.weak` definitions the first is taken, and a `.visible` definition wins over them.\n\nWhat two files have in common, as from a header, is `.weak`; what each has for itself has no linkage word.",
    section: "11.6.3",
    example: { bad: modules(f, f), good: modules(f, f.replace(".visible", ".weak")) },
  },
  "symbol-kind-mismatch": {
    title: "a name is a function in one module and a variable in another, or differs in its state space",
    page: "All modules must agree on what a name is: a function, a kernel, a texture, or a variable of one state space.",
    section: "11.6.1",
    example: {
      bad: modules(loadsV, ".visible .const .u32 v = 1;"),
      good: modules(loadsV, ".visible .global .u32 v = 1;"),
    },
  },
  "prototype-mismatch": {
    title: "modules declare a function with different parameters",
    page: "A call is compiled by the declaration in its own module, so number, kind, size and alignment of the parameters must be those of the definition. Integers and untyped bits of one size are alike; .f32 and .f64 are not like .b32 and .b64; an array is like one of the same element size and bounds.",
    section: "11.2.2",
    example: { bad: modules(callsF, ".visible .func f(.param .b32 a) { ret; }"), good: modules(callsF, f) },
  },
  "variable-mismatch": {
    title: "modules declare a variable with different sizes",
    page: "An `.extern` declaration must have the size of the definition; only an array's first bound may be left out. Both must be `.managed`, or none. `.weak` definitions must all have one size. `.common` ones may differ, and the largest is taken; one with an initial value must be the largest.\n\nThe alignment is that of the definition: a declaration that asks for more gets a warning.",
    section: "11.6.4",
    example: {
      bad: modules(loadsV, ".visible .global .u64 v = 1;"),
      good: modules(loadsV, ".visible .global .u32 v = 1;"),
    },
  },
  "link-address-size": {
    title: "modules with 32-bit and 64-bit addresses cannot be linked",
    page: "All modules of a program must have the same `.address_size`, which is 32 where a module does not say it.",
    section: "11.1.3",
    example: {
      bad: files(`${header("9.0", "sm_75", 64)}${callsF}\n`, `${header("9.0", "sm_75", 32)}${f}\n`),
      good: files(`${header("9.0", "sm_75", 64)}${callsF}\n`, `${header("9.0", "sm_75", 64)}${f}\n`),
    },
  },
  "link-target": {
    title: "modules are for targets that no device is together",
    page: "A program is for the newest of its modules' targets, and the others must be ones whose code runs there: code for sm_80 runs on all later devices, code for sm_90a on sm_90 alone, code for sm_100f on the family of sm_100. All modules must also have the same texturing mode, `texmode_unified` or `texmode_independent`.",
    section: "11.1.2",
    example: {
      bad: files(`${header("9.0", "sm_90a", 64)}${callsF}\n`, `${header("9.0", "sm_100", 64)}${f}\n`),
      good: files(`${header("9.0", "sm_90a", 64)}${callsF}\n`, `${header("7.0", "sm_80", 64)}${f}\n`),
    },
  },
  "kernel-renamed": {
    title: "two modules have a kernel of the same name",
    page: "A kernel without `.visible` is known in its own module only, so another one may have the same name. A launch can still ask for each of them, and so the later one gets another name.",
    section: "11.6.2",
    example: {
      bad: modules(".entry k() { ret; }", ".entry k() { exit; }"),
      good: modules(".entry k() { ret; }", ".entry k2() { exit; }"),
    },
  },
} satisfies Catalogue;

export type LinkCode = keyof typeof linkCodes;
