import { add } from "./add.ts";

export const integerInstructions = [add];
