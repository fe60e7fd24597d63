import type { Grid } from "../../machine/state/launch-state.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { HostedProgram } from "./call-stack.ts";
import { Host } from "./host.ts";
import type { LaunchClusters } from "./launch-clusters.ts";

/** See the constructor of `Host`. */
export const openHost = (
  grid: Grid,
  kernel: CompiledKernel,
  hosted: HostedProgram,
  slot: number,
  clusters: LaunchClusters | null,
): Host => new Host(grid, kernel, hosted, slot, clusters);
