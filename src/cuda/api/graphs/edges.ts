import { errors, require } from "../../base/errors.ts";
import { isMemoryTask } from "../../run/tasks.ts";
import {
  dependencyType,
  type Edge,
  type EdgeData,
  type Graph,
  type GraphNode,
  kernelPort,
  nodeType,
} from "../../work/graph.ts";
import type { Call, Handlers, Status } from "../call.ts";
import { answerList, graphAt, nodeAt, nodesAt } from "./handles.ts";

/** Bytes of cudaGraphEdgeData: the ports of both nodes, the type, and five that have to be zero. */
export const edgeDataBytes = 8;

/** What the program says of edges: null for those of which it says nothing. Throws where the nodes do not allow it. */
export function edgeDataAt(call: Call, address: bigint, edges: readonly Edge[]): readonly (EdgeData | null)[] {
  if (address === 0n || edges.length === 0) return edges.map(() => null);
  const all = call.host.read(address, edgeDataBytes * edges.length);
  return edges.map(([from, to], i) => {
    const [fromPort = 0, toPort, type, ...rest] = all.subarray(edgeDataBytes * i, edgeDataBytes * (i + 1));
    require(toPort === 0 && rest.every((byte) => byte === 0));
    if (type === dependencyType.default) {
      require(fromPort === 0);
      return null;
    }
    require(type === dependencyType.programmatic);
    require(fromPort === kernelPort.programmatic || fromPort === kernelPort.launchCompletion);
    require(from.task.type === nodeType.kernel && to.task.type === nodeType.kernel);
    return { fromPort, type };
  });
}

/** Answers a question for what is said of edges. A program that does not ask for it must not miss anything. */
function answerData(call: Call, address: bigint, edges: readonly Edge[]): void {
  const all = new Uint8Array(edgeDataBytes * edges.length);
  for (const [i, [from, to]] of edges.entries()) {
    const data = to.edgeData.get(from);
    if (data === undefined) continue;
    require(address !== 0n, errors.lossyQuery);
    all.set([data.fromPort, 0, data.type], edgeDataBytes * i);
  }
  if (address !== 0n) call.poke(address, all);
}

/** from and to, each as many as `count` says, from argument `i` on. Throws if they are not nodes of one graph. */
function edgesAt(call: Call, i: number, count: number): readonly Edge[] {
  const graph = graphAt(call, 0);
  const [from, to] = [nodesAt(call, call.address(i), count), nodesAt(call, call.address(i + 1), count)];
  return from.map((node, k): Edge => {
    require(node.graph === graph && to[k]!.graph === graph && node !== to[k]);
    return [node, to[k]!];
  });
}

/** graph, from, to, edge data, count */
function edges(call: Call): Status {
  const all = graphAt(call, 0).edges;
  const counter = call.target(4);
  if (call.address(1) === 0n && call.address(2) === 0n) {
    require(call.address(3) === 0n);
    call.set64(counter, all.length);
    return 0;
  }
  const lists = [call.target(1), call.target(2)];
  answerData(call, call.address(3), all.slice(0, Number(call.host.u64(counter))));
  for (const [side, list] of lists.entries()) {
    answerList(
      call,
      [list, counter],
      all.map((edge) => edge[side]!.handle),
    );
  }
  return 0;
}

/** node, list, edge data, count */
function neighbours(call: Call, side: "dependencies" | "dependents"): Status {
  const node = nodeAt(call, 0);
  const others: readonly GraphNode[] = [...node[side]];
  if (call.address(1) === 0n) require(call.address(2) === 0n);
  else {
    const room = Number(call.host.u64(call.target(3)));
    const shown = others.slice(0, room);
    answerData(
      call,
      call.address(2),
      shown.map((other): Edge => (side === "dependencies" ? [other, node] : [node, other])),
    );
  }
  return answerList(
    call,
    [call.address(1), call.address(3)],
    others.map(({ handle }) => handle),
  );
}

/** Throws if a graph has memory of its own: its nodes and edges stay. */
export function requireRemovable({ nodes }: Graph): void {
  for (const { task } of nodes) require(!isMemoryTask(task), errors.notSupported);
}

export const edgeCalls: Handlers = {
  cudaGraphGetEdges: edges,
  cudaGraphNodeGetDependencies: (call) => neighbours(call, "dependencies"),
  cudaGraphNodeGetDependentNodes: (call) => neighbours(call, "dependents"),
  /** graph, from, to, edge data, count */
  cudaGraphAddDependencies(call) {
    const graph = graphAt(call, 0);
    const added = edgesAt(call, 1, call.size(4));
    const data = edgeDataAt(call, call.address(3), added);
    for (const [from, to] of added) require(!from.dependents.has(to));
    for (const [i, edge] of added.entries()) graph.connect(edge, data[i]!);
    return 0;
  },
  /** The same: edges have to be named with what was said of them. */
  cudaGraphRemoveDependencies(call) {
    const graph = graphAt(call, 0);
    requireRemovable(graph);
    const removed = edgesAt(call, 1, call.size(4));
    const data = edgeDataAt(call, call.address(3), removed);
    for (const [i, [from, to]] of removed.entries()) {
      require(from.dependents.has(to) && to.edgeData.get(from)?.fromPort === data[i]?.fromPort);
    }
    for (const edge of removed) graph.disconnect(edge);
    return 0;
  },
};
