import { atomicInstructions } from "./atomic/index.ts";
import { carryInstructions } from "./carry/index.ts";
import { floatInstructions } from "./float/index.ts";
import { halfInstructions } from "./half/index.ts";
import { compareInstructions } from "./compare/index.ts";
import { controlInstructions } from "./control/index.ts";
import { convertInstructions } from "./convert/index.ts";
import { integerInstructions } from "./integer/index.ts";
import { logicInstructions } from "./logic/index.ts";
import { memoryInstructions } from "./memory/index.ts";
import { miscellaneousInstructions } from "./misc/index.ts";
import { moveInstructions } from "./move/index.ts";
import { mixedInstructions } from "./mixed/index.ts";
import { InstructionSet } from "./resolve.ts";
import { stackInstructions } from "./stack/index.ts";
import { synchronizationInstructions } from "./sync/index.ts";
import { videoInstructions } from "./video/index.ts";
import { warpInstructions } from "./warp/index.ts";

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
  ...memoryInstructions,
  ...controlInstructions,
  ...synchronizationInstructions,
  ...atomicInstructions,
  ...warpInstructions,
  ...stackInstructions,
  ...videoInstructions,
  ...miscellaneousInstructions,
]);

export * from "./define.ts";
export * from "./operand-spec.ts";
export * from "./resolve.ts";
