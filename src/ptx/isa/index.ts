import { asynchronousInstructions } from "./async/index.ts";
import { atomicInstructions } from "./atomic/index.ts";
import { carryInstructions } from "./carry/index.ts";
import { floatInstructions } from "./float/index.ts";
import { halfInstructions } from "./half/index.ts";
import { compareInstructions } from "./compare/index.ts";
import { controlInstructions } from "./control/index.ts";
import { convertInstructions } from "./convert/index.ts";
import { integerInstructions } from "./integer/index.ts";
import { logicInstructions } from "./logic/index.ts";
import { matrixInstructions } from "./matrix/index.ts";
import { memoryInstructions } from "./memory/index.ts";
import { miscellaneousInstructions } from "./misc/index.ts";
import { moveInstructions } from "./move/index.ts";
import { mixedInstructions } from "./mixed/index.ts";
import { InstructionSet } from "./resolve.ts";
import { stackInstructions } from "./stack/index.ts";
import { surfaceInstructions } from "./surface/index.ts";
import { synchronizationInstructions } from "./sync/index.ts";
import { tensorCoreInstructions } from "./tcgen05/index.ts";
import { textureInstructions } from "./texture/index.ts";
import { videoInstructions } from "./video/index.ts";
import { warpInstructions } from "./warp/index.ts";
import { warpgroupInstructions } from "./wgmma/index.ts";

/** All instructions of PTX, family by family in the order of the manual's chapter 9. */
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
  ...asynchronousInstructions,
  ...textureInstructions,
  ...surfaceInstructions,
  ...controlInstructions,
  ...synchronizationInstructions,
  ...atomicInstructions,
  ...warpInstructions,
  ...matrixInstructions,
  ...warpgroupInstructions,
  ...tensorCoreInstructions,
  ...stackInstructions,
  ...videoInstructions,
  ...miscellaneousInstructions,
]);

export * from "./define.ts";
export * from "./operand-spec.ts";
export * from "./resolve.ts";
