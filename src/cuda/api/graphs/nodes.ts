import { CudaError, errors, fail, require } from "../../base/errors.ts";
import {
  canReplace,
  childTask,
  type EventTask,
  isMemoryTask,
  type MemoryTask,
  recordTask,
  waitTask,
} from "../../run/tasks.ts";
import { type Graph, type GraphNode, nodeType, type Task } from "../../work/graph.ts";
import { allNodes, takeParameters, updateResult } from "../../work/graph-exec.ts";
import type { Call, Handler, Handlers, Status } from "../call.ts";
import {
  attributeBytes,
  hasAttribute,
  launchAttribute,
  setDeviceUpdatable,
  withAttributes,
} from "../launch-attributes.ts";
import { linearWork } from "../memory.ts";
import { checkSymbolDirection, symbolAt } from "../symbols.ts";
import { addGraph, execAt, graphAt, nodeAt, nodesAt } from "./handles.ts";
import { copyForm, copyNode, fillForm, hostForm, kernelForm, type ParamsForm, readEmpty } from "./params.ts";

/** Adds a node after those of a list, and gives the program its handle. A graph frees its memory once. */
export function addNode(call: Call, graph: Graph, after: readonly GraphNode[], task: Task): GraphNode {
  if (isMemoryTask(task)) require([...graph.nodes].every((other) => !isSameMemory(other.task, task)));
  require(after.every((node) => node.graph === graph) && new Set(after).size === after.length);
  const node = graph.add(task, after);
  call.process.graphNodes.add(node, node.handle);
  return node;
}

const isSameMemory = (one: Task, other: MemoryTask): boolean =>
  isMemoryTask(one) && one.type === other.type && one.memory === other.memory;

/** node, graph, dependencies, count, and then what `read` reads from argument `from` on */
const adder =
  (read: (call: Call, from: number) => Task): Handler =>
  (call) => {
    const target = call.target(0);
    const graph = graphAt(call, 1);
    const after = nodesAt(call, call.address(2), call.size(3));
    call.set64(target, addNode(call, graph, after, read(call, 4)).handle);
    return 0;
  };

/** Gives a node other work of its kind. A kernel keeps its attributes. */
export function replace(node: GraphNode, task: Task): Status {
  const old = node.task;
  require(old.type === task.type);
  node.task = kernelForm.is(old) && kernelForm.is(task) ? withAttributes(task, old.attributes) : task;
  return 0;
}

/** Does the same to a node of an executable graph, as far as that can be changed. */
export function replaceInExec(node: GraphNode, task: Task): Status {
  if (node.task.type === nodeType.graph && task.type === nodeType.graph) {
    const { result } = takeParameters(node.task.bodies![0]!, task.bodies![0]!, canReplace);
    require(result === updateResult.success);
    return 0;
  }
  require(canReplace(node.task, task));
  return replace(node, task);
}

/** The node of an executable graph for one of the graph of which it was made. Throws if there is none. */
export function execNode(call: Call): GraphNode {
  return execAt(call, 0).nodeOf(nodeAt(call, 1)) ?? fail(errors.invalidValue);
}

/**
 * The entry points for a kind of nodes: `cudaGraphAddXNode` and those that get and set parameters. `graph`: how their
 * names begin, `cudaGraph` or `cuGraph`.
 */
export function formCalls<T extends Task>(graph: string, name: string, form: ParamsForm<T>): Handlers {
  const read = (call: Call, i: number): T => form.read(call, call.host.view(call.target(i), form.bytes));
  return {
    [`${graph}Add${name}Node`]: adder(read),
    [`${graph}${name}NodeGetParams`](call) {
      const { task } = nodeAt(call, 0);
      const target = call.target(1);
      if (!form.is(task)) return errors.invalidValue;
      call.poke(target, form.write(call, task));
      return 0;
    },
    [`${graph}${name}NodeSetParams`]: (call) => replace(nodeAt(call, 0), read(call, 1)),
    [`${graph}Exec${name}NodeSetParams`]: (call) =>
      replaceInExec(
        execNode(call),
        withoutPitchErrors(() => read(call, 2)),
      ),
  };
}

/** Calls that change executable graphs have no error of their own for pitches. */
function withoutPitchErrors<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CudaError) || error.code !== errors.invalidPitchValue) throw error;
    throw new CudaError(errors.invalidValue, error.reason);
  }
}

/** dst, src, bytes, kind from argument `i` on */
const lineFrom = (call: Call, i: number): Task => {
  const ends = { to: call.address(i), from: call.address(i + 1), bytes: call.size(i + 2), kind: call.int(i + 3) };
  require(ends.bytes > 0);
  return copyNode(call, linearWork(call.process, ends));
};

/** symbol and src (or dst and symbol), bytes, offset, kind from argument `i` on */
const symbolFrom =
  (isTo: boolean) =>
  (call: Call, i: number): Task => {
    const symbol = symbolAt(call, call.address(isTo ? i : i + 1));
    const [bytes, offset, kind] = [call.size(i + 2), call.size(i + 3), call.int(i + 4)];
    require(bytes > 0 && offset + bytes <= symbol.bytes);
    checkSymbolDirection(isTo, kind);
    const [place, other] = [symbol.address + BigInt(offset), call.address(isTo ? i + 1 : i)];
    const ends = isTo ? { to: place, from: other } : { to: other, from: place };
    return copyNode(call, linearWork(call.process, { ...ends, bytes, kind }));
  };

