import type { Catalogue } from "../../source/index.ts";
import { bodies, kernel } from "./example.ts";

/** Catalogue pages of the diagnostics about whole instructions: masks, and the rules of single pages of the manual. */
export const instructionCodes = {
  "visa-exec-size": {
    title: "an instruction cannot have that many channels",
    page: "Execution sizes are 1, 2, 4, 8, 16 and 32. Memory accesses and some other instructions allow only some of them, as their pages say.",
    section: "3_execution_model",
    example: bodies("svm_gather.4.1 (M1_NM, 32) Q.0 A.0", "svm_gather.4.1 (M1, 16) Q.0 A.0"),
  },
  "visa-mask-offset": {
    title: "a mask that does not fit the channels",
    page: "The mask Mk begins at channel 4(k - 1), which must be a multiple of the execution size, and the instruction's channels must be among those of the routine's SimdSize. An instruction without a mask (_NM) may have more channels than the routine.",
    section: "3_execution_model",
    example: bodies("mov (M2, 8) A(0,0)<1> 0:ud", "mov (M3, 8) A(0,0)<1> 0:ud"),
  },
  "visa-scalar-mask": {
    title: "a scalar call or return with a mask",
    page: 'call, fcall, ifcall and fret with one channel, and such a ret of a subroutine, act on the whole thread and must be marked M1_NM. Only the ret that ends a kernel may be written `ret (M1, 1)`, as the reference implementation does. In text of its vector compiler (`Target="cm"`), which writes it in subroutines too, that is a warning.',
    section: "IFCALL",
    example: bodies("ifcall (M1, 1) A(0,0)<0;1,0> 0 0", "ifcall (M1_NM, 1) A(0,0)<0;1,0> 0 0"),
  },
  "visa-saturation": {
    title: "saturation of an integer operation that cannot saturate",
    page: "mul, mad and div can saturate only floating-point results.",
    section: "MUL",
    example: bodies(
      "mad.sat (M1, 16) A(0,0)<1> B(0,0)<1;1,0> 2:w 3:w",
      "mad.sat (M1, 16) F(0,0)<1> F(0,0)<1;1,0> 2.0:f 3.0:f",
    ),
  },
  "visa-predicate-operand": {
    title: "predicates and data in one operation",
    page: "and, or, xor and not work on data or on predicates. On predicates, all operands are predicates, and the instruction itself cannot be predicated. A move from a predicate has one channel, and an integer destination with room for all of its bits.",
    section: "AND",
    example: bodies("and (M1, 16) P1 P1 A(0,0)<1;1,0>", "and (M1, 16) P1 P1 P1"),
  },
  "visa-setp-mask": {
    title: "a setp that takes the bits of a number under a mask",
    page: 'The bits of a scalar source, from the least significant on, are the predicate bits of the channels. The instruction must be without a mask and begin at channel 0 (M1_NM) or, with up to 16 channels, at channel 16 (M5_NM). The mask that is left is without effect, so in text of IGC\'s vector compiler (`Target="cm"`), which writes (M1, 16), that is a warning.',
    section: "SETP",
    example: bodies("setp (M1, 16) P1 0xff:uw", "setp (M1_NM, 16) P1 0xff:uw"),
  },
  "visa-movs": {
    title: "movs without a sampler or surface",
    page: 'movs moves the handle of a sampler or surface, from or to a 32-bit number or another variable of the same kind. IGC\'s vector compiler (`Target="cm"`) moves numbers with it, which is a warning in its text.',
    section: "MOVS",
    example: {
      bad: kernel("movs (M1_NM, 1) A(0,0)<1> 3:ud"),
      good: kernel("movs (M1_NM, 1) T6(0) 3:ud", ".decl T6 v_type=T num_elts=1"),
    },
  },
  "visa-addr-add": {
    title: "the address of a predefined variable",
    page: "The address of a variable can be taken if the routine declares it, or if it is %arg or %retval.",
    section: "ADDR_ADD",
    example: bodies("addr_add (M1_NM, 1) X1(0)<1> &%r0 0:uw", "addr_add (M1_NM, 1) X1(0)<1> &A 0:uw"),
  },
  "visa-version-gate": {
    title: "an instruction that does not exist in this version",
    page: "The version at the beginning of a file decides which instructions exist.",
    section: "6_instructions",
  },
  "visa-platform": {
    title: "an instruction that does not exist on the platform",
    page: "Not every platform has every instruction. If no platform is given, this is not checked.",
    section: "appendix_instruction_by_platform",
  },
} satisfies Catalogue;
