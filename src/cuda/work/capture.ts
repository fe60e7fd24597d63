import { Graph, type GraphNode } from "./graph.ts";

/** How strictly threads are kept from unsafe calls while a capture goes on, by the numbers of cudaStreamCaptureMode. */
export const captureMode = { global: 0, threadLocal: 1, relaxed: 2 } as const;

/** A stream, as far as its capture is concerned. */
export interface Captured {
  capture: Capture | null;
}

let captures = 0;

/** The capture of what goes into a stream, and into those that join it by events, as nodes of a graph. */
export class Capture {
  readonly id = ++captures;
  readonly graph: Graph;
  readonly mode: number;
  /** The stream in which it began and has to end. */
  readonly origin: Captured;
  /** The thread of the program that has begun it. */
  readonly thread: number;
  /** The nodes that the next one in each of its streams depends on. */
  readonly tips = new Map<Captured, ReadonlySet<GraphNode>>();
  /** The nodes that it has made. */
  readonly made = new Set<GraphNode>();
  /** Nodes that the program has taken out of the dependencies of a stream: at the end nothing needs to join them. */
  readonly released = new Set<GraphNode>();
  /** Whether something prohibited was done: it can only be ended. */
  isInvalid = false;

  constructor(origin: Captured, about: { readonly mode: number; readonly thread: number; readonly graph?: Graph }) {
    this.origin = origin;
    this.mode = about.mode;
    this.thread = about.thread;
    this.graph = about.graph ?? new Graph();
    this.join(origin, new Set());
  }

  /** Lets a stream take part, or go on, after some nodes. */
  join(stream: Captured, after: ReadonlySet<GraphNode>): void {
    stream.capture = this;
    this.tips.set(stream, after);
  }

  tipsOf(stream: Captured): ReadonlySet<GraphNode> {
    return this.tips.get(stream) ?? new Set();
  }

  /** Forgets a stream that has joined it and is destroyed. Its nodes stay: at the end they must have been joined. */
  leave(stream: Captured): void {
    this.tips.delete(stream);
    stream.capture = null;
  }

  /** Sets its streams free. */
  end(): void {
    for (const stream of this.tips.keys()) stream.capture = null;
  }
}