function copyCalls(ending: string, read: (call: Call, i: number) => Task): Handlers {
  return {
    [`cudaGraphAddMemcpyNode${ending}`]: adder(read),
    [`cudaGraphMemcpyNodeSetParams${ending}`]: (call) => replace(nodeAt(call, 0), read(call, 1)),
    [`cudaGraphExecMemcpyNodeSetParams${ending}`]: (call) => replaceInExec(execNode(call), read(call, 2)),
  };
}

/** A copy of the graph that argument `i` names, as a node. */
const childFrom = (call: Call, i: number): Task => childOf(call, graphAt(call, i));

/** Throws for graphs that cannot stand in a node. */
export function childOf(call: Call, graph: Graph): Task {
  for (const { task } of allNodes(graph)) {
    require(!isMemoryTask(task) && task.type !== nodeType.conditional, errors.notSupported);
  }
  const copy = graph.clone();
  addGraph(call, copy);
  return childTask(copy);
}

function eventCalls(name: string, type: Task["type"], make: (event: EventTask["event"]) => EventTask): Handlers {
  const read = (call: Call, i: number): EventTask =>
    make(call.process.events.get(call.address(i), errors.invalidValue));
  return {
    [`cudaGraphAddEvent${name}Node`]: adder(read),
    [`cudaGraphEvent${name}NodeGetEvent`](call) {
      const { task } = nodeAt(call, 0);
      require(task.type === type);
      call.set64(call.target(1), (task as EventTask).event.handle);
      return 0;
    },
    [`cudaGraphEvent${name}NodeSetEvent`]: (call) => replace(nodeAt(call, 0), read(call, 1)),
    [`cudaGraphExecEvent${name}NodeSetEvent`]: (call) => replaceInExec(execNode(call), read(call, 2)),
  };
}

function attributeAt(call: Call, i: number): number {
  require(hasAttribute("node", call.int(i)));
  return call.int(i);
}

function kernelNode(call: Call, i: number) {
  const { task } = nodeAt(call, i);
  return kernelForm.is(task) ? task : fail(errors.invalidValue);
}

export const nodeCalls: Handlers = {
  ...formCalls("cudaGraph", "Kernel", kernelForm),
  ...formCalls("cudaGraph", "Memcpy", copyForm),
  ...formCalls("cudaGraph", "Memset", fillForm),
  ...formCalls("cudaGraph", "Host", hostForm),
  ...copyCalls("1D", lineFrom),
  ...copyCalls("ToSymbol", symbolFrom(true)),
  ...copyCalls("FromSymbol", symbolFrom(false)),
  ...eventCalls("Record", nodeType.recordEvent, recordTask),
  ...eventCalls("Wait", nodeType.waitEvent, waitTask),
  cudaGraphAddEmptyNode: adder(readEmpty),
  cudaGraphAddChildGraphNode: adder(childFrom),
  cudaGraphChildGraphNodeGetGraph(call) {
    const { task } = nodeAt(call, 0);
    require(task.type === nodeType.graph);
    call.set64(call.target(1), task.bodies![0]!.handle);
    return 0;
  },
  cudaGraphExecChildGraphNodeSetParams: (call) => replaceInExec(execNode(call), childFrom(call, 2)),
  /** node, attribute, value */
  cudaGraphKernelNodeSetAttribute(call) {
    const [node, task, id] = [nodeAt(call, 0), kernelNode(call, 0), attributeAt(call, 1)];
    const value = call.host.read(call.target(2), attributeBytes);
    if (id === launchAttribute.deviceUpdatable) setDeviceUpdatable(call, node, call.address(2));
    node.task = withAttributes(task, new Map([...task.attributes, [id, value]]));
    return 0;
  },
  cudaGraphKernelNodeGetAttribute(call) {
    const value = kernelNode(call, 0).attributes.get(attributeAt(call, 1)) ?? new Uint8Array(attributeBytes);
    call.poke(call.target(2), value);
    return 0;
  },
  /** destination, source */
  cudaGraphKernelNodeCopyAttributes(call) {
    const [to, from] = [kernelNode(call, 0), kernelNode(call, 1)];
    require(!nodeAt(call, 0).isDeviceUpdatable && !nodeAt(call, 1).isDeviceUpdatable);
    nodeAt(call, 0).task = withAttributes(to, from.attributes);
    return 0;
  },
  cudaGraphNodeGetType(call) {
    const node = nodeAt(call, 0);
    call.set32(call.target(1), node.task.type);
    return 0;
  },
  /** exec, node, enabled */
  cudaGraphNodeSetEnabled(call) {
    const node = execNode(call);
    require(canBeDisabled(node));
    execAt(call, 0).setEnabled(node, call.uint(2) !== 0);
    return 0;
  },
  cudaGraphNodeGetEnabled(call) {
    const node = execNode(call);
    require(canBeDisabled(node));
    call.set32(call.target(2), execAt(call, 0).isEnabled(node) ? 1 : 0);
    return 0;
  },
};

const canBeDisabled = ({ task: { type } }: GraphNode): boolean =>
  type === nodeType.kernel || type === nodeType.copy || type === nodeType.fill;
