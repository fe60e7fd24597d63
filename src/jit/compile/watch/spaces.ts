import type { Access, Space } from "../../../ir/index.ts";

/* The memories that watched code tells apart: that of frames, a block's shared memory, and the device's. */

/** Whether a space is one of shared memory. */
export const isSharedSpace = (space: Space): boolean => space === "shared" || space === "shared-cluster";

/** Whether an access is one of variables of frames. */
export const isOfFrame = ({ space }: Access): boolean => space === "local" || space === "call-param";

/** Whether an access is one of memory that threads share, and that they may write. */
export const isWatched = (access: Access): boolean =>
  access.space !== "const" && access.space !== "kernel-param" && !isOfFrame(access);
