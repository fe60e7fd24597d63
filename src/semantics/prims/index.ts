import type { Prim } from "../prim.ts";
import { bitPrims } from "./bits.ts";
import { comparePrims } from "./compare.ts";
import { convertPrims } from "./convert.ts";
import { convertNarrowPrims } from "./convert-narrow.ts";
import { floatPrims } from "./float.ts";
import { floatApproxPrims } from "./float-approx.ts";
import { floatControlPrims } from "./float-control.ts";
import { halfPrims } from "./half.ts";
import { integerPrims } from "./integer.ts";
import { integer64Prims } from "./integer64.ts";
import { logicPrims } from "./logic.ts";
import { systolicPrims } from "./systolic.ts";
import { videoPrims } from "./video.ts";

/** All primitives by name. A new family is a file in this folder and a line here. */
export const prims = {
  ...integerPrims,
  ...integer64Prims,
  ...bitPrims,
  ...videoPrims,
  ...systolicPrims,
  ...logicPrims,
  ...floatPrims,
  ...floatApproxPrims,
  ...floatControlPrims,
  ...halfPrims,
  ...comparePrims,
  ...convertPrims,
  ...convertNarrowPrims,
} as const;

/** The name of a primitive, such as "i32.add". @useDeclaredType */
export type PrimName = keyof typeof prims;

/** Returns a primitive by name. */
export const primOf = (name: PrimName): Prim => prims[name];
