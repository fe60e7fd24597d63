import type { Operation } from "./operation.ts";

/** Bytes of device memory that an operation may access, and what it is. */
export interface Use {
  readonly from: number;
  readonly to: number;
  /** As messages name it: "the kernel `scale`". */
  readonly by: string;
  /** Whether it may write there; if not, the host may read. */
  readonly writes: boolean;
}

/** A stream, of which nothing needs to be known but which it is. */
type Queue = object;

interface Mark {
  /** What has certainly ended when this has; empty once the host knows that this has ended. */
  before: readonly Mark[];
  uses: Use[];
}

/**
 * What the host knows to have ended, by what it has waited for: an operation, and all that this comes after. Operations
 * end sooner here than on a GPU, often within the call that appends them; only waiting makes that certain.
 */
export class HostOrder {
  readonly #marks = new WeakMap<Operation, Mark>();
  readonly #lasts = new Map<Queue, Mark>();
  /** What is used by operations of which the host does not know that they have ended. */
  readonly #open = new Set<Use>();

  /**
   * Notes an operation that comes after the last ones of some streams, and after others, and is the last of its own.
   */
  add(operation: Operation, stream: Queue, streams: Iterable<Queue>, others: readonly Operation[]): void {
    const before = [...streams].flatMap((each) => this.#lasts.get(each) ?? []);
    const mark = { before: [...before, ...others.flatMap((each) => this.#marks.get(each) ?? [])], uses: [] };
    this.#marks.set(operation, mark);
    this.#lasts.set(stream, mark);
  }

  /** Notes what an operation may access. */
  use(operation: Operation, use: Use): void {
    this.#marks.get(operation)?.uses.push(use);
    this.#open.add(use);
  }

  /** What an access of the host at a byte of device memory may meet, if that writes or not. */
  useAt(offset: number, writes: boolean): Use | null {
    for (const use of this.#open) if ((writes || use.writes) && offset >= use.from && offset < use.to) return use;
    return null;
  }

  /** Other uses that overlap one. */
  overlapping({ from, to }: Pick<Use, "from" | "to">): readonly Use[] {
    return [...this.#open].filter((use) => use.from < to && use.to > from);
  }

  /** The host has waited for an operation. Returns what is certainly no longer accessed. */
  operationEnded(operation: Operation | null): readonly Use[] {
    return this.#ended(operation === null ? undefined : this.#marks.get(operation));
  }

  /** The host has waited for a stream. */
  streamEnded(stream: Queue): readonly Use[] {
    return this.#ended(this.#lasts.get(stream));
  }

  /** The host has waited for everything. */
  allEnded(): readonly Use[] {
    return [...this.#lasts.values()].flatMap((mark) => this.#ended(mark));
  }

  /** Uses of memory that has been reported, or freed. */
  forget(uses: readonly Use[]): void {
    for (const use of uses) this.#open.delete(use);
  }

  #ended(last: Mark | undefined): readonly Use[] {
    const ended: Use[] = [];
    const todo = last === undefined ? [] : [last];
    for (let mark = todo.pop(); mark !== undefined; mark = todo.pop()) {
      todo.push(...mark.before);
      ended.push(...mark.uses.filter((use) => this.#open.delete(use)));
      mark.before = [];
      mark.uses = [];
    }
    return ended;
  }
}
