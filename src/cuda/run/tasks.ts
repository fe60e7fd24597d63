import type { CudaProcess } from "../state/process.ts";
import type { CudaDevice } from "../state/cuda-device.ts";
import type { Condition } from "../state/condition.ts";
import type { GraphMemory } from "../state/graph-memory.ts";
import type { Graph, GraphLaunch, Task } from "../work/graph.ts";
import { nodeType } from "../work/graph.ts";
import type { Event } from "../work/stream.ts";
import { graphsFor } from "./device-graphs.ts";
import { type LaunchSpec, runLaunch } from "./kernel-launch.ts";
import type { Extent, Fill, Region } from "./regions.ts";

/** A kernel with its arguments. */
export interface KernelTask extends Task {
  readonly type: typeof nodeType.kernel;
  readonly spec: LaunchSpec;
  readonly device: CudaDevice;
  /** What the program names it by. */
  readonly function: bigint;
  /** Attributes of the node by number, as the program gave them. */
  readonly attributes: ReadonlyMap<number, Uint8Array>;
}

const none: KernelTask["attributes"] = new Map();

export function kernelTask(
  spec: LaunchSpec,
  device: CudaDevice,
  function_: bigint,
  attributes: KernelTask["attributes"] = none,
): KernelTask {
  return {
    type: nodeType.kernel,
    run: (within) => runLaunch(spec, device, within && graphsFor(within, device.process)),
    ...{ spec, device, function: function_, attributes },
    changed(update) {
      const other = changedLaunch(spec, update);
      return other === null ? null : kernelTask(other, device, function_, attributes);
    },
  };
}

/** A launch after a change by a kernel; null if that is impossible. */
function changedLaunch(spec: LaunchSpec, update: Parameters<NonNullable<Task["changed"]>>[0]): LaunchSpec | null {
  if (update.kind === "grid") return update.grid.every((n) => n >= 1) ? { ...spec, grid: update.grid } : null;
  const { offset, bytes } = update;
  if (offset + bytes.length > spec.params.length) return null;
  const params = spec.params.slice();
  params.set(bytes, offset);
  return { ...spec, params };
}

/** A copy: `params` makes those of cudaMemcpy3DParms. */
export interface CopyTask extends Task {
  readonly type: typeof nodeType.copy;
  readonly params: () => Uint8Array;
  /** Whether its destination and its source are memory of the host. */
  readonly ofHost: readonly [boolean, boolean];
}

export const copyTask = (about: Pick<CopyTask, "params" | "ofHost">, run: () => void): CopyTask => ({
  type: nodeType.copy,
  ...about,
  run,
});

export interface FillTask extends Task {
  readonly type: typeof nodeType.fill;
  readonly fill: Fill;
}

export const fillTask = (fill: Fill, run: () => void): FillTask => ({ type: nodeType.fill, fill, run });

const isCopy = (task: Task): task is CopyTask => task.type === nodeType.copy;
const isFill = (task: Task): task is FillTask => task.type === nodeType.fill;

/**
 * Whether a task may take the place of one of its kind in an executable graph: copies keep their direction, and of the
 * host or of devices what they copy; fills in two dimensions keep these, and others stay in one.
 */
export function canReplace(old: Task, task: Task): boolean {
  if (isCopy(old) && isCopy(task)) {
    return String(old.ofHost) === String(task.ofHost) && directionOf(old) === directionOf(task);
  }
  return !isFill(old) || !isFill(task) || shapeOf(old) === shapeOf(task);
}

/** Where cudaMemcpy3DParms has the direction. */
const directionAt = 152;

function directionOf({ params }: CopyTask): number {
  const { buffer, byteOffset } = params();
  return new DataView(buffer, byteOffset).getInt32(directionAt, true);
}

/** What a fill in an executable graph keeps. */
const shapeOf = ({ fill: { region, extent, elementBytes } }: FillTask): string =>
  extent.height === 1 ? "one row" : [region.pitch, extent.width, extent.height, elementBytes].join();

