import type { Instruction } from "../define.ts";
import { vabsdiff, vadd, vmax, vmin, vset, vshl, vshr, vsub } from "./scalar.ts";
import { simdVideoInstructions } from "./simd.ts";
import { vmad } from "./vmad.ts";

/** Section 9.7.18. */
export const videoInstructions: readonly Instruction[] = [
  ...[vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vmad, vset],
  ...simdVideoInstructions,
];
