import type { Catalogue } from "../../source/index.ts";

/** Diagnostics about several modules that are to become one program. */
export const linkCodes = {
  "unresolved-symbol": {
    title: "a function or variable that no module defines",
    page: "A module declares it (`.extern`, or a function without a body), and none of the modules of the program defines it with `.visible`, `.weak` or `.common`. A definition without one of these is only known in its own module. Lanewise itself provides vprintf, malloc, free and __assertfail.",
    section: "11.6",
  },
  "duplicate-symbol": {
    title: "two modules define the same visible name",
    page: "Only one module may define a `.visible` function or variable. Of several `.weak` definitions one is taken, and a `.visible` definition wins over them.",
    section: "11.6",
  },
  "symbol-kind-mismatch": {
    title: "a name is a function in one module and a variable in another, or differs in its state space",
    page: "All modules must agree on what a name is: a function or a kernel, or a variable of one state space.",
    section: "11.6.1",
  },
  "prototype-mismatch": {
    title: "modules declare a function with different parameters",
    page: "A call is compiled by the declaration in its own module, so number, size and alignment of parameters must be those of the definition.",
    section: "11.2.2",
  },
  "variable-mismatch": {
    title: "modules declare a variable with different sizes",
    page: "The declaration with `.extern` must have the size and alignment of the definition; only an array's first bound may be left out.",
    section: "11.6.1",
  },
  "link-address-size": {
    title: "modules with 32-bit and 64-bit addresses cannot be linked",
    page: "All modules of a program must have the same `.address_size`.",
    section: "11.1.3",
  },
} satisfies Catalogue;

export type LinkCode = keyof typeof linkCodes;
