import { errors, require } from "../../base/errors.ts";
import type { Graph, GraphNode } from "../../work/graph.ts";
import { allNodes, type GraphExec } from "../../work/graph-exec.ts";
import type { Call } from "../call.ts";

/** Gives a graph and all its nodes, also those inside nodes, to the program. Returns the handle. */
export function addGraph(call: Call, graph: Graph): bigint {
  const { graphs, graphNodes } = call.process;
  for (const node of allNodes(graph)) {
    graphNodes.add(node, node.handle);
    for (const body of node.task.bodies ?? []) graphs.add(body, body.handle);
  }
  return graphs.add(graph, graph.handle);
}

/** Takes a graph away from the program. */
export function removeGraph(call: Call, graph: Graph): void {
  const { graphs, graphNodes } = call.process;
  for (const node of allNodes(graph)) {
    graphNodes.remove(node.handle);
    for (const body of node.task.bodies ?? []) graphs.remove(body.handle);
  }
  graphs.remove(graph.handle);
}

/** Takes a node out of its graph, and away from the program. */
export function removeNode(call: Call, node: GraphNode): void {
  node.graph.remove(node);
  call.process.graphNodes.remove(node.handle);
}

/** The graph that argument `i` names. Throws if there is none. */
export const graphAt = (call: Call, i: number): Graph => call.process.graphs.get(call.address(i), errors.invalidValue);

/** The node that argument `i` names. Throws if there is none. */
export const nodeAt = (call: Call, i: number): GraphNode =>
  call.process.graphNodes.get(call.address(i), errors.invalidValue);

/** The executable graph that argument `i` names. Throws if there is none. */
export const execAt = (call: Call, i: number): GraphExec =>
  call.process.graphExecs.get(call.address(i), errors.invalidValue);

/** The nodes in a list of the program. Throws if one is not there. */
export function nodesAt(call: Call, list: bigint, count: number): readonly GraphNode[] {
  if (count === 0) return [];
  require(list !== 0n && count <= 1 << 24);
  return call.host.words(list, count).map((handle) => call.process.graphNodes.get(handle, errors.invalidValue));
}

/** A list of nodes in memory of the server's own, which the program may read. */
export function writeNodes(call: Call, nodes: readonly GraphNode[]): bigint {
  const bytes = new Uint8Array(BigUint64Array.from(nodes.map(({ handle }) => handle)).buffer);
  return call.kept(bytes.length === 0 ? new Uint8Array(8) : bytes);
}

/**
 * Answers a question for a list: with its length where `list` is null, else with as many as there is room for (the rest
 * of the room is null, and the length is what was written). Throws if there is a list without room.
 */
export function answerList(call: Call, [list, counter]: readonly [bigint, bigint], handles: readonly bigint[]): number {
  require(counter !== 0n);
  if (list === 0n) {
    call.set64(counter, handles.length);
    return 0;
  }
  const room = Number(call.host.u64(counter));
  require(room > 0);
  const out = new BigUint64Array(Math.min(room, 1 << 24));
  out.set(handles.slice(0, out.length));
  call.poke(list, new Uint8Array(out.buffer));
  call.set64(counter, Math.min(room, handles.length));
  return 0;
}
