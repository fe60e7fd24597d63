import { integerInstructions } from "./integer/index.ts";
import { InstructionSet } from "./resolve.ts";

/** Every instruction of PTX, family by family in the order of the manual's chapter 9. */
export const instructionSet = new InstructionSet([...integerInstructions]);

export * from "./define.ts";
export * from "./operand-spec.ts";
export * from "./resolve.ts";
