import { errors, fail, require } from "../../base/errors.ts";
import {
  canReplace,
  childTask,
  type ConditionalTask,
  type CopyTask,
  isMemoryTask,
  type KernelTask,
  type MemoryTask,
} from "../../run/tasks.ts";
import { externalCalls } from "../../../runtime/device/kernel-needs.ts";
import { type Graph, type GraphNode, nodeType } from "../../work/graph.ts";
import { allNodes, GraphExec, instantiateFlag, updateResult } from "../../work/graph-exec.ts";
import type { Stream } from "../../work/stream.ts";
import { Bytes, type Call, type Handlers, type Status } from "../call.ts";
import { addCaptured, captureOf, forbidCaptured } from "../order.ts";
import { addGraph, execAt, graphAt } from "./handles.ts";
import { copyForm, kernelForm } from "./params.ts";

/** Throws if there is an executable graph of one that can have no other: its memory, or its nodes, are in one place. */
function requireNoOther(call: Call, graph: Graph): void {
  const own = [...graph.nodes].find((node) => isMemoryTask(node.task) || node.isDeviceUpdatable);
  if (own === undefined) return;
  for (const [, exec] of call.process.graphExecs.entries()) require(exec.nodeOf(own) === null, errors.notSupported);
}

/** Why a graph cannot be instantiated: results of cudaGraphInstantiateResult. */
const instantiateResult = { success: 0, error: 1, structure: 2, operation: 3, devices: 4, unusedCondition: 5 } as const;

/** A graph that was instantiated, or why it cannot be. */
interface Instantiation {
  readonly exec: GraphExec | null;
  readonly status: number;
  readonly result: number;
  readonly node: GraphNode | null;
}

const refused = (result: number, node: GraphNode | null, status: number = errors.invalidValue): Instantiation => ({
  ...{ exec: null, status, result, node },
});

const isRunnable = ({ task: { type } }: GraphNode): boolean =>
  type === nodeType.kernel || type === nodeType.copy || type === nodeType.fill;

/** What speaks against launches of a graph by kernels; null if nothing does. */
function obstacleToDeviceLaunch(call: Call, graph: Graph): Instantiation | null {
  const nodes = [...allNodes(graph)];
  const other = nodes.find((node) => !isRunnable(node) && node.task.type !== nodeType.graph);
  if (other !== undefined) return refused(instantiateResult.operation, other, errors.notSupported);
  if (!nodes.some(isRunnable)) return refused(instantiateResult.structure, null);
  const unfit = nodes.find(
    ({ task }) => (kernelForm.is(task) && launchesKernels(task)) || (copyForm.is(task) && hasArray(task)),
  );
  if (unfit !== undefined) return refused(instantiateResult.operation, unfit, errors.notSupported);
  const far = nodes.find(({ task }) => kernelForm.is(task) && task.device !== call.device);
  return far === undefined ? null : refused(instantiateResult.devices, far);
}

const launchesKernels = ({ spec: { kernel } }: KernelTask): boolean =>
  [...externalCalls(kernel.kernel.module.ir, kernel.kernel.ir)].some((name) => /LaunchDevice/.test(name));

/** The kinds of nodes that graphs inside conditional nodes may have. */
const conditionalKinds: ReadonlySet<number> = new Set([
  ...[nodeType.kernel, nodeType.empty, nodeType.graph, nodeType.fill, nodeType.copy, nodeType.conditional],
]);

/** The nodes inside of a conditional node that may not be there; none of any other node. */
const misplacedIn = ({ task }: GraphNode): readonly GraphNode[] =>
  task.type === nodeType.conditional
    ? task.bodies!.flatMap((body) => [...allNodes(body)].filter((node) => !conditionalKinds.has(node.task.type)))
    : [];

/** Whether a copy has an array at one of its ends. */
function hasArray({ params }: CopyTask): boolean {
  const { buffer, byteOffset } = params();
  const view = new DataView(buffer, byteOffset);
  return [0, 64].some((at) => view.getBigUint64(at, true) !== 0n);
}

function instantiate(call: Call, graph: Graph, flags: number): Instantiation {
  require((flags & ~instantiateFlag.all) === 0);
  const forDevice = (flags & instantiateFlag.deviceLaunch) !== 0;
  require(!forDevice || (flags & instantiateFlag.autoFree) === 0);
  const inside = [...allNodes(graph)].flatMap(({ task }) => task.bodies ?? []);
  const circle = [graph, ...inside].find(({ ordered }) => ordered === null);
  if (circle !== undefined) return refused(instantiateResult.structure, [...circle.nodes][0] ?? null);
  const { conditions } = call.process;
  const isUnused = [...conditions.entries()].some(
    ([, c]) => !c.isUsed && (c.graph === graph || inside.includes(c.graph)),
  );
  if (isUnused) return refused(instantiateResult.unusedCondition, null);
  const misplaced = [...allNodes(graph)].flatMap(misplacedIn)[0];
  if (misplaced !== undefined) return refused(instantiateResult.structure, misplaced);
  const obstacle = forDevice ? obstacleToDeviceLaunch(call, graph) : null;
  if (obstacle !== null) return obstacle;
  requireNoOther(call, graph);
  const exec = new GraphExec(graph, flags);
  exec.isUploaded = (flags & instantiateFlag.upload) !== 0;
  for (const [object, count] of graph.held) {
    object.retain(count);
    exec.graph.held.set(object, count);
  }
  call.process.graphExecs.add(exec, exec.handle);
  return { exec, status: 0, result: instantiateResult.success, node: null };
}

