import { genericBases, surfaceIndex, windows } from "../ir/index.ts";
import { Fault, type FaultPlace } from "../machine/faults/fault.ts";
import type { Grid } from "../machine/state/launch-state.ts";
import type { Surface } from "../machine/state/thread-model.ts";

/** Shared local memory as a surface: its size is that of the launch. */
const sharedMemory: Surface = { address: genericBases[64].window + BigInt(windows.shared.start), bytes: 0 };

/**
 * The surface with an index (vISA). Throws a fault when none is bound to it. The same index of a launch gives the same
 * object.
 */
export function boundSurface({ threads }: Grid, index: number, at: FaultPlace): Surface {
  const surface = threads?.surfaces.get(index) ?? (index === surfaceIndex.slm ? sharedMemory : undefined);
  if (surface !== undefined) return surface;
  throw new Fault("surface-unbound", `no surface is bound to index ${index}`, at);
}

export const surfaceBytes = ({ dynamicSharedBytes }: Grid, surface: Surface): number =>
  surface === sharedMemory ? dynamicSharedBytes : surface.bytes;
