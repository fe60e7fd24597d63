import { bar, barrier, barrierCluster } from "./barrier.ts";
import { fence, membar } from "./fence.ts";

export const synchronizationInstructions = [bar, barrier, barrierCluster, membar, fence];
