import type { Catalogue } from "../../source/index.ts";
import { bodies, kernel } from "./example.ts";

/** Catalogue pages of the diagnostics about operands. */
export const operandCodes = {
  "visa-operand-kind": {
    title: "a variable of the wrong kind",
    page: "General variables have elements in registers, address variables point to such elements, predicates have one bit per channel, and samplers and surfaces stand for state outside the thread. Each operand of an instruction takes particular kinds.",
    section: "4_visa_header",
    example: bodies("(A) mov (M1, 16) A(0,0)<1> B(0,0)<1;1,0>", "(P1) mov (M1, 16) A(0,0)<1> B(0,0)<1;1,0>"),
  },
  "visa-operand-not-allowed": {
    title: "an operand in a form that the instruction does not take",
    page: "The instruction's page says which operands may be variables with a region, indirect operands through an address variable, immediates, predicates or addresses. A constant can never be a destination.",
    section: "5_operands",
  },
  "visa-operand-type": {
    title: "an operand of a type that the instruction does not take",
    page: "The type of an operand is that of its variable; indirect operands and immediates have it after a colon. To look at the bytes of a variable as another type, declare an alias.",
    section: "2_datatypes",
    example: bodies("and (M1, 16) F(0,0)<1> A(0,0)<1;1,0> 1:ud", "and (M1, 16) B(0,0)<1> A(0,0)<1;1,0> 1:ud"),
  },
  "visa-mixed-types": {
    title: "integers and floats in one operation",
    page: "The sources of an arithmetic or logic instruction are all integers, all floats of up to 32 bits, or all doubles, and its destination must be of the same sort. `mov` converts between them.",
    section: "2_datatypes",
    example: bodies("add (M1, 16) F(0,0)<1> F(0,0)<1;1,0> A(0,0)<1;1,0>", "add (M1, 16) F(0,0)<1> F(0,0)<1;1,0> 1.0:f"),
  },
  "visa-region": {
    title: "a region that does not exist",
    page: "A source's region <v;w,h> has a vertical stride of 0, 1, 2, 4, 8, 16 or 32 elements, a width of 1, 2, 4, 8 or 16 that is not larger than the execution size, and a horizontal stride of 0, 1, 2 or 4. A destination's <h> is 1, 2 or 4. Only indirect operands can leave out the vertical stride: then each row has an address of its own.",
    section: "5_operands",
    example: bodies("mov (M1, 16) A(0,0)<1> B(0,0)<3;1,0>", "mov (M1, 16) A(0,0)<1> B(0,0)<1;1,0>"),
  },
  "visa-out-of-bounds": {
    title: "an operand extends beyond its variable",
    page: "All elements of a region must lie inside the variable. V(r,c) begins r registers and c elements after the variable's start, and the column c must be inside one register. What lies outside the variable is undefined.",
    section: "5_operands",
    example: bodies("mov (M1, 16) A(1,0)<1> 0:ud", "mov (M1, 8) A(1,0)<1> 0:ud"),
  },
  "visa-indirect-offset": {
    title: "an indirect offset out of range",
    page: "The offset of an indirect operand is between -512 and 511 bytes. For a larger one, add to the address.",
    section: "5_operands",
    example: bodies("mov (M1, 8) A(0,0)<1> r[X1(0),512]<8;8,1>:ud", "mov (M1, 8) A(0,0)<1> r[X1(0),32]<8;8,1>:ud"),
  },
  "visa-raw-alignment": {
    title: "a raw operand that begins inside a register",
    page: "Raw operands, which memory accesses and messages take, are whole registers: they begin at a multiple of a register's size, unless their variable is smaller than a register.",
    section: "5_operands",
    example: bodies("svm_gather.4.1 (M1, 8) Q.0 A.4", "svm_gather.4.1 (M1, 8) Q.0 A.32"),
  },
  "visa-modifier": {
    title: "a source modifier that the operand does not take",
    page: "(-), (abs) and (-abs) go with the sources of arithmetic, comparisons and moves, and (~) with those of and, or, xor and not. Addresses of functions, offsets and destinations take none.",
    section: "5_operands",
    example: bodies("add (M1, 16) A(0,0)<1> (~)B(0,0)<1;1,0> 1:ud", "add (M1, 16) A(0,0)<1> (-)B(0,0)<1;1,0> 1:ud"),
  },
  "visa-read-only": {
    title: "a predefined variable that cannot be written",
    page: "%r0, %hw_id, the ids of thread and group, %ce0, %color and %msg0 are read-only. Only elements 1 and 2 of %sr0 can be written, and only element 4 of %tsc.",
    section: "4_visa_header",
    example: bodies("mov (M1_NM, 1) %hw_id(0,0)<1> 0:ud", "mov (M1_NM, 1) A(0,0)<1> %hw_id(0,0)<0;1,0>"),
  },
  "visa-predicate-size": {
    title: "a predicate with too few bits",
    page: "Channel i of an instruction whose mask begins at channel m uses bit m + i of a predicate, so the variable needs more than m + i elements.",
    section: "5_operands",
    example: {
      bad: kernel("cmp.lt (M1, 16) P2 A(0,0)<1;1,0> 1:ud", ".decl P2 v_type=P num_elts=8"),
      good: kernel("cmp.lt (M1, 16) P1 A(0,0)<1;1,0> 1:ud"),
    },
  },
  "visa-number": {
    title: "a number out of its range",
    page: "Numbers that belong to an instruction, such as sizes and counts, have a range that its page gives.",
  },
} satisfies Catalogue;
