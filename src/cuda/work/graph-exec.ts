import { newHandle } from "../base/handles.ts";
import { type Graph, type GraphNode, nodeType, type Task } from "./graph.ts";
import { Operation } from "./operation.ts";
import type { Stream, Streams } from "./stream.ts";

/** Adds the operations of a graph after `first`. Returns the one that ends when all have. */
function start(graph: Graph, first: Operation, disabled: ReadonlySet<GraphNode>): Operation {
  const made = new Map<GraphNode, Operation>();
  const all = new Operation().after(first);
  for (const node of graph.ordered ?? []) {
    const before = [first, ...[...node.dependencies].map((from) => made.get(from)!)];
    const operation = disabled.has(node) ? after(before) : begin(node.task, before, disabled);
    made.set(node, operation);
    all.after(operation);
  }
  return all.submit();
}

function after(before: readonly Operation[], run?: Task["run"]): Operation {
  const operation = new Operation(run);
  for (const other of before) operation.after(other);
  return operation.submit();
}

const begin = (task: Task, before: readonly Operation[], disabled: ReadonlySet<GraphNode>): Operation =>
  task.type === nodeType.graph ? start(task.bodies![0]!, after(before), disabled) : after(before, task.run);

/** Runs a graph that is a part of a node to its end. */
export const runBody = (graph: Graph): Promise<void> =>
  new Promise((resolve) => start(graph, new Operation().submit(), new Set()).whenDone(resolve));

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

/** A graph that can be launched: a copy of the one that it was made of, with parameters of its own. */
export class GraphExec {
  readonly handle = newHandle();
  readonly graph: Graph;
  readonly flags: number;
  readonly #nodes = new Map<GraphNode, GraphNode>();
  readonly #disabled = new Set<GraphNode>();
  #last: Operation = new Operation().submit();

  constructor(graph: Graph, flags: number) {
    this.graph = graph.clone();
    this.flags = flags;
    for (const node of allNodes(this.graph)) if (node.original !== null) this.#nodes.set(node.original, node);
  }

  /** Its node for one of the graph of which it was made; null if that has none here. */
  nodeOf(node: GraphNode): GraphNode | null {
    return this.#nodes.get(node) ?? null;
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
    const disabled = new Set(this.#disabled);
    this.#last = streams.enqueueAll(stream, (first) => start(this.graph, first, disabled), [this.#last]);
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
