import type { DeviceGraphLaunch, DeviceNodeUpdate, GraphTurn } from "../../machine/state/device-work.ts";
import { newHandle } from "../base/handles.ts";

/** Kinds of nodes by the numbers of cudaGraphNodeType, which are those of CUgraphNodeType too. */
export const nodeType = {
  kernel: 0,
  copy: 1,
  fill: 2,
  host: 3,
  graph: 4,
  empty: 5,
  waitEvent: 6,
  recordEvent: 7,
  allocate: 10,
  free: 11,
  operations: 12,
  conditional: 13,
} as const;

/** Work that a stream does in its turn, or a node of a graph whenever the graph is launched. */
export interface Task {
  readonly type: (typeof nodeType)[keyof typeof nodeType];
  /** Does it, for a node within the launch of its graph. It must not throw: what fails is noted where it belongs. */
  readonly run: (within?: GraphLaunch) => void | Promise<void>;
  /** The graphs inside it, which belong to its node: of a child graph, of a conditional node. */
  readonly bodies?: readonly Graph[];
  /** The same work for the node of a copy of the graph; the task itself serves there too where this is absent. */
  readonly clone?: () => Task;
  /** The work after a change by a kernel, of what can be changed so; null if the change is impossible. */
  readonly changed?: (update: Exclude<DeviceNodeUpdate, { kind: "enabled" }>) => Task | null;
}

/** A graph that can be launched, as its launches see it. */
export interface Launchable {
  readonly handle: bigint;
  readonly graph: Graph;
  /** Whether kernels may launch it, and whether it has been prepared for that. */
  readonly isDeviceLaunchable: boolean;
  readonly isUploaded: boolean;
  /** Its launches that have begun and not ended. */
  readonly running: Set<GraphLaunch>;
  /** Its launches that kernels have asked for, and that are to begin after a graph. */
  pending: number;
  isEnabled(node: GraphNode): boolean;
}

/** One launch of a graph, as the work of its nodes sees it. */
export interface GraphLaunch {
  readonly exec: Launchable;
  /** Runs a graph inside a node to its end. */
  runBody(graph: Graph): Promise<void>;
  /** Why a kernel of it cannot launch a graph after those of a list, as the number of an error; 0 if it can. */
  refusal(exec: Launchable, launch: DeviceGraphLaunch, earlier: readonly DeviceGraphLaunch[]): number;
  /** Launches a graph for a kernel of it. */
  launch(exec: Launchable, turn: GraphTurn): void;
}

/**
 * When a node may begin after another, as cudaGraphEdgeData says it: a port of the other, which ends or lets go on, and
 * the type of the dependency. Here nodes always wait for the end, which is allowed in all cases.
 */
export interface EdgeData {
  readonly fromPort: number;
  readonly type: number;
}

/** Types of dependencies, and the ports of kernel nodes for the one that is not the default. */
export const dependencyType = { default: 0, programmatic: 1 } as const;
export const kernelPort = { programmatic: 1, launchCompletion: 2 } as const;

/** Work in a graph, which begins when all nodes that it depends on have ended. */
export class GraphNode {
  readonly handle = newHandle();
  readonly graph: Graph;
  readonly dependencies = new Set<GraphNode>();
  readonly dependents = new Set<GraphNode>();
  /** What the program says of edges from other nodes, where it is more than that they have to end. */
  readonly edgeData = new Map<GraphNode, EdgeData>();
  /** The node of which it was made when its graph was cloned. */
  readonly original: GraphNode | null;
  task: Task;
  /** Whether kernels may change it. */
  isDeviceUpdatable = false;

  constructor(graph: Graph, task: Task, original: GraphNode | null = null) {
    this.graph = graph;
    this.task = task;
    this.original = original;
  }
}

/** An edge: `to` begins after `from`. */
export type Edge = readonly [from: GraphNode, to: GraphNode];

/** Work in a partial order, which is kept to be launched as a whole, many times. */
export class Graph {
  readonly handle = newHandle();
  /** In the order in which they were added. */
  readonly nodes = new Set<GraphNode>();
  /** Objects of the program that live as long as the graph, each with how often it is held. */
  readonly held = new Map<Counted, number>();

  add(task: Task, dependencies: Iterable<GraphNode> = [], original: GraphNode | null = null): GraphNode {
    const node = new GraphNode(this, task, original);
    this.nodes.add(node);
    for (const from of dependencies) this.connect([from, node]);
    return node;
  }

  connect([from, to]: Edge, data: EdgeData | null = null): void {
    from.dependents.add(to);
    to.dependencies.add(from);
    if (data !== null) to.edgeData.set(from, data);
  }

  /** Returns whether there was such an edge. */
  disconnect([from, to]: Edge): boolean {
    to.edgeData.delete(from);
    to.dependencies.delete(from);
    return from.dependents.delete(to);
  }

  remove(node: GraphNode): void {
    for (const from of node.dependencies) from.dependents.delete(node);
    for (const to of node.dependents) {
      to.dependencies.delete(node);
      to.edgeData.delete(node);
    }
    this.nodes.delete(node);
  }

  get roots(): readonly GraphNode[] {
    return [...this.nodes].filter(({ dependencies }) => dependencies.size === 0);
  }

  get edges(): readonly Edge[] {
    return [...this.nodes].flatMap((from) => [...from.dependents].map((to): Edge => [from, to]));
  }

  /** The nodes, each after those that it depends on; null if some depend on each other. */
  get ordered(): readonly GraphNode[] | null {
    const left = new Map([...this.nodes].map((node) => [node, node.dependencies.size]));
    const order = this.roots.slice();
    for (let i = 0; i < order.length; i++) {
      for (const next of order[i]!.dependents) {
        const open = left.get(next)! - 1;
        left.set(next, open);
        if (open === 0) order.push(next);
      }
    }
    return order.length === this.nodes.size ? order : null;
  }

  /** A copy, whose nodes know which they were made of. */
  clone(): Graph {
    const copy = new Graph();
    const made = new Map<GraphNode, GraphNode>();
    for (const node of this.nodes) {
      const twin = copy.add(node.task.clone?.() ?? node.task, [], node);
      twin.isDeviceUpdatable = node.isDeviceUpdatable;
      made.set(node, twin);
    }
    for (const [from, to] of this.edges) {
      copy.connect([made.get(from)!, made.get(to)!], to.edgeData.get(from) ?? null);
    }
    return copy;
  }
}

/** An object that is destroyed when nothing holds it any more. */
export class Counted {
  readonly handle = newHandle();
  readonly #destroy: () => void;
  #count: number;

  constructor(count: number, destroy: () => void) {
    this.#count = count;
    this.#destroy = destroy;
  }

  get count(): number {
    return this.#count;
  }

  retain(by: number): void {
    this.#count += by;
  }

  release(by: number): void {
    this.#count -= by;
    if (this.#count === 0) this.#destroy();
  }
}

/** Whether all of `nodes` are among `ends` or come before one of them. */
export function areJoined(nodes: Iterable<GraphNode>, ends: Iterable<GraphNode>): boolean {
  const before = new Set(ends);
  for (const node of before) for (const from of node.dependencies) before.add(from);
  return [...nodes].every((node) => before.has(node));
}
