import { isScalarName, scalarIndex } from "../../machine/state/specials.ts";
import type { Viewpoint } from "./memory-view.ts";

const ofThreads = ["tid.x", "tid.y", "tid.z"] as const;
const ofBlocks = ["ctaid.x", "ctaid.y", "ctaid.z"] as const;
const sizes = ["ntid.x", "ntid.y", "ntid.z", "nctaid.x", "nctaid.y", "nctaid.z"] as const;

/** The special registers that the debugger knows; expressions may write a % before them. */
export const specialRegisters = [...ofThreads, ...ofBlocks, ...sizes, "laneid", "warpid"] as const;

type SpecialRegister = (typeof specialRegisters)[number];

const isSpecial = (name: string): name is SpecialRegister => (specialRegisters as readonly string[]).includes(name);

/** Returns what reads a special register in a lane of an activation, or null if there is none of the name. */
export function specialReader(name: string): ((of: Viewpoint) => number) | null {
  if (!isSpecial(name)) return null;
  if (name === "laneid") return ({ lane }) => lane;
  if (name === "warpid") return ({ activation: x }) => x!.warp.index;
  if (isScalarName(name)) {
    const at = scalarIndex(name);
    return ({ activation: x }) => x!.warp.cta.scalars[at]! >>> 0;
  }
  const first = 32 * ofThreads.indexOf(name);
  return ({ activation: x, lane }) => x!.warp.tid[first + lane]!;
}
