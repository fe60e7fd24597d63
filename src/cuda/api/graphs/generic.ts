import { errors, fail, require } from "../../base/errors.ts";
import {
  allocateTask,
  conditionalTask,
  type CopyTask,
  freeTask,
  type KernelTask,
  recordTask,
  waitTask,
} from "../../run/tasks.ts";
import { Condition } from "../../state/condition.ts";
import { GraphMemory } from "../../state/graph-memory.ts";
import { type Edge, Graph, nodeType, type Task } from "../../work/graph.ts";
import type { Call, Handlers, Status } from "../call.ts";
import { edgeDataAt } from "./edges.ts";
import { addGraph, graphAt, nodeAt, nodesAt, removeNode } from "./handles.ts";
import { addNode, childOf, execNode, replace, replaceInExec } from "./nodes.ts";
import { copyForm, fillForm, hostForm, kernelForm, type ParamsForm, readEmpty } from "./params.ts";

/**
 * cudaMemAllocNodeParams: properties of the pool (the kind of memory, then its place), a list of who may access it and
 * its length, the size, and the address.
 */
const allocateBytes = 120;
const [placeAt, accessAt, accessCountAt, sizeAt, addressAt] = [8, 88, 96, 104, 112];

/** Bytes of cudaGraphNodeParams: the kind, and from 16 on the parameters of that kind. */
const genericBytes = 256;
const unionAt = 16;

/** Makes memory for a node, and gives the program its address. */
function allocation(call: Call, at: bigint): Task {
  const params = call.host.read(at, allocateBytes);
  const view = new DataView(params.buffer);
  const bytes = Number(view.getBigUint64(sizeAt, true));
  const [pinned, onDevice] = [1, 1];
  const device = view.getInt32(placeAt + 4, true);
  require(bytes > 0 && view.getUint32(0, true) === pinned && view.getUint32(placeAt, true) === onDevice);
  require(device >= 0 && device < call.process.deviceCount);
  require(view.getBigUint64(accessAt, true) !== 0n || view.getBigUint64(accessCountAt, true) === 0n);
  const memory = new GraphMemory(call.process, { bytes, device, params });
  view.setBigUint64(addressAt, memory.address, true);
  call.set64(at + BigInt(addressAt), memory.address);
  return allocateTask(memory);
}

/** Frees memory that a node of a graph has allocated. */
function freeing(call: Call, address: bigint): Task {
  const found = call.process.allocations.at(address)?.owner;
  require(found instanceof GraphMemory);
  return freeTask(found);
}

/** A conditional node: a handle, the kind, the number of graphs, and where the program wants their handles. */
function conditional(call: Call, view: DataView, address: bigint): Task {
  const condition = call.process.conditions.get(view.getBigUint64(unionAt, true), errors.invalidValue);
  const [kind, size] = [view.getUint32(unionAt + 8, true), view.getUint32(unionAt + 12, true)];
  const most = [2, 1, 1 << 16][kind];
  require(most !== undefined && size >= 1 && size <= most && !condition.isUsed);
  condition.isUsed = true;
  const bodies = Array.from({ length: size }, () => new Graph());
  const list = BigUint64Array.from(bodies.map((body) => addGraph(call, body)));
  call.set64(address + BigInt(unionAt + 16), call.kept(new Uint8Array(list.buffer)));
  return conditionalTask(kind, bodies, condition);
}

/** The kinds of nodes whose parameters the driver and the runtime lay out in two ways. */
export interface ApiForms {
  readonly kernel: ParamsForm<KernelTask>;
  readonly copy: ParamsForm<CopyTask>;
}

/** Reads the parameters of any kind of nodes. `address`: where they are, for what is written back. */
function readAny(call: Call, address: bigint, forms: ApiForms): Task {
  const whole = call.host.view(address, genericBytes);
  const part = (bytes: number, from = unionAt): DataView => new DataView(whole.buffer, from, bytes);
  const word = whole.getBigUint64(unionAt, true);
  switch (whole.getUint32(0, true)) {
    case nodeType.kernel:
      return forms.kernel.read(call, part(forms.kernel.bytes));
    case nodeType.copy:
      return forms.copy.read(call, part(forms.copy.bytes, unionAt + 16));
    case nodeType.fill:
      return fillForm.read(call, part(fillForm.bytes));
    case nodeType.host:
      return hostForm.read(call, part(hostForm.bytes));
    case nodeType.graph:
      return childOf(call, call.process.graphs.get(word, errors.invalidValue));
    case nodeType.empty:
      return readEmpty();
    case nodeType.waitEvent:
      return waitTask(call.process.events.get(word));
    case nodeType.recordEvent:
      return recordTask(call.process.events.get(word));
    case nodeType.allocate:
      return allocation(call, address + BigInt(unionAt));
    case nodeType.free:
      return freeing(call, word);
    case nodeType.conditional:
      return conditional(call, whole, address);
    default:
      return fail(errors.notSupported);
  }
}

