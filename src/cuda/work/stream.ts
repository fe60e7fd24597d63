import { newHandle } from "../base/handles.ts";
import type { Capture, Captured } from "./capture.ts";
import type { GraphNode } from "./graph.ts";
import type { HostOrder } from "./host-order.ts";
import { Operation } from "./operation.ts";

/** The kinds of streams: `legacy` is the default stream, in order with all blocking ones. */
export type StreamKind = "legacy" | "blocking" | "non-blocking";

/** A queue of operations. Those of one stream run in order. */
export class Stream implements Captured {
  readonly handle = newHandle();
  readonly kind: StreamKind;
  priority: number;
  /** The device to which it belongs. */
  readonly device: number;
  /** The capture that makes nodes of what is appended to it; null where that is done in its turn. */
  capture: Capture | null = null;
  /** What was set of it by number: values of 64 bytes. */
  readonly attributes = new Map<number, Uint8Array>();
  #last: Operation | null = null;

  constructor(kind: StreamKind, device: number, priority = 0) {
    this.kind = kind;
    this.device = device;
    this.priority = priority;
  }

  /** The last operation that has not ended, or null. */
  get last(): Operation | null {
    if (this.#last?.isDone) this.#last = null;
    return this.#last;
  }

  /** For `Streams` alone. */
  set last(operation: Operation | null) {
    this.#last = operation;
  }
}

/** The streams of a device, and the order between them. */
export class Streams {
  readonly legacy: Stream;
  readonly #blocking = new Set<Stream>();
  readonly #others = new Set<Stream>();
  /** What is left to do in streams that were removed. */
  readonly #left = new Set<Operation>();
  readonly #hostOrder: HostOrder | null;

  /** `hostOrder` notes what the host may rely on; null if nobody asks for that. */
  constructor(device: number, hostOrder: HostOrder | null = null) {
    this.#hostOrder = hostOrder;
    this.legacy = new Stream("legacy", device);
  }

  add(stream: Stream): Stream {
    (stream.kind === "blocking" ? this.#blocking : this.#others).add(stream);
    return stream;
  }

  /** Forgets a stream, whose operations go on. */
  remove(stream: Stream): void {
    const { last } = stream;
    // What follows in the default stream has to wait for the rest of it.
    if (last !== null && stream.kind === "blocking")
      this.legacy.last = new Operation().after(this.legacy.last).after(last).submit();
    if (last !== null) {
      this.#left.add(last);
      last.whenDone(() => this.#left.delete(last));
    }
    this.#blocking.delete(stream);
    this.#others.delete(stream);
  }

  /** Appends an operation to a stream. `also`: further ones that it comes after. */
  enqueue(stream: Stream, run: () => void | Promise<void>, also: readonly Operation[] = []): Operation {
    const operation = new Operation(run).after(stream.last);
    if (stream.kind === "legacy") for (const other of this.#blocking) operation.after(other.last);
    else if (stream.kind === "blocking") operation.after(this.legacy.last);
    for (const other of also) operation.after(other);
    this.#hostOrder?.add(operation, stream, this.#before(stream), also);
    stream.last = operation;
    return operation.submit();
  }

  /**
   * Appends operations with an order of their own: `add` gets what they begin after, and returns the one that ends
   * last.
   */
  enqueueAll(stream: Stream, add: (first: Operation) => Operation, also: readonly Operation[] = []): Operation {
    const last = add(this.enqueue(stream, () => {}, also));
    this.#hostOrder?.add(last, stream, [stream], []);
    stream.last = last;
    return last;
  }

  /** The streams with whose operations one of a stream is in order. */
  #before(stream: Stream): Iterable<Stream> {
    if (stream.kind === "legacy") return [stream, ...this.#blocking];
    return stream.kind === "blocking" ? [stream, this.legacy] : [stream];
  }

  /** The captures of blocking streams: the default stream would have to wait for those. */
  get implicit(): ReadonlySet<Capture> {
    return new Set([...this.#blocking].flatMap(({ capture }) => capture ?? []));
  }

  /** All operations of all streams that have not ended, the last of each. */
  get pending(): readonly Operation[] {
    const streams = [this.legacy, ...this.#blocking, ...this.#others];
    return [...this.#left, ...streams.flatMap(({ last }) => (last === null ? [] : [last]))];
  }

  /** Waits for all streams; null if nothing is left. */
  ended(): Promise<void> | null {
    const { pending } = this;
    if (pending.length === 0) return null;
    return new Promise((resolve) => {
      let left = pending.length;
      for (const operation of pending) operation.whenDone(() => --left === 0 && resolve());
    });
  }
}

/** A mark in a stream. */
export class Event {
  readonly handle = newHandle();
  readonly timing: boolean;
  readonly flags: number;
  readonly device: number;
  /** The operation that was recorded last; null before that. */
  recorded: Operation | null = null;
  /** The nodes that it marks, if it was recorded last in a stream that was being captured. */
  captured: { readonly capture: Capture; readonly nodes: ReadonlySet<GraphNode> } | null = null;
  /** Milliseconds, when it was reached. */
  time = 0;

  constructor(flags: number, device: number) {
    this.flags = flags;
    this.timing = (flags & 2) === 0;
    this.device = device;
  }

  /** Marks the present: where a node of a graph records it. */
  reach(): void {
    this.time = performance.now();
    this.captured = null;
    this.recorded = new Operation().submit();
  }

  get isReached(): boolean {
    return this.recorded === null || this.recorded.isDone;
  }
}
