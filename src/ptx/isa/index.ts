import { carryInstructions } from "./carry/index.ts";
import { floatInstructions } from "./float/index.ts";
import { halfInstructions } from "./half/index.ts";
import { compareInstructions } from "./compare/index.ts";
import { convertInstructions } from "./convert/index.ts";
import { integerInstructions } from "./integer/index.ts";
import { logicInstructions } from "./logic/index.ts";
import { moveInstructions } from "./move/index.ts";
import { mixedInstructions } from "./mixed/index.ts";
import { InstructionSet } from "./resolve.ts";
import { videoInstructions } from "./video/index.ts";

/** Every instruction of PTX, family by family in the order of the manual's chapter 9. */
export const instructionSet = new InstructionSet([
  ...integerInstructions,
  ...carryInstructions,
  ...floatInstructions,
  ...halfInstructions,
  ...mixedInstructions,
  ...logicInstructions,
  ...compareInstructions,
  ...moveInstructions,
  ...convertInstructions,
  ...videoInstructions,
]);

export * from "./define.ts";
export * from "./operand-spec.ts";
export * from "./resolve.ts";