/** The address of memory of a graph, in a node that allocates or frees it. */
function memoryOf(call: Call, type: Task["type"]): GraphMemory {
  const { task } = nodeAt(call, 0);
  require(task.type === type && "memory" in task && task.memory instanceof GraphMemory);
  return task.memory;
}

/** What a device says of the memory of graphs, by number. */
const attributes = ["used", "usedHigh", "reserved", "reservedHigh"] as const;

function memoryAttribute(call: Call): (typeof attributes)[number] {
  call.process.device(call.int(0));
  return attributes[call.uint(1)] ?? fail(errors.invalidValue);
}

/** The entry points for nodes of any kind, of the runtime (`cuda`) or of the driver (`cu`). */
export const anyNodeCalls = (prefix: string, forms: ApiForms): Handlers => ({
  /** node, graph, dependencies, edge data, count, parameters */
  [`${prefix}GraphAddNode`](call) {
    const target = call.target(0);
    const graph = graphAt(call, 1);
    const after = nodesAt(call, call.address(2), call.size(4));
    const node = addNode(call, graph, after, readAny(call, call.target(5), forms));
    try {
      const edges = after.map((from): Edge => [from, node]);
      for (const [i, data] of edgeDataAt(call, call.address(3), edges).entries()) graph.connect(edges[i]!, data);
    } catch (error) {
      removeNode(call, node);
      throw error;
    }
    call.set64(target, node.handle);
    return 0;
  },
  [`${prefix}GraphNodeSetParams`]: (call) => replace(nodeAt(call, 0), readAny(call, call.target(1), forms)),
  [`${prefix}GraphExecNodeSetParams`]: (call) => replaceInExec(execNode(call), readAny(call, call.target(2), forms)),
});

/** Makes a condition. `from`: the argument with its value at the beginning of each launch; 1 after it: that counts. */
export function createCondition(call: Call, from: number): Status {
  const target = call.target(0);
  const graph = graphAt(call, 1);
  const [value, flags] = [call.uint(from), call.uint(from + 1)];
  require(flags <= 1);
  const condition = new Condition(call.process.allocations, graph, value, flags === 1);
  call.set64(target, call.process.conditions.add(condition, condition.handle));
  return 0;
}

export const genericCalls: Handlers = {
  ...anyNodeCalls("cuda", { kernel: kernelForm, copy: copyForm }),
  /** node, graph, dependencies, count, parameters */
  cudaGraphAddMemAllocNode(call) {
    const target = call.target(0);
    const after = nodesAt(call, call.address(2), call.size(3));
    const node = addNode(call, graphAt(call, 1), after, allocation(call, call.target(4)));
    call.set64(target, node.handle);
    return 0;
  },
  cudaGraphAddMemFreeNode(call) {
    const target = call.target(0);
    const after = nodesAt(call, call.address(2), call.size(3));
    call.set64(target, addNode(call, graphAt(call, 1), after, freeing(call, call.target(4))).handle);
    return 0;
  },
  cudaGraphMemAllocNodeGetParams(call) {
    call.poke(call.target(1), memoryOf(call, nodeType.allocate).params);
    return 0;
  },
  cudaGraphMemFreeNodeGetParams(call) {
    call.set64(call.target(1), memoryOf(call, nodeType.free).address);
    return 0;
  },
  cudaDeviceGetGraphMemAttribute(call) {
    call.set64(call.target(2), call.process.graphMemory[memoryAttribute(call)]);
    return 0;
  },
  /** Only what was used at most can be set, to 0. */
  cudaDeviceSetGraphMemAttribute(call) {
    const name = memoryAttribute(call);
    require((name === "usedHigh" || name === "reservedHigh") && call.host.u64(call.target(2)) === 0n);
    const use = call.process.graphMemory;
    if (name === "usedHigh") use.usedHigh = use.used;
    else use.reservedHigh = use.reserved;
    return 0;
  },
  cudaDeviceGraphMemTrim(call) {
    call.process.device(call.int(0));
    call.process.graphMemory.trim();
    return 0;
  },
  /** handle, graph, value, flags */
  cudaGraphConditionalHandleCreate: (call) => createCondition(call, 2),
};
