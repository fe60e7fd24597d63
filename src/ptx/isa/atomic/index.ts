import { atom } from "./atom.ts";
import { red } from "./red.ts";

export const atomicInstructions = [atom, red];
