import { errors, fail, require } from "../../base/errors.ts";
import { canReplace, childTask, type ConditionalTask, isMemoryTask, type MemoryTask } from "../../run/tasks.ts";
import { type Graph, nodeType } from "../../work/graph.ts";
import { allNodes, GraphExec, updateResult } from "../../work/graph-exec.ts";
import type { Stream } from "../../work/stream.ts";
import { Bytes, type Call, type Handlers, type Status } from "../call.ts";
import { addCaptured, captureOf, forbidCaptured } from "../order.ts";
import { addGraph, execAt, graphAt } from "./handles.ts";

/** Flags of an instantiation. */
const flag = { autoFree: 1, upload: 2, deviceLaunch: 4, all: 15 } as const;

/** Throws if there is an executable graph of one with memory of its own, whose addresses are the same in all. */
function requireNoOther(call: Call, graph: Graph): void {
  const own = [...graph.nodes].find(({ task }) => isMemoryTask(task));
  if (own === undefined) return;
  for (const [, exec] of call.process.graphExecs.entries()) require(exec.nodeOf(own) === null, errors.notSupported);
}

function instantiate(call: Call, graph: Graph, flags: number): GraphExec {
  require((flags & ~flag.all) === 0);
  if (flags & flag.deviceLaunch) fail(errors.notSupported);
  const inside = [...allNodes(graph)].flatMap(({ task }) => task.bodies ?? []);
  require([graph, ...inside].every(({ ordered }) => ordered !== null));
  requireNoOther(call, graph);
  const exec = new GraphExec(graph, flags);
  for (const [object, count] of graph.held) {
    object.retain(count);
    exec.graph.held.set(object, count);
  }
  call.process.graphExecs.add(exec, exec.handle);
  return exec;
}

/** exec, graph, flags: a graph is uploaded by the call with parameters alone */
function instantiateWithFlags(call: Call): Status {
  const target = call.target(0);
  require((call.size(2) & flag.upload) === 0);
  call.set64(target, instantiate(call, graphAt(call, 1), call.size(2)).handle);
  return 0;
}

/** exec, graph, cudaGraphInstantiateParams: flags, stream, node that failed, result */
function instantiateWithParams(call: Call): Status {
  const target = call.target(0);
  const params = call.target(2);
  const flags = Number(call.host.u64(params));
  if (flags & flag.upload) call.streamOf(call.host.u64(params + 8n));
  const exec = instantiate(call, graphAt(call, 1), flags);
  call.set64(target, exec.handle);
  call.poke(params + 16n, new Bytes(12).data);
  return 0;
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
    if (memory.isHeld() && (exec.flags & flag.autoFree) === 0) fail(errors.invalidValue);
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
  const difference = execAt(call, 0).update(graphAt(call, 1), canReplace);
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
    execAt(call, 0);
    call.stream(1);
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
