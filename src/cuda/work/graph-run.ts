import type { DeviceGraphLaunch, GraphTurn } from "../../machine/state/device-work.ts";
import { errors } from "../base/errors.ts";
import { type Graph, type GraphLaunch, type GraphNode, type Launchable, nodeType } from "./graph.ts";
import { Operation } from "./operation.ts";

/** The launches that one launch of a graph may make: as parts of itself, and after itself (programming guide). */
const mostLaunches = { parts: 120, tails: 255 } as const;

/** Work that ends when all its parts have ended. */
class Whole {
  readonly #parts = new Set<Operation>();

  add(part: Operation): void {
    if (part.isDone) return;
    this.#parts.add(part);
    part.whenDone(() => this.#parts.delete(part));
  }

  /** Waits for all parts, of which there may be more meanwhile; undefined if none is left. */
  ended(): Promise<void> | undefined {
    return this.#parts.size === 0 ? undefined : this.#wait();
  }

  async #wait(): Promise<void> {
    // A set may grow while it is iterated.
    for (const part of this.#parts) await part.ended();
  }
}

/** One launch of an executable graph, with what its kernels launch. */
export class GraphRun implements GraphLaunch {
  readonly exec: Launchable;
  readonly #parts = new Whole();
  /** What it is a part of. */
  readonly #around: Whole;
  readonly #tails: Launchable[] = [];
  #partCount = 0;

  private constructor(exec: Launchable, around: Whole) {
    this.exec = exec;
    this.#around = around;
  }

  /** Launches a graph after `first`, from the host. Returns the operation that ends when everything has. */
  static launch(exec: Launchable, first: Operation): Operation {
    const around = new Whole();
    const own = GraphRun.#begin(exec, around, first);
    return new Operation(() => around.ended()).after(own).submit();
  }

  /** Launches a graph as a part of a whole. The operation ends when all that is to follow the graph has ended too. */
  static #begin(exec: Launchable, around: Whole, first = new Operation().submit()): Operation {
    const run = new GraphRun(exec, around);
    const begun = new Operation(() => void exec.running.add(run)).after(first).submit();
    const nodes = start(exec.graph, begun, run);
    return new Operation(() => run.#finish()).after(nodes).submit();
  }

  #finish(): Promise<void> | undefined {
    const parts = this.#parts.ended();
    if (parts !== undefined || this.#tails.length > 0) return this.#finishLater(parts);
    this.exec.running.delete(this);
    return undefined;
  }

  async #finishLater(parts: Promise<void> | undefined): Promise<void> {
    await parts;
    this.exec.running.delete(this);
    for (const tail of this.#tails) {
      tail.pending--;
      await GraphRun.#begin(tail, this.#around).ended();
    }
  }

  runBody(graph: Graph): Promise<void> {
    return new Promise((resolve) => start(graph, new Operation().submit(), this).whenDone(resolve));
  }

  refusal(exec: Launchable, { graph, turn }: DeviceGraphLaunch, earlier: readonly DeviceGraphLaunch[]): number {
    if (!exec.isDeviceLaunchable || !exec.isUploaded) return errors.invalidValue;
    // A graph runs once at a time; it may ask for itself to follow.
    const isTaken = exec.pending > 0 || earlier.some((other) => other.graph === graph);
    const mayRun = exec === this.exec && turn === "tail";
    if (isTaken || (exec.running.size > 0 && !mayRun)) return errors.invalidValue;
    const before = earlier.filter((other) => other.turn === turn).length;
    const isFull =
      (turn === "tail" && this.#tails.length + before >= mostLaunches.tails) ||
      (turn === "fire-and-forget" && this.#partCount + before >= mostLaunches.parts);
    return isFull ? errors.launchPendingCountExceeded : 0;
  }

  launch(exec: Launchable, turn: GraphTurn): void {
    if (turn === "tail") {
      exec.pending++;
      this.#tails.push(exec);
      return;
    }
    if (turn === "fire-and-forget") this.#partCount++;
    const whole = turn === "sibling" ? this.#around : this.#parts;
    whole.add(GraphRun.#begin(exec, whole));
  }
}

/** Adds the operations of a graph after `first`. Returns the one that ends when all have. */
function start(graph: Graph, first: Operation, run: GraphRun): Operation {
  const made = new Map<GraphNode, Operation>();
  const all = new Operation().after(first);
  for (const node of graph.ordered ?? []) {
    const operation = begin(node, [first, ...[...node.dependencies].map((from) => made.get(from)!)], run);
    made.set(node, operation);
    all.after(operation);
  }
  return all.submit();
}

function begin(node: GraphNode, before: readonly Operation[], run: GraphRun): Operation {
  // What kernels may change counts when its turn comes, everything else at the launch.
  if (node.isDeviceUpdatable) return after(before, () => (run.exec.isEnabled(node) ? node.task.run(run) : undefined));
  const { task } = node;
  if (!run.exec.isEnabled(node)) return after(before);
  if (task.type === nodeType.graph) return start(task.bodies![0]!, after(before), run);
  return after(before, () => task.run(run));
}

function after(before: readonly Operation[], work?: () => void | Promise<void>): Operation {
  const operation = new Operation(work);
  for (const other of before) operation.after(other);
  return operation.submit();
}
