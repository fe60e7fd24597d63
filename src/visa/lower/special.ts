import type { LowerSpecial } from "./channel-operands.ts";
import { addWithCarry, addWithOverflow, dotOfBytes, lookUp, multiplyWide, subtractWithBorrow } from "./integer.ts";
import { addAddress, convertNarrow, move, moveState, roundStochastically, select, setPredicate } from "./move.ts";
import { compare } from "./relation.ts";
import { fusedSystolic, systolic } from "./systolic.ts";
import { absoluteDifferences, dotProduct, line, plane } from "./tuple.ts";

/** Lowerings of instructions whose operands or results are not simply one per channel, by the row's name. */
export const specialInstructions: Readonly<Record<string, LowerSpecial>> = {
  MOV: move,
  SEL: select,
  SETP: setPredicate,
  MOVS: moveState,
  FCVT: convertNarrow,
  SRND: roundStochastically,
  ADDR_ADD: addAddress,
  CMP: compare,
  ADDC: addWithCarry,
  SUBB: subtractWithBorrow,
  ADD3O: addWithOverflow,
  MADW: multiplyWide,
  BFN: lookUp,
  DP4A: dotOfBytes,
  SAD2: absoluteDifferences,
  SAD2ADD: absoluteDifferences,
  DP2: dotProduct,
  DP3: dotProduct,
  DP4: dotProduct,
  DPH: dotProduct,
  LINE: line,
  PLANE: plane,
  DPAS: systolic,
  DPASW: fusedSystolic,
};
