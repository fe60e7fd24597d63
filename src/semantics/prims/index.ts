import type { Prim } from "../prim.ts";
import { floatPrims } from "./float.ts";
import { integerPrims } from "./integer.ts";
import { logicPrims } from "./logic.ts";

/** Every primitive by name. A new family is a file beside these and a line here. */
export const prims = { ...integerPrims, ...logicPrims, ...floatPrims } as const;

export type PrimName = keyof typeof prims;

export const primOf = (name: PrimName): Prim => prims[name];
