import { newHandle } from "../base/handles.ts";
import type { Graph, GraphLaunch, GraphNode, Launchable, Task } from "./graph.ts";
import { GraphRun } from "./graph-run.ts";
import { Operation } from "./operation.ts";
import type { Stream, Streams } from "./stream.ts";

/** The nodes of a graph and of the graphs inside its nodes. */
export function* allNodes(graph: Graph): Iterable<GraphNode> {
  for (const node of graph.nodes) {
    yield node;
    for (const body of node.task.bodies ?? []) yield* allNodes(body);
  }
}

/** Why a graph cannot take the place of the one that was instantiated: results of cudaGraphExecUpdateResult. */
export const updateResult = { success: 0, error: 1, topologyChanged: 2, typeChanged: 3, parametersChanged: 5 } as const;

interface Difference {
  readonly result: number;
  readonly node: GraphNode | null;
  readonly from: GraphNode | null;
}

/** Flags of an instantiation. */
export const instantiateFlag = { autoFree: 1, upload: 2, deviceLaunch: 4, all: 15 } as const;

/** A graph that can be launched: a copy of the one that it was made of, with parameters of its own. */
export class GraphExec implements Launchable {
  readonly handle = newHandle();
  readonly graph: Graph;
  readonly flags: number;
  readonly isDeviceLaunchable: boolean;
  isUploaded = false;
  readonly running = new Set<GraphLaunch>();
  pending = 0;
  readonly #nodes = new Map<GraphNode, GraphNode>();
  readonly #disabled = new Set<GraphNode>();
  #last: Operation = new Operation().submit();

  constructor(graph: Graph, flags: number) {
    this.graph = graph.clone();
    this.flags = flags;
    this.isDeviceLaunchable = (flags & instantiateFlag.deviceLaunch) !== 0;
    for (const node of allNodes(this.graph)) if (node.original !== null) this.#nodes.set(node.original, node);
  }

  /** Its node for one of the graph of which it was made; null if that has none here. */
  nodeOf(node: GraphNode): GraphNode | null {
    return this.#nodes.get(node) ?? null;
  }

  /** A node that kernels may change, by the handle that they have for it; null if there is none. */
  updatableNode(handle: bigint): GraphNode | null {
    for (const [original, node] of this.#nodes) {
      if (original.handle === handle && node.isDeviceUpdatable) return node;
    }
    return null;
  }

  isEnabled(node: GraphNode): boolean {
    return !this.#disabled.has(node);
  }

  setEnabled(node: GraphNode, isEnabled: boolean): void {
    if (isEnabled) this.#disabled.delete(node);
    else this.#disabled.add(node);
  }

  /** Appends all its work to a stream. Launches of one graph run one after the other. */
  launch(streams: Streams, stream: Stream): Operation {
    this.isUploaded = true;
    this.#last = streams.enqueueAll(stream, (first) => GraphRun.launch(this, first), [this.#last]);
    return this.#last;
  }

  /**
   * Takes the parameters of a graph with the same nodes and edges; where it has others, says which and changes nothing.
   */
  update(graph: Graph, canReplace: Replacement): Difference {
    return takeParameters(this.graph, graph, canReplace);
  }
}

/** Whether a task may take the place of one of its kind in an executable graph. */
export type Replacement = (old: Task, task: Task) => boolean;

/** Gives a graph the parameters of another with the same nodes and edges; if it has others, nothing changes. */
export function takeParameters(old: Graph, graph: Graph, canReplace: Replacement): Difference {
  const difference = compare(old, graph, canReplace);
  if (difference.result === updateResult.success) take(old, graph);
  return difference;
}

const same: Difference = { result: updateResult.success, node: null, from: null };

/** Compares the nodes in the order in which they were added. */
function compare(old: Graph, graph: Graph, canReplace: Replacement): Difference {
  const [before, now] = [[...old.nodes], [...graph.nodes]];
  const indices = new Map(now.map((node, i) => [node, i]));
  const oldIndices = new Map(before.map((node, i) => [node, i]));
  for (const [i, node] of now.entries()) {
    const twin = before[i];
    if (twin === undefined) return { result: updateResult.topologyChanged, node, from: null };
    if (twin.task.type !== node.task.type) return { result: updateResult.typeChanged, node, from: null };
    const wanted = new Set([...twin.dependencies].map((from) => oldIndices.get(from)));
    for (const from of node.dependencies) {
      if (!wanted.delete(indices.get(from))) return { result: updateResult.topologyChanged, node, from };
    }
    if (wanted.size > 0) return { result: updateResult.topologyChanged, node, from: null };
    if (!canReplace(twin.task, node.task)) return { result: updateResult.parametersChanged, node, from: null };
    for (const [b, body] of (twin.task.bodies ?? []).entries()) {
      const other = node.task.bodies?.[b];
      if (other === undefined) return { result: updateResult.parametersChanged, node, from: null };
      const inner = compare(body, other, canReplace);
      if (inner.result !== updateResult.success) return inner;
    }
  }
  return now.length === before.length ? same : { result: updateResult.topologyChanged, node: null, from: null };
}

function take(old: Graph, graph: Graph): void {
  const now = [...graph.nodes];
  for (const [i, node] of [...old.nodes].entries()) {
    const { task } = now[i]!;
    if (node.task.bodies === undefined) node.task = task;
    else for (const [b, body] of node.task.bodies.entries()) take(body, task.bodies![b]!);
  }
}
