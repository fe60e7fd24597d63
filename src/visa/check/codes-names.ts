import type { Catalogue } from "../../source/index.ts";
import { kernel } from "./example.ts";

const copy = "mov (M1, 16) A(0,0)<1> B(0,0)<1;1,0>";

/** Catalogue pages of the diagnostics about the names of variables and labels. */
export const nameCodes = {
  "visa-unknown-name": {
    title: "a name that nothing declares",
    page: "An operand, a predicate, an input or an alias names a variable that is neither declared with `.decl` nor predefined, as %arg and %r0 are. What is declared between `{` and `}` is known only there. Functions and labels are not variables.",
    section: "4_visa_header",
    example: { bad: kernel("mov (M1, 16) A(0,0)<1> C(0,0)<1;1,0>"), good: kernel(copy) },
  },
  "visa-use-before-declaration": {
    title: "a variable is used before it is declared",
    page: "Text is read from top to bottom: a variable must be declared before its first use, and before any alias that shares its storage.",
    section: "4_visa_header",
    example: {
      bad: kernel("", ".decl Y v_type=G type=ud num_elts=8 alias=<Z, 0>\n.decl Z v_type=G type=ud num_elts=8"),
      good: kernel("", ".decl Z v_type=G type=ud num_elts=8\n.decl Y v_type=G type=ud num_elts=8 alias=<Z, 0>"),
    },
  },
  "visa-duplicate-name": {
    title: "a name is declared twice",
    page: "Variables of all kinds share one set of names, and a name can be declared only once in a scope. An inner scope, between `{` and `}`, may declare it again.",
    section: "4_visa_header",
    example: {
      bad: kernel("", ".decl A v_type=P num_elts=16"),
      good: kernel("", ".decl C v_type=P num_elts=16"),
    },
  },
  "visa-reserved-name": {
    title: "a reserved name",
    page: "V0 to V31, T0 to T5, TSS, P0, S31 and everything that begins with `%` are reserved for predefined variables, in all scopes.",
    section: "4_visa_header",
    example: {
      bad: kernel("", ".decl V31 v_type=G type=ud num_elts=8"),
      good: kernel("", ".decl V32 v_type=G type=ud num_elts=8"),
    },
  },
  "visa-alias-cycle": {
    title: "variables are aliases of each other",
    page: "An alias names the variable whose storage it shares. Following the aliases must end at a variable that has storage of its own.",
    section: "4_visa_header",
    example: {
      bad: kernel("", ".decl Y v_type=G type=ud num_elts=8 alias=<Y, 0>"),
      good: kernel("", ".decl Y v_type=G type=ud num_elts=8 alias=<A, 0>"),
    },
  },
  "visa-duplicate-label": {
    title: "a label is defined twice",
    page: 'A label marks one place of a routine, whose subroutines share one set of labels. `.function "x"` itself defines a label, and a label x directly after it is the same one.',
    section: "4_visa_header",
    example: { bad: kernel("L:\nL:"), good: kernel("L:\nM:") },
  },
} satisfies Catalogue;
