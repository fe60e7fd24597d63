/** Where work items find something that the payload of a hardware thread holds (vISA). */
export type PayloadSource =
  /** A value that is the same in the whole launch: at an offset among the launch's parameters. */
  | { readonly kind: "param"; readonly offset: number }
  /** A dimension of the group's id, a doubleword. */
  | { readonly kind: "group-id"; readonly dimension: 0 | 1 | 2 }
  /** A dimension of the size of groups, of how many there are, or of how many work items: a doubleword. */
  | { readonly kind: "group-size" | "group-count" | "item-count"; readonly dimension: 0 | 1 | 2 }
  /** The number of the thread in its group, a doubleword. */
  | { readonly kind: "thread-index" }
  /** The address of the thread's own memory, and how far beyond it: what work items do not know. */
  | { readonly kind: "private"; readonly offset: number }
  /** Zeros. */
  | { readonly kind: "zero" }
  /** The index of each lane's work item in the launch: 32 bits for each lane, adjacent. */
  | { readonly kind: "item-index" }
  /** A dimension of the work items' ids within their group: 16 bits for each lane, adjacent. */
  | { readonly kind: "local-id"; readonly dimension: 0 | 1 | 2 };

/** A part of the byte file that a thread begins with. */
export interface PayloadPart {
  /** The byte of the file at which it begins. */
  readonly at: number;
  readonly bytes: number;
  /** Bytes of the source that come before those that it has. */
  readonly from: number;
  readonly source: PayloadSource;
}

/** The memory that hardware threads have for themselves, and how they find it. */
export interface PrivateMemory {
  /** Bytes that each thread has. */
  readonly bytes: number;
  /**
   * The offset among the launch's parameters of the address of the first thread's memory, which the others' follow by
   * their numbers; null if there is none.
   */
  readonly base: number | null;
  /** What the thread with a number finds in `%sr0` and `%msg0`. */
  readonly stateOf: (thread: number) => { readonly sr0: number; readonly msg0: number };
}

/**
 * What the work items of a vISA kernel would have to know if no hardware thread were around them. It depends on the
 * program alone; the values are the launch's parameters.
 */
export interface WorkItemModel {
  /** Of several that have a byte the first says most of it. */
  readonly parts: readonly PayloadPart[];
  /** Ranges of the file that the payload fills; those that are no part hold something that work items do not know. */
  readonly filled: readonly { readonly at: number; readonly size: number }[];
  /** Offsets, among the launch's parameters, of those that are addresses. */
  readonly pointers: readonly number[];
  /** Bytes of the launch's parameters. */
  readonly paramBytes: number;
  /** By index of a surface, the offset of its address among the launch's parameters. */
  readonly surfaces: ReadonlyMap<number, number>;
  readonly privateMemory: PrivateMemory;
}
