import type { Catalogue } from "../../source/index.ts";
import { kernel } from "./example.ts";

const bodies = (bad: string, good: string) => ({ bad: kernel(bad), good: kernel(good) });

/** Diagnostics about operands. */
export const operandCodes = {
  "visa-operand-kind": {
    title: "a variable of the wrong kind",
    page: "General variables have elements in registers, address variables point to such elements, predicates have a bit a channel, and samplers and surfaces stand for state outside of the thread. Each operand of an instruction wants one of these kinds.",
    section: "4_visa_header",
    example: bodies("(A) mov (M1, 16) A(0,0)<1> B(0,0)<1;1,0>", "(P1) mov (M1, 16) A(0,0)<1> B(0,0)<1;1,0>"),
  },
  "visa-operand-not-allowed": {
    title: "an operand in a form that cannot stand here",
    page: "The instruction's page says which operands may be variables with a region, indirect operands through an address variable, immediates, predicates or addresses. A constant is never a destination.",
    section: "5_operands",
  },
  "visa-operand-type": {
    title: "an operand of a type that cannot stand here",
    page: "The type of an operand is that of its variable; indirect operands and immediates write it behind a colon. To look at the bytes of a variable as another type, declare an alias.",
    section: "2_datatypes",
    example: bodies("and (M1, 16) F(0,0)<1> A(0,0)<1;1,0> 1:ud", "and (M1, 16) B(0,0)<1> A(0,0)<1;1,0> 1:ud"),
  },
  "visa-mixed-types": {
    title: "integers and floats in one operation",
    page: "The sources of an arithmetic or logic instruction are all integers, all floats of up to 32 bits, or all doubles, and its destination is of the same sort. `mov` converts.",
    section: "2_datatypes",
    example: bodies("add (M1, 16) F(0,0)<1> F(0,0)<1;1,0> A(0,0)<1;1,0>", "add (M1, 16) F(0,0)<1> F(0,0)<1;1,0> 1.0:f"),
  },
  "visa-region": {
    title: "a region that does not exist",
    page: "A source's region <v;w,h> has a vertical stride of 0, 1, 2, 4, 8, 16 or 32 elements, a width of 1, 2, 4, 8 or 16 that is not larger than the execution size, and a horizontal stride of 0, 1, 2 or 4. A destination's <h> is 1, 2 or 4. Only indirect operands can leave the vertical stride out: then each row has an address of its own.",
    section: "5_operands",
    example: bodies("mov (M1, 16) A(0,0)<1> B(0,0)<3;1,0>", "mov (M1, 16) A(0,0)<1> B(0,0)<1;1,0>"),
  },
  "visa-out-of-bounds": {
    title: "an operand leaves its variable",
    page: "All elements of a region, from its origin on, lie inside the variable; V(r,c) begins r registers and c elements behind its start, and a column does not go beyond its register. What lies outside is undefined.",
    section: "5_operands",
    example: bodies("mov (M1, 16) A(1,0)<1> 0:ud", "mov (M1, 8) A(1,0)<1> 0:ud"),
  },
  "visa-indirect-offset": {
    title: "an indirect offset that does not fit",
    page: "The offset of an indirect operand, in bytes, is between -512 and 511. Add what is beyond to the address.",
    section: "5_operands",
    example: bodies("mov (M1, 8) A(0,0)<1> r[X1(0),512]<8;8,1>:ud", "mov (M1, 8) A(0,0)<1> r[X1(0),32]<8;8,1>:ud"),
  },
  "visa-raw-alignment": {
    title: "a raw operand that begins inside a register",
    page: "Raw operands, of memory accesses and messages, are whole registers: they begin at a multiple of a register's size, unless their variable is smaller than one.",
    section: "5_operands",
    example: bodies("svm_gather.4.1 (M1, 8) Q.0 A.4", "svm_gather.4.1 (M1, 8) Q.0 A.32"),
  },
  "visa-modifier": {
    title: "a source modifier that cannot stand here",
    page: "(-), (abs) and (-abs) go with the sources of arithmetic, comparisons and moves, (~) with those of and, or, xor and not. Addresses of functions, offsets and destinations have none.",
    section: "5_operands",
    example: bodies("add (M1, 16) A(0,0)<1> (~)B(0,0)<1;1,0> 1:ud", "add (M1, 16) A(0,0)<1> (-)B(0,0)<1;1,0> 1:ud"),
  },
  "visa-read-only": {
    title: "a predefined variable that cannot be written",
    page: "%r0, %hw_id, the ids of thread and group, %ce0, %color and %msg0 can be read only. Of %sr0 elements 1 and 2 can be written, of %tsc element 4.",
    section: "4_visa_header",
    example: bodies("mov (M1_NM, 1) %hw_id(0,0)<1> 0:ud", "mov (M1_NM, 1) A(0,0)<1> %hw_id(0,0)<0;1,0>"),
  },
  "visa-predicate-size": {
    title: "a predicate with too few bits",
    page: "Channel i of an instruction whose mask begins at channel m has bit m + i of a predicate: the variable needs that many elements.",
    section: "5_operands",
    example: {
      bad: kernel("cmp.lt (M1, 16) P2 A(0,0)<1;1,0> 1:ud", ".decl P2 v_type=P num_elts=8"),
      good: kernel("cmp.lt (M1, 16) P1 A(0,0)<1;1,0> 1:ud"),
    },
  },
  "visa-number": {
    title: "a number out of its range",
    page: "Numbers that belong to an instruction, as sizes and counts, have a range that its page gives.",
  },
} satisfies Catalogue;
