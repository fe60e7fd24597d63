/**
 * The state of the machine while a kernel runs, as observers and debuggers see it. A grid has blocks (`Cta`), a block
 * has warps, a warp has groups of lanes that run together, and a group has an activation: the call that it executes.
 *
 * All of it is there to be read. It is valid during the call that passes it, or while a debugged launch stands still.
 */
export type { Fault, FaultDetails, FaultPlace } from "./faults/fault.ts";
export type { FoundObject, ImageObject, ImageTable } from "./images/image-table.ts";
export type { Image, ImageFormat, ImageLayout, ImageLevel, ImageShape } from "./images/image.ts";
export type { DepthCompare, FilterMode, Sampler } from "./images/sampler.ts";
export type { AddressParts, AddressSpace, Classified } from "./memory/address-space.ts";
export type { Restore } from "./memory/checkpoint.ts";
export type { Extent } from "./memory/extent.ts";
export type { LaneStack } from "./memory/lane-stack.ts";
export type { Allocation, AllocationOptions, HeapOrigin } from "./memory/allocation.ts";
export type { DeviceHeap } from "./memory/device-heap.ts";
export type { DeviceMemory } from "./memory/memory.ts";
export type { FrozenMemory } from "./memory/frozen-memory.ts";
export type { MemoryPages } from "./memory/memory-pages.ts";
export type { PendingLaunches } from "./memory/pending-launches.ts";
export type { Views } from "./memory/views.ts";
export type { Bank } from "./state/bank.ts";
export type { Barrier, Reduction, Waiter } from "./state/barrier.ts";
export type { ClusterBarrier } from "./state/cluster-barrier.ts";
export type { ChannelRule, FrameLayout, GuardWord, LaneAddresses, ProgramFunction, Site } from "./state/code.ts";
export type * from "./state/launch-state.ts";
export type { PassedParts, SmallViews } from "./state/register-views.ts";
export type { Surface, ThreadModel, ThreadStart } from "./state/thread-model.ts";
export type { UnitState, UnitStates } from "./state/unit-state.ts";
