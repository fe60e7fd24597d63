import type { SpecialName } from "../../semantics/index.ts";
import type { Grid } from "./launch-state.ts";

/** The special values that are the same in all lanes of a block, and words of 32 bits. */
export const scalarNames = [
  "ntid.x",
  "ntid.y",
  "ntid.z",
  "nctaid.x",
  "nctaid.y",
  "nctaid.z",
  "ctaid.x",
  "ctaid.y",
  "ctaid.z",
  "nwarpid",
  "smid",
  "nsmid",
  "envreg1",
  "envreg2",
  "current_graph_exec",
  "gridid",
  "dynamic_smem_size",
  "total_smem_size",
  "aggr_smem_size",
  "clusterid.x",
  "clusterid.y",
  "clusterid.z",
  "nclusterid.x",
  "nclusterid.y",
  "nclusterid.z",
  "cluster_ctaid.x",
  "cluster_ctaid.y",
  "cluster_ctaid.z",
  "cluster_nctaid.x",
  "cluster_nctaid.y",
  "cluster_nctaid.z",
  "cluster_ctarank",
  "cluster_nctarank",
  "is_explicit_cluster",
] as const satisfies readonly SpecialName[];

export type ScalarName = (typeof scalarNames)[number];

export const isScalarName = (name: string): name is ScalarName => (scalarNames as readonly string[]).includes(name);

/** The index in `Cta.scalars` of a special value that is the same in all lanes of a block. */
export const scalarIndex = (name: ScalarName): number => scalarNames.indexOf(name);

/** What is known of clusters when a launch begins. */
export const clusterScalars = ({ dimensions: [x, y, z], cluster }: Grid) => {
  const [clusterX, clusterY, clusterZ] = cluster.dimensions;
  return {
    "nclusterid.x": x / clusterX,
    "nclusterid.y": y / clusterY,
    "nclusterid.z": z / clusterZ,
    "cluster_nctaid.x": clusterX,
    "cluster_nctaid.y": clusterY,
    "cluster_nctaid.z": clusterZ,
    cluster_nctarank: clusterX * clusterY * clusterZ,
    is_explicit_cluster: Number(cluster.isExplicit),
  };
};

/** The values of a grid; those of a block are filled in when it starts. */
export function gridScalars(grid: Grid): Int32Array {
  const [ntidX, ntidY, ntidZ] = grid.block;
  const [nctaidX, nctaidY, nctaidZ] = grid.dimensions;
  const values: Record<ScalarName, number> = {
    "ntid.x": ntidX,
    "ntid.y": ntidY,
    "ntid.z": ntidZ,
    "ctaid.x": 0,
    "ctaid.y": 0,
    "ctaid.z": 0,
    "nctaid.x": nctaidX,
    "nctaid.y": nctaidY,
    "nctaid.z": nctaidZ,
    nwarpid: Math.ceil((ntidX * ntidY * ntidZ) / 32),
    smid: 0,
    nsmid: grid.processors,
    envreg1: grid.environment[0],
    envreg2: grid.environment[1],
    current_graph_exec: grid.device.graphs?.current ?? 0,
    gridid: grid.id,
    dynamic_smem_size: grid.dynamicSharedBytes,
    total_smem_size: grid.staticSharedBytes + grid.dynamicSharedBytes,
    aggr_smem_size: grid.staticSharedBytes + grid.dynamicSharedBytes,
    "clusterid.x": 0,
    "clusterid.y": 0,
    "clusterid.z": 0,
    "cluster_ctaid.x": 0,
    "cluster_ctaid.y": 0,
    "cluster_ctaid.z": 0,
    cluster_ctarank: 0,
    ...clusterScalars(grid),
  };
  const scalars = new Int32Array(scalarNames.length);
  for (let i = 0; i < scalars.length; i++) scalars[i] = values[scalarNames[i]!];
  return scalars;
}
