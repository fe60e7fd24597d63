import type { Catalogue } from "../../source/index.ts";
import { kernel } from "./example.ts";

const copy = "mov (M1, 16) A(0,0)<1> B(0,0)<1;1,0>";

/** Diagnostics about names: of variables and labels. */
export const nameCodes = {
  "visa-unknown-name": {
    title: "a name that nothing declares",
    page: "An operand, a predicate, an input or an alias names a variable that the routine neither declares with `.decl` nor has from the start, as %arg or %r0. What is declared between `{` and `}` is known there only. Names of functions and of labels are not variables.",
    section: "4_visa_header",
    example: { bad: kernel("mov (M1, 16) A(0,0)<1> C(0,0)<1;1,0>"), good: kernel(copy) },
  },
  "visa-use-before-declaration": {
    title: "a variable is used before it is declared",
    page: "Text is read from top to bottom: a declaration comes before the first use, and the variable that an alias shares its storage with before the alias.",
    section: "4_visa_header",
    example: {
      bad: kernel("", ".decl Y v_type=G type=ud num_elts=8 alias=<Z, 0>\n.decl Z v_type=G type=ud num_elts=8"),
      good: kernel("", ".decl Z v_type=G type=ud num_elts=8\n.decl Y v_type=G type=ud num_elts=8 alias=<Z, 0>"),
    },
  },
  "visa-duplicate-name": {
    title: "a name is declared twice",
    page: "Variables of all kinds share one table of names, and a name can be declared once in a scope. An inner scope, between `{` and `}`, may give it another meaning.",
    section: "4_visa_header",
    example: {
      bad: kernel("", ".decl A v_type=P num_elts=16"),
      good: kernel("", ".decl C v_type=P num_elts=16"),
    },
  },
  "visa-reserved-name": {
    title: "a name that is taken",
    page: "V0 to V31, T0 to T5, TSS, P0, S31 and everything that begins with `%` are names of predefined variables, in all scopes.",
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
    title: "a label is there twice",
    page: 'A label marks one place of a routine; its subroutines share one table of labels. `.function "x"` is a label by itself, and the label x right behind it is the same one.',
    section: "4_visa_header",
    example: { bad: kernel("L:\nL:"), good: kernel("L:\nM:") },
  },
} satisfies Catalogue;
