import { require } from "../base/errors.ts";
import type { LaunchSpec, Sizes } from "../run/kernel-launch.ts";
import { type KernelTask, kernelTask } from "../run/tasks.ts";
import type { GraphNode } from "../work/graph.ts";
import { Bytes, type Call } from "./call.ts";

/** Attributes of launches, of kernel nodes and of streams by number: cudaLaunchAttributeID. */
export const launchAttribute = {
  ignore: 0,
  accessPolicyWindow: 1,
  cooperative: 2,
  synchronizationPolicy: 3,
  clusterDimension: 4,
  clusterSchedulingPolicy: 5,
  programmaticSerialization: 6,
  programmaticEvent: 7,
  priority: 8,
  memorySyncDomainMap: 9,
  memorySyncDomain: 10,
  preferredClusterDimension: 11,
  completionEvent: 12,
  deviceUpdatable: 13,
  sharedMemoryCarveout: 14,
  nvlinkScheduling: 16,
} as const;

type Id = (typeof launchAttribute)[keyof typeof launchAttribute];

/** Bytes of the value of an attribute: cudaLaunchAttributeValue. */
export const attributeBytes = 64;

/** What has an attribute: driver_types.h says it of each, and has names of those of nodes and of streams. */
type Holder = "launch" | "node" | "stream";

const all: readonly Holder[] = ["launch", "node", "stream"];
const ofKernels: readonly Holder[] = ["launch", "node"];
const ofLaunches: readonly Holder[] = ["launch"];

const holders: Readonly<Record<Id, readonly Holder[]>> = {
  [launchAttribute.ignore]: ofKernels,
  [launchAttribute.accessPolicyWindow]: all,
  [launchAttribute.cooperative]: ofKernels,
  [launchAttribute.synchronizationPolicy]: ["stream"],
  [launchAttribute.clusterDimension]: ofKernels,
  [launchAttribute.clusterSchedulingPolicy]: ofKernels,
  [launchAttribute.programmaticSerialization]: ofLaunches,
  [launchAttribute.programmaticEvent]: ofLaunches,
  [launchAttribute.priority]: all,
  [launchAttribute.memorySyncDomainMap]: all,
  [launchAttribute.memorySyncDomain]: all,
  [launchAttribute.preferredClusterDimension]: ofKernels,
  [launchAttribute.completionEvent]: ofLaunches,
  [launchAttribute.deviceUpdatable]: ofKernels,
  [launchAttribute.sharedMemoryCarveout]: ofKernels,
  [launchAttribute.nvlinkScheduling]: all,
};

export const hasAttribute = (holder: Holder, id: number): boolean => holders[id as Id]?.includes(holder) ?? false;

/** Values of attributes by number. */
export type Attributes = ReadonlyMap<number, Uint8Array>;

/** A word of the value of an attribute. */
export const attributeWord = (value: Uint8Array, i = 0): number =>
  new DataView(value.buffer, value.byteOffset).getUint32(4 * i, true);

/** A launch with what attributes say of it. */
export function attributed(spec: LaunchSpec, attributes: Attributes): LaunchSpec {
  const cooperative = attributes.get(launchAttribute.cooperative);
  const cluster = attributes.get(launchAttribute.clusterDimension);
  const sizes = cluster && ([0, 1, 2].map((i) => attributeWord(cluster, i)) as unknown as Sizes);
  return {
    ...spec,
    isCooperative: cooperative === undefined ? spec.isCooperative : attributeWord(cooperative) !== 0,
    cluster: sizes ?? spec.cluster,
  };
}

/** A kernel of a graph with other attributes. */
export function withAttributes({ spec, device, function: function_ }: KernelTask, attributes: Attributes): KernelTask {
  const plain = { ...spec, cluster: null, isCooperative: false };
  return kernelTask(attributed(plain, attributes), device, function_, attributes);
}

/** The attributes of the node that a captured launch becomes: those that nodes have, and what it is besides. */
export function capturedAttributes(given: Attributes, isCooperative: boolean, priority: number): Attributes {
  const word = (value: number): Uint8Array => new Bytes(attributeBytes).u32(0, value).data;
  return new Map([
    [launchAttribute.priority, word(priority)],
    ...(isCooperative ? ([[launchAttribute.cooperative, word(1)]] as const) : []),
    ...[...given].filter(([id]) => hasAttribute("node", id)),
  ]);
}

/**
 * Lets kernels change a node if the value at an address says so, and writes the handle there that they have for it.
 * What kernels may change stays so.
 */
export function setDeviceUpdatable(call: Call, node: GraphNode, at: bigint): void {
  const asked = call.host.u32(at);
  require(asked === 1 || (asked === 0 && !node.isDeviceUpdatable));
  if (asked === 0) return;
  node.isDeviceUpdatable = true;
  call.set64(at + 8n, node.handle);
}