/** Waits for values in memory and writes of them, one after the other. */
export interface BatchTask extends Task {
  readonly type: typeof nodeType.operations;
  /** The operations as the program gave them. */
  readonly params: Uint8Array;
  readonly flags: number;
}

export const batchTask = (about: Pick<BatchTask, "params" | "flags">, run: Task["run"]): BatchTask => ({
  type: nodeType.operations,
  ...about,
  run,
});

/** A call of a function of the program. */
export interface HostTask extends Task {
  readonly type: typeof nodeType.host;
  readonly function: bigint;
  readonly data: bigint;
}

export function hostTask(process: CudaProcess, function_: bigint, data: bigint): HostTask {
  const run = (): Promise<void> =>
    process.callbacks.call({ kind: 0, function: function_, data, stream: 0n, status: process.error });
  return { type: nodeType.host, function: function_, data, run };
}

const nothing = (): void => {};

export const emptyTask: Task = { type: nodeType.empty, run: nothing };

/** A graph as one node of another. */
export const childTask = (graph: Graph): Task => ({
  type: nodeType.graph,
  bodies: [graph],
  run: (within) => within!.runBody(graph),
  clone: () => childTask(graph.clone()),
});

/** A mark of an event, or a wait for one, in the middle of a graph. */
export interface EventTask extends Task {
  readonly event: Event;
}

export const recordTask = (event: Event): EventTask => ({
  type: nodeType.recordEvent,
  event,
  run: () => event.reach(),
});

export const waitTask = (event: Event): EventTask => ({
  type: nodeType.waitEvent,
  event,
  run: () => event.recorded?.ended() ?? undefined,
});

/** Kinds of conditional nodes by number. */
const conditionalKind = { if: 0, while: 1, switch: 2 } as const;

/** Graphs that run, or do not, by a condition. */
export interface ConditionalTask extends Task {
  readonly type: typeof nodeType.conditional;
  readonly condition: Condition;
}

export function conditionalTask(kind: number, bodies: readonly Graph[], condition: Condition): ConditionalTask {
  const run = async (within?: GraphLaunch): Promise<void> => {
    if (kind === conditionalKind.while) {
      while (condition.value !== 0) await within!.runBody(bodies[0]!);
      return;
    }
    const body = kind === conditionalKind.if ? bodies[condition.value === 0 ? 1 : 0] : bodies[condition.value];
    if (body !== undefined) await within!.runBody(body);
  };
  const copies = (): readonly Graph[] => bodies.map((body) => body.clone());
  const clone = (): Task => conditionalTask(kind, copies(), condition);
  return { type: nodeType.conditional, bodies, run, clone, condition };
}

/** The parameters of a copy of rows as cudaMemcpy3DParms: both ends as pitched pointers. */
export function copyParams(to: Region, from: Region, extent: Extent, kind: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(160));
  const pitched = (at: number, { address, pitch, rows }: Region): void => {
    view.setBigUint64(at, address, true);
    [pitch, extent.width, rows].forEach((n, i) => {
      view.setBigUint64(at + 8 + 8 * i, BigInt(n), true);
    });
  };
  pitched(32, from);
  pitched(96, to);
  [extent.width, extent.height, extent.depth].forEach((n, i) => {
    view.setBigUint64(128 + 8 * i, BigInt(n), true);
  });
  view.setInt32(directionAt, kind, true);
  return new Uint8Array(view.buffer);
}

/** A node that allocates memory, or frees it. */
export interface MemoryTask extends Task {
  readonly memory: GraphMemory;
}

export const isMemoryTask = (task: Task): task is MemoryTask =>
  task.type === nodeType.allocate || task.type === nodeType.free;

export const allocateTask = (memory: GraphMemory): MemoryTask => ({
  type: nodeType.allocate,
  memory,
  run: () => memory.allocate(),
});

export const freeTask = (memory: GraphMemory): MemoryTask => ({
  type: nodeType.free,
  memory,
  run: () => memory.free(),
});
