import { mma } from "./mma.ts";
import { mmaSp } from "./mma-sp.ts";
import { ldmatrix, movmatrix, stmatrix } from "./movement.ts";
import { wmmaLoad, wmmaMma, wmmaStore } from "./wmma.ts";

export const matrixInstructions = [wmmaLoad, wmmaStore, wmmaMma, mma, ldmatrix, stmatrix, movmatrix, mmaSp];
