import { genericBases, surfaceIndex, windows } from "../ir/index.ts";
import { Fault, type FaultPlace } from "../machine/faults/fault.ts";
import type { Grid } from "../machine/state/launch-state.ts";
import type { Surface } from "../machine/state/thread-model.ts";

/** Shared local memory as a surface. Its size is that of the launch, hence the 0 here. */
const sharedMemory: Surface = { address: genericBases[64].window + BigInt(windows.shared.start), bytes: 0 };

/**
 * Returns the surface bound to an index (vISA). Throws a fault if there is none. Within a launch, an index always gives
 * the same object.
 */
export function boundSurface({ threads }: Grid, index: number, at: FaultPlace): Surface {
  const surface = threads?.surfaces.get(index) ?? (index === surfaceIndex.slm ? sharedMemory : undefined);
  if (surface !== undefined) return surface;
  throw new Fault("surface-unbound", `no surface is bound to index ${index}`, at);
}

/** The size of a surface in bytes; for shared local memory that of the launch. */
export const surfaceBytes = ({ dynamicSharedBytes }: Grid, surface: Surface): number =>
  surface === sharedMemory ? dynamicSharedBytes : surface.bytes;
