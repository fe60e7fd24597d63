import type { Catalogue } from "../../source/index.ts";
import { kernel } from "./example.ts";

const bodies = (bad: string, good: string) => ({ bad: kernel(bad), good: kernel(good) });

/** Diagnostics about instructions as a whole: masks, and what single pages say. */
export const instructionCodes = {
  "visa-exec-size": {
    title: "an instruction cannot have that many channels",
    page: "Execution sizes are 1, 2, 4, 8, 16 and 32; messages to memory and some others have fewer of them, as the instruction's page says.",
    section: "3_execution_model",
    example: bodies("svm_gather.4.1 (M1_NM, 32) Q.0 A.0", "svm_gather.4.1 (M1, 16) Q.0 A.0"),
  },
  "visa-mask-offset": {
    title: "a mask that does not fit the channels",
    page: "The mask Mk begins at channel 4(k - 1), which is a multiple of the execution size, and the channels from there on are those of the routine's SimdSize. An instruction without a mask may have more channels than the routine.",
    section: "3_execution_model",
    example: bodies("mov (M2, 8) A(0,0)<1> 0:ud", "mov (M3, 8) A(0,0)<1> 0:ud"),
  },
  "visa-scalar-mask": {
    title: "a scalar call or return with a mask",
    page: "call, fcall, ifcall and fret with one channel, and ret of a subroutine, concern the whole thread: they are marked M1_NM. The `ret (M1, 1)` that ends a kernel is how the reference writes it.",
    section: "IFCALL",
    example: bodies("ifcall (M1, 1) A(0,0)<0;1,0> 0 0", "ifcall (M1_NM, 1) A(0,0)<0;1,0> 0 0"),
  },
  "visa-saturation": {
    title: "saturation of an integer operation that has none",
    page: "mul, mad and div saturate floating-point results only.",
    section: "MUL",
    example: bodies(
      "mad.sat (M1, 16) A(0,0)<1> B(0,0)<1;1,0> 2:w 3:w",
      "mad.sat (M1, 16) F(0,0)<1> F(0,0)<1;1,0> 2.0:f 3.0:f",
    ),
  },
  "visa-predicate-operand": {
    title: "predicates and data in one operation",
    page: "and, or, xor and not work on data or on predicates; then all operands are predicates, and the instruction has none of its own. A move from a predicate has one channel and an integer destination with room for all bits.",
    section: "AND",
    example: bodies("and (M1, 16) P1 P1 A(0,0)<1;1,0>", "and (M1, 16) P1 P1 P1"),
  },
  "visa-setp-mask": {
    title: "setp of a number with a mask",
    page: "A scalar source gives the bits of the channels from its least significant on: the instruction is without a mask, from channel 0 (M1_NM) or, with up to 16 channels, 16 (M5_NM) on.",
    section: "SETP",
    example: bodies("setp (M1, 16) P1 0xff:uw", "setp (M1_NM, 16) P1 0xff:uw"),
  },
  "visa-movs": {
    title: "movs of something that is no sampler or surface",
    page: "movs moves the handle of a sampler or surface, from or to a number of 32 bits or another variable of the same kind.",
    section: "MOVS",
    example: {
      bad: kernel("movs (M1_NM, 1) A(0,0)<1> 3:ud"),
      good: kernel("movs (M1_NM, 1) T6(0) 3:ud", ".decl T6 v_type=T num_elts=1"),
    },
  },
  "visa-addr-add": {
    title: "the address of a predefined variable",
    page: "Addresses can be taken of variables that the routine declares, and of %arg and %retval.",
    section: "ADDR_ADD",
    example: bodies("addr_add (M1_NM, 1) X1(0)<1> &%r0 0:uw", "addr_add (M1_NM, 1) X1(0)<1> &A 0:uw"),
  },
  "visa-version-gate": {
    title: "an instruction that this version does not have",
    page: "The version at the beginning of a file decides which instructions there are.",
    section: "6_instructions",
  },
  "visa-platform": {
    title: "an instruction that the platform does not have",
    page: "Not every platform has every instruction. Without a platform, nothing is refused.",
    section: "appendix_instruction_by_platform",
  },
} satisfies Catalogue;