/** exec, graph, flags: a graph is uploaded by the call with parameters alone */
function instantiateWithFlags(call: Call): Status {
  const target = call.target(0);
  require((call.size(2) & instantiateFlag.upload) === 0);
  const { exec, status } = instantiate(call, graphAt(call, 1), call.size(2));
  if (exec !== null) call.set64(target, exec.handle);
  return status;
}

/** exec, graph, cudaGraphInstantiateParams: flags, stream, node that failed, result */
function instantiateWithParams(call: Call): Status {
  const target = call.target(0);
  const params = call.target(2);
  const tell = (result: number, node: GraphNode | null): void =>
    call.poke(params + 16n, new Bytes(12).u64(0, node?.handle ?? 0n).u32(8, result).data);
  const flags = Number(call.host.u64(params));
  try {
    if (flags & instantiateFlag.upload) call.streamOf(call.host.u64(params + 8n));
    const { exec, status, result, node } = instantiate(call, graphAt(call, 1), flags);
    if (exec !== null) call.set64(target, exec.handle);
    tell(result, node);
    return status;
  } catch (error) {
    tell(instantiateResult.error, null);
    throw error;
  }
}

/** The memory that a graph allocates and does not free. */
function kept(graph: Graph) {
  const nodes = [...allNodes(graph)].map(({ task }) => task);
  const memories = (type: number) => nodes.flatMap((task) => (task.type === type ? (task as MemoryTask).memory : []));
  const freed = new Set(memories(nodeType.free));
  return memories(nodeType.allocate).filter((memory) => !freed.has(memory));
}

/** Takes a graph's place in a stream; in a stream that is being captured it becomes a node. */
function launchGraph(call: Call, exec: GraphExec, stream: Stream): Status {
  const device = call.process.device(stream.device);
  const capture = captureOf(stream);
  if (capture !== null) {
    const copy = exec.graph.clone();
    addGraph(call, copy);
    addCaptured(call, stream, capture, childTask(copy));
    return 0;
  }
  forbidCaptured(call, stream);
  for (const memory of kept(exec.graph)) {
    if (memory.isHeld() && (exec.flags & instantiateFlag.autoFree) === 0) fail(errors.invalidValue);
    memory.free();
  }
  const conditions = [...allNodes(exec.graph)]
    .filter(({ task }) => task.type === nodeType.conditional)
    .map(({ task }) => (task as ConditionalTask).condition);
  if (conditions.length > 0) {
    device.streams.enqueue(stream, () => {
      for (const condition of conditions) condition.reset();
    });
  }
  exec.launch(device.streams, stream);
  return 0;
}

type Difference = ReturnType<GraphExec["update"]>;

/** Updates an executable graph by another graph: arguments 0 and 1. `tell` says how that went. */
export function update(call: Call, tell: (difference: Difference) => void): Status {
  const [exec, graph] = [execAt(call, 0), graphAt(call, 1)];
  require(![exec.graph, graph].some((one) => [...allNodes(one)].some((node) => node.isDeviceUpdatable)));
  const difference = exec.update(graph, canReplace);
  tell(difference);
  return difference.result === updateResult.success ? 0 : errors.graphExecUpdateFailure;
}

/** exec, graph, result */
const updateWithInfo = (call: Call): Status =>
  update(call, ({ result, node, from }) => {
    if (call.address(2) === 0n) return;
    const out = new Bytes(24)
      .u32(0, result)
      .u64(8, node?.handle ?? 0n)
      .u64(16, from?.handle ?? 0n);
    call.poke(call.address(2), out.data);
  });

export const execCalls: Handlers = {
  cudaGraphInstantiate: instantiateWithFlags,
  cudaGraphInstantiateWithFlags: instantiateWithFlags,
  cudaGraphInstantiateWithParams: instantiateWithParams,
  cudaGraphExecGetFlags(call) {
    call.set64(call.target(1), execAt(call, 0).flags);
    return 0;
  },
  cudaGraphExecUpdate: updateWithInfo,
  cudaGraphUpload(call) {
    void call.device;
    const exec = execAt(call, 0);
    call.stream(1);
    exec.isUploaded = true;
    return 0;
  },
  cudaGraphLaunch: (call) => launchGraph(call, execAt(call, 0), call.stream(1)),
  cudaGraphExecDestroy(call) {
    const exec = execAt(call, 0);
    call.process.graphExecs.remove(exec.handle);
    for (const [object, count] of exec.graph.held) object.release(count);
    return 0;
  },
};
