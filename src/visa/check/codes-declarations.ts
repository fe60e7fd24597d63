import type { Catalogue } from "../../source/index.ts";
import { callee, kernel } from "./example.ts";

const decl = (rest: string): string => kernel("", `.decl C ${rest}`);

/** Catalogue pages of the diagnostics about variables, inputs and attributes. */
export const declarationCodes = {
  "visa-element-count": {
    title: "a variable with too few or too many elements",
    page: "A general variable has 1 to 4096 elements, and at most 4096 bytes where registers have 32 bytes, or 16384 bytes where they have 64. An address variable has 1 to 16 elements, a predicate 1, 2, 4, 8, 16 or 32.",
    section: "4_visa_header",
    example: { bad: decl("v_type=P num_elts=12"), good: decl("v_type=P num_elts=16") },
  },
  "visa-variable-type": {
    title: "a type that only immediates have",
    page: "The packed types v, uv and vf are only for immediates, and bool is the type of predicates. A general variable cannot have any of them.",
    section: "4_visa_header",
    example: { bad: decl("v_type=G type=v num_elts=8"), good: decl("v_type=G type=w num_elts=8") },
  },
  "visa-alignment": {
    title: "an unknown alignment, or an alias that is not aligned to its type",
    page: "An alignment is one of byte, word, dword, qword, oword, hword (32 bytes), GRF, wordx32 (64), wordx64 (128) and GRFx2. The offset of an alias must be a multiple of the size of its type.",
    section: "4_visa_header",
    example: {
      bad: decl("v_type=G type=ud num_elts=4 alias=<A, 2>"),
      good: decl("v_type=G type=ud num_elts=4 alias=<A, 4>"),
    },
  },
  "visa-alias": {
    title: "an impossible alias",
    page: "An alias is a general variable that lies inside another one, or inside %r0, %arg, %retval, %sp, %fp, %hw_id or one of the buffer pointers. The other predefined variables cannot have aliases; instructions name them directly.",
    section: "4_visa_header",
    example: {
      bad: decl("v_type=G type=ud num_elts=16 alias=<A, 32>"),
      good: decl("v_type=G type=ud num_elts=8 alias=<A, 32>"),
    },
  },
  "visa-input": {
    title: "an impossible input",
    page: "An input is a general variable, sampler or surface of a kernel, and not an alias. It has the size of its variable. Its offset is a multiple of the size of its type, or of 4 for samplers and surfaces; an input of a register or more begins at a register. Smaller inputs lie within one register. No two inputs overlap.",
    section: "4_visa_header",
    example: {
      bad: kernel("", ".input A offset=40 size=64"),
      good: kernel("", ".input A offset=64 size=64"),
    },
  },
  "visa-duplicate-attribute": {
    title: "an attribute is given twice",
    page: "If a routine has the same attribute twice, the last one counts and the first has no effect.",
    section: "4_visa_header",
    example: {
      bad: kernel("", ".kernel_attr SLMSize=4\n.kernel_attr SLMSize=8"),
      good: kernel("", ".kernel_attr SLMSize=8"),
    },
  },
  "visa-unknown-attribute": {
    title: "an unknown attribute",
    page: "The reference implementation ignores attributes that it does not know, so a misspelt one has no effect.",
    section: "4_visa_header",
    example: { bad: kernel("", ".kernel_attr SimdSise=16"), good: kernel("", ".kernel_attr NBarrierCnt=1") },
  },
  "visa-attribute-value": {
    title: "an attribute cannot have this value",
    page: "SimdSize is 8, 16 or 32 (or 1 if lanes do not matter), ArgSize 0 to 32 registers and RetValSize 0 to 12. Attributes that are either set or not, such as Extern, have no value, or 0 or 1.",
    section: "4_visa_header",
    example: {
      bad: callee("f", "fret (M1, 16)", "ArgSize=40\nRetValSize=2"),
      good: callee("f", "fret (M1, 16)", "ArgSize=32\nRetValSize=2"),
    },
  },
  "visa-missing-attribute": {
    title: "a function does not say how much it takes and returns",
    page: "ArgSize and RetValSize say how many registers of %arg and %retval a function uses. A function must have both, and every call must give the same sizes.",
    section: "4_visa_header",
    example: { bad: callee("f", "fret (M1, 16)", "ArgSize=2"), good: callee("f", "fret (M1, 16)") },
  },
} satisfies Catalogue;
