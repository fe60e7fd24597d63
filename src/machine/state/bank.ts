import type { Extent } from "../memory/extent.ts";
import type { Views } from "../memory/views.ts";

/** Memory whose contents do not change during a launch: constants, and the kernel's parameters. */
export interface Bank {
  readonly views: Views;
  /** The address of byte 0. */
  readonly start: number;
  readonly extents: readonly Extent[];
}
