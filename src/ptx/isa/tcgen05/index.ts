import { tensorMemoryInstructions } from "./memory.ts";
import { tensorProducts } from "./mma.ts";

export const tensorCoreInstructions = [...tensorMemoryInstructions, ...tensorProducts];
