import type { SpecialName } from "../../semantics/index.ts";
import type { Gate } from "../isa/define.ts";
import type { SpecialSymbol } from "../tree/leaves.ts";
import { typeInfo } from "../types.ts";

/** The value that reading a special register gives on a simulated device. */
type SpecialMeaning =
  /** Values of the machine: one, or those of `x`, `y` and `z` of a vector (`w` is 0). */
  | { readonly kind: "machine"; readonly names: readonly SpecialName[] }
  /** Values that are the same in every thread of every launch: one, or one for each element of a vector. */
  | { readonly kind: "fixed"; readonly values: readonly number[] }
  /** A mask of the lanes whose number is in this relation to the thread's own. */
  | { readonly kind: "lanemask"; readonly relation: "eq" | "le" | "lt" | "ge" | "gt" }
  /** A place in the shared memory that is reserved for the system. */
  | { readonly kind: "reserved"; readonly offset: number }
  | { readonly kind: "unavailable"; readonly reason: string };

/** A special register (chapter 10). `gate`: the versions and targets that have it. */
export interface SpecialRegister {
  readonly symbol: SpecialSymbol;
  readonly gate: Gate;
  readonly meaning: SpecialMeaning;
}

const machine = (...names: SpecialName[]): SpecialMeaning => ({ kind: "machine", names });
const fixed = (...values: number[]): SpecialMeaning => ({ kind: "fixed", values });
const unavailable = (reason: string): SpecialMeaning => ({ kind: "unavailable", reason });

const scalar = (name: string, type: string, meaning: SpecialMeaning, gate: Gate): SpecialRegister => ({
  symbol: { kind: "special", name: `%${name}`, span: { start: 0, end: 0 }, type: typeInfo(type)!, vector: 1 },
  gate,
  meaning,
});

const vector = (name: string, meaning: SpecialMeaning, gate: Gate): SpecialRegister => {
  const { symbol } = scalar(name, "u32", meaning, gate);
  return { symbol: { ...symbol, vector: 4 }, gate, meaning };
};

const fermi: Gate = { since: "2.0", target: "sm_20" };
const hopper: Gate = { since: "7.8", target: "sm_90" };
const timer: Gate = { since: "3.1", target: "sm_30" };
const reserved: Gate = { since: "7.6", target: "sm_80" };
const first: Gate = { since: "1.0" };

const noCounter = unavailable("performance counters count hardware events");

/**
 * The driver's: two of them hold the address of what the blocks of a cooperative launch share, in CUDA's own headers.
 */
const environment = (i: number): SpecialMeaning =>
  i === 1 || i === 2 ? machine(`envreg${i}`) : unavailable("the values that a driver puts there are not documented");

/**
 * The shared memory that is reserved for the system, in bytes: as much as cards reserve for each block. Cooperative
 * groups keep what groups of several warps share at the offset that `_1` gives, and need 288 bytes there.
 */
export const reservedSharedBytes = 1024;
const reservedOffsets = { begin: 0, end: reservedSharedBytes, 0: 0, 1: reservedSharedBytes / 2 };

const table: readonly SpecialRegister[] = [
  vector("tid", machine("tid.x", "tid.y", "tid.z"), first),
  vector("ntid", machine("ntid.x", "ntid.y", "ntid.z"), first),
  scalar("laneid", "u32", machine("laneid"), { since: "1.3" }),
  scalar("warpid", "u32", machine("warpid"), { since: "1.3" }),
  scalar("nwarpid", "u32", machine("nwarpid"), fermi),
  vector("ctaid", machine("ctaid.x", "ctaid.y", "ctaid.z"), first),
  vector("nctaid", machine("nctaid.x", "nctaid.y", "nctaid.z"), first),
  scalar("smid", "u32", machine("smid"), { since: "1.3" }),
  scalar("nsmid", "u32", machine("nsmid"), fermi),
  scalar("gridid", "u64", machine("gridid"), first),
  // In a launch without cluster dimensions each cluster has one block (2.2.2).
  scalar("is_explicit_cluster", "pred", machine("is_explicit_cluster"), hopper),
  vector("clusterid", machine("clusterid.x", "clusterid.y", "clusterid.z"), hopper),
  vector("nclusterid", machine("nclusterid.x", "nclusterid.y", "nclusterid.z"), hopper),
  vector("cluster_ctaid", machine("cluster_ctaid.x", "cluster_ctaid.y", "cluster_ctaid.z"), hopper),
  vector("cluster_nctaid", machine("cluster_nctaid.x", "cluster_nctaid.y", "cluster_nctaid.z"), hopper),
  scalar("cluster_ctarank", "u32", machine("cluster_ctarank"), hopper),
  scalar("cluster_nctarank", "u32", machine("cluster_nctarank"), hopper),
  ...(["eq", "le", "lt", "ge", "gt"] as const).map((relation) =>
    scalar(`lanemask_${relation}`, "u32", { kind: "lanemask", relation }, fermi),
  ),
  scalar("clock", "u32", machine("clock"), first),
  scalar("clock_hi", "u32", machine("clock_hi"), { since: "5.0", target: "sm_20" }),
  scalar("clock64", "u64", machine("clock64"), fermi),
  ...[0, 1, 2, 3].map((i) => scalar(`pm${i}`, "u32", noCounter, { since: "1.3" })),
  ...[4, 5, 6, 7].map((i) => scalar(`pm${i}`, "u32", noCounter, { since: "3.0", target: "sm_20" })),
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((i) => scalar(`pm${i}_64`, "u64", noCounter, { since: "4.0", target: "sm_50" })),
  ...Array.from({ length: 32 }, (_, i) => scalar(`envreg${i}`, "b32", environment(i), { since: "2.1" })),
  scalar("globaltimer", "u64", machine("globaltimer"), timer),
  scalar("globaltimer_lo", "u32", machine("globaltimer_lo"), timer),
  scalar("globaltimer_hi", "u32", machine("globaltimer_hi"), timer),
  ...Object.entries(reservedOffsets).map(([part, offset]) =>
    scalar(`reserved_smem_offset_${part}`, "b32", { kind: "reserved", offset }, reserved),
  ),
  scalar("reserved_smem_offset_cap", "b32", fixed(reservedSharedBytes), reserved),
  scalar("total_smem_size", "u32", machine("total_smem_size"), { since: "4.1", target: "sm_20" }),
  scalar("aggr_smem_size", "u32", machine("aggr_smem_size"), { since: "8.1", target: "sm_90" }),
  scalar("dynamic_smem_size", "u32", machine("dynamic_smem_size"), { since: "4.1", target: "sm_20" }),
  // 0 unless the kernel is a node of a graph that kernels may launch.
  scalar("current_graph_exec", "u64", machine("current_graph_exec"), { since: "8.0", target: "sm_50" }),
];

/** All special registers by name, with the `%`. */
export const specialRegisters: ReadonlyMap<string, SpecialRegister> = new Map(table.map((r) => [r.symbol.name, r]));
