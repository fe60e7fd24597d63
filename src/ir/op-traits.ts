import { isShared, type MemoryAccess } from "./access.ts";
import type { Instruction, Op, OpOf, WarpOp } from "./instruction.ts";
import { fragmentOf } from "./matrix-product.ts";
import { unitTraits } from "./unit.ts";

/**
 * Where the lanes of a group go after an operation:
 *
 * - `next`: on to the next instruction, all together
 * - `branch`: to another instruction of the function
 * - `call`: into another function, and back
 * - `subroutine`: into a subroutine of the function, and back
 * - `leave`: out of the function, or of the kernel
 * - `stop`: nowhere: the launch ends
 * - `split`: on to the next instruction, but the group may have to wait, or part of it
 */
export type Control = "next" | "branch" | "call" | "subroutine" | "leave" | "stop" | "split";

/** The same for all operations of a kind, or a function of the operation. */
export type Trait<O, T> = T | ((op: O) => T);

/**
 * How operations of a kind behave. Of a call, this is what the call does itself: what the callee does is not part of
 * it. Only what depends on nothing but the operation is a trait; questions about an instruction ask its guard and lanes
 * too.
 */
export interface OpTraits<O> {
  readonly control: Trait<O, Control>;
  /** The instructions of the same function to which it may send lanes, other than the next. */
  readonly targets: Trait<O, readonly number[]>;
  /** The accesses to memory, in their order. */
  readonly accesses: Trait<O, readonly MemoryAccess[]>;
  /** Other lanes can notice it, otherwise than by what its accesses write. */
  readonly visible: Trait<O, boolean>;
  /**
   * It, or what the lane does after it, may depend on what other lanes do, otherwise than by what its accesses read.
   */
  readonly sees: Trait<O, boolean>;
  /** May end the launch with a fault. */
  readonly faults: Trait<O, boolean>;
  /** What it does depends on which lanes of the warp execute it together. */
  readonly warp: Trait<O, boolean>;
  /** The group may not go on at once: it waits for others, or lets them go first. */
  readonly suspends: Trait<O, boolean>;
  /** Reads or moves the end of the lane's stack. */
  readonly stack: boolean;
}

/** Shared by all operations that have none, so that asking in a loop allocates nothing. */
const none: readonly never[] = Object.freeze([]);

/** The traits of what computes from registers alone. */
const plain = {
  control: "next",
  targets: none,
  accesses: none,
  visible: false,
  sees: false,
  faults: false,
  warp: false,
  suspends: false,
  stack: false,
} as const satisfies OpTraits<Op>;

/** The traits of what accesses memory, besides the accesses. */
const memory = { ...plain, faults: true } as const;

/** Its target may be wrong, and the stack full. */
const call = { ...plain, control: "call", faults: true } as const;

/** Every kind of operation, with types that tell which values a trait has for which kinds. */
const kinds = {
  pure: plain,
  load: { ...memory, accesses: ({ access, place }) => [{ ordinal: 0, effect: "load", access, place }] },
  store: {
    ...memory,
    accesses: ({ access, place, values }) => [{ ordinal: 0, effect: "store", access, place, values }],
  },
  atomic: {
    ...memory,
    accesses: ({ access, place, combine }) => [{ ordinal: 0, effect: "atomic", access, place, combine }],
  },
  copy: {
    ...memory,
    accesses: ({ from, to }) => [
      { ordinal: 0, effect: "load", ...from },
      // What it stores is in no register.
      { ordinal: 1, effect: "store", ...to, values: none },
    ],
  },
  "commit-copies": plain,
  /** It decides when the lane finds what its copies have written. */
  "await-copies": { ...plain, sees: true },
  "order-products": plain,
  unit: {
    ...plain,
    visible: true,
    sees: true,
    faults: true,
    warp: ({ unit }) => unitTraits[unit.op].warp,
  },
  warp: {
    ...plain,
    control: ({ mask }) => (mask === null ? "next" : "split"),
    visible: true,
    sees: true,
    faults: ({ warp: { op } }) => op === "align",
    warp: true,
    suspends: ({ mask }) => mask !== null,
  },
  activemask: { ...plain, sees: true, warp: true },
  barrier: {
    ...plain,
    control: "split",
    visible: true,
    sees: ({ mode }) => mode !== "arrive",
    faults: true,
    warp: (op) => !isBlockBarrier(op),
    // Lanes of a warp arrive together, and wait for each other to do so.
    suspends: true,
  },
  "cluster-barrier": {
    ...plain,
    control: ({ mode }) => (mode === "wait" ? "split" : "next"),
    visible: true,
    sees: ({ mode }) => mode === "wait",
    faults: true,
    suspends: ({ mode }) => mode === "wait",
  },
  "cluster-poll": { ...plain, visible: true, sees: true, faults: true },
  /** It decides which writes of others the lane's later accesses find. */
  fence: { ...plain, sees: true },
  branch: { ...plain, control: "branch", targets: ({ target }) => [target] },
  "branch-indexed": { ...plain, control: "branch", targets: ({ targets }) => targets, faults: true },
  call,
  "file-call": { ...call, warp: ({ allLanes }) => allLanes },
  "subroutine-call": {
    ...call,
    control: "subroutine",
    // With `registers` it is code of its own, elsewhere.
    targets: ({ target, registers }) => (registers === undefined ? [target] : none),
    warp: ({ allLanes }) => allLanes,
  },
  return: { ...plain, control: "leave" },
  exit: { ...plain, control: "leave" },
  trap: { ...plain, control: "stop", visible: true, faults: true },
  /** Whoever debugs may change anything while the lanes stand there. */
  breakpoint: { ...plain, sees: true },
  alloca: { ...plain, faults: true, stack: true },
  "stack-save": { ...plain, stack: true },
  "stack-restore": { ...plain, stack: true },
  sleep: { ...plain, control: "split", suspends: true },
  nothing: plain,
  /** Never executed: a kernel that can reach it is not launched. */
  unsupported: { ...plain, visible: true, faults: true },
} as const satisfies { readonly [K in Op["kind"]]: OpTraits<OpOf<K>> };

/** Every kind of operation. Adding one without describing it here is a compile error. */
export const opTraits: { readonly [K in Op["kind"]]: OpTraits<OpOf<K>> } = kinds;

/** The values of a trait. */
export type ValueOf<T> = T extends (op: never) => infer V ? V : T;

/** The traits that narrow the type of an operation: see `withTrait`. */
type Narrowing = "control" | "faults";

/** The operations of the kinds for which a trait may have the value V. @internal */
export type OpWith<T extends Narrowing, V extends ValueOf<OpTraits<Op>[T]>> = {
  [K in Op["kind"]]: [Extract<ValueOf<(typeof kinds)[K][T]>, V>] extends [never] ? never : OpOf<K>;
}[Op["kind"]];

/** The value of a trait for an operation. */
export function traitOf<T extends keyof OpTraits<Op>>(op: Op, trait: T): ValueOf<OpTraits<Op>[T]> {
  // Most operations compute and do nothing else: passes over long code ask this first, as the record is slow to index.
  const traits: OpTraits<never> = op.kind === "pure" ? plain : opTraits[op.kind];
  const value = traits[trait] as Trait<Op, unknown>;
  return (typeof value === "function" ? value(op) : value) as ValueOf<OpTraits<Op>[T]>;
}

/** Where the lanes of a group go after an operation. */
export const controlOf = (op: Op): Control => traitOf(op, "control");

/** The instructions of the same function to which an operation may send lanes, other than the next. */
export const targetsIn = (op: Op): readonly number[] => traitOf(op, "targets");

/** Whether an instruction may send lanes back to one that stands before it, or to itself, as the end of a loop does. */
export const leadsBack = ({ op }: Instruction, at: number): boolean => targetsIn(op).some((target) => target <= at);

/** The accesses to memory that an operation makes: none, one or several, each with a number of its own. */
export const accessesOf = (op: Op): readonly MemoryAccess[] => traitOf(op, "accesses");

/** Whether a barrier is the one for all threads of the block, at which each of them counts once. */
export const isBlockBarrier = ({ mode, id, count }: OpOf<"barrier">): boolean =>
  mode === "sync" && count === null && id.kind === "const" && id.value === 0;

// Questions that follow from the traits.

const moving = ["branch", "call", "subroutine", "leave", "split"] as const;
const ending = ["branch", "subroutine", "leave", "stop", "split"] as const;

/** An operation after which a group may be elsewhere, wait or be split. @internal */
export type MovingOp = OpWith<"control", (typeof moving)[number]>;
/** An operation after which a group goes on with the next instruction, if the launch goes on. @internal */
export type StayingOp = OpWith<"control", Exclude<Control, (typeof moving)[number]>>;
/** An operation that ends a basic block. A call of another function comes back, and ends none. @internal */
export type EndingOp = OpWith<"control", (typeof ending)[number]>;
/** An operation that may end the launch with a fault. @internal */
export type FailingOp = OpWith<"faults", true>;

const withControl = <C extends Control>(op: Op, ways: readonly C[]): OpWith<"control", C> | null =>
  (ways as readonly Control[]).includes(controlOf(op)) ? (op as OpWith<"control", C>) : null;

// The operation, with a type that names only the kinds for which it can be so; else null. A `switch` over these is
// exhaustive without a list of all the others.

/** The operation if a group may be elsewhere, wait or be split after it; else null. @internal */
export const movingOp = (op: Op): MovingOp | null => withControl(op, moving);

/** The operation if `movingOp` gives null; else null. @internal */
export const stayingOp = (op: Op): StayingOp | null => (movingOp(op) === null ? (op as StayingOp) : null);

/** The operation if it ends a basic block; else null. @internal */
export const endingOp = (op: Op): EndingOp | null => withControl(op, ending);

/** The operation if it may end the launch with a fault; else null. @internal */
export const failingOp = (op: Op): FailingOp | null => (traitOf(op, "faults") ? (op as FailingOp) : null);

/** Whether a group may be elsewhere, wait or be split after an operation: the engines then choose again what runs. */
export const movesGroup = (op: Op): boolean => movingOp(op) !== null;

/** Whether an operation ends a basic block. */
export const endsBlock = (op: Op): boolean => endingOp(op) !== null;

/** Whether an operation accesses memory that threads of other warps may access too. */
export const touchesSharedMemory = (op: Op): boolean =>
  accessesOf(op).some(({ place, access }) => isShared(place, access));

/** Whether an operation writes memory, if only the lane's own. */
export const writesMemory = (op: Op): boolean => accessesOf(op).some(({ effect }) => effect !== "load");

/**
 * Whether an operation changes more than the registers that it writes: memory, other lanes, the stack, where control
 * is.
 */
export const hasEffect = (op: Op): boolean =>
  traitOf(op, "visible") || traitOf(op, "stack") || movesControl(op) || writesMemory(op);

/** Whether lanes may go on elsewhere than at the next instruction. */
const movesControl = (op: Op): boolean => controlOf(op) !== "next" && controlOf(op) !== "split";

/**
 * Whether a lane does with an operation no more than compute, and go somewhere else in its function or out of it:
 * nothing that involves memory, other lanes, the stack or another function.
 */
export function onlyComputes(op: Op): boolean {
  const control = controlOf(op);
  return (
    (control === "next" || control === "branch" || control === "leave") &&
    !traitOf(op, "visible") &&
    !traitOf(op, "sees") &&
    !traitOf(op, "stack") &&
    accessesOf(op).length === 0
  );
}

/**
 * Whether each lane does an operation for itself and goes on: code for it may be written several times, each for some
 * of the lanes. Not so for atomic operations, whose order among the lanes is fixed.
 */
export const isLanewise = (op: Op): boolean =>
  op.kind === "pure" ||
  (controlOf(op) === "next" &&
    !traitOf(op, "visible") &&
    !traitOf(op, "sees") &&
    !traitOf(op, "stack") &&
    accessesOf(op).every(({ effect }) => effect !== "atomic"));

/**
 * Whether a loop around an operation may be waiting for what other threads do: it reads memory in a way that is meant
 * to see their writes, or lets them run.
 */
export const mayAwaitOthers = (op: Op): boolean =>
  op.kind === "sleep" ||
  op.kind === "cluster-poll" ||
  accessesOf(op).some(
    ({ effect, access }) => effect === "atomic" || (effect === "load" && (access.volatile || access.order !== "weak")),
  );

/** How warp-wide operations of a kind behave. */
export interface WarpTraits<O> {
  /** The operation with its qualifiers: lanes at different instructions can act together if the names are the same. */
  readonly name: (op: O) => string;
  /**
   * The lanes on whose operands the result of a lane depends: none, one that it chooses, or all.
   */
  readonly takes: "nothing" | "one" | "all";
  /** Whether accesses before it are visible to the lanes after it (PTX, section 9.7.13.2). */
  readonly ordersMemory: boolean;
  /** By result, whether all lanes that act together get the same value, whatever they bring. */
  readonly same: Trait<O, readonly boolean[]>;
}

/** The warp-wide operation of a kind. */
export type WarpOpOf<K extends WarpOp["op"]> = Extract<WarpOp, { op: K }>;

const named = ({ op }: WarpOp): string => op;
const withMode = ({ op, mode }: Extract<WarpOp, { mode: string }>): string => `${op}.${mode}`;

/** Every warp-wide operation. Adding one without describing it here is a compile error. */
export const warpTraits: { readonly [K in WarpOp["op"]]: WarpTraits<WarpOpOf<K>> } = {
  shfl: { name: withMode, takes: "one", ordersMemory: false, same: [false, false] },
  vote: { name: withMode, takes: "all", ordersMemory: false, same: [true] },
  match: {
    name: withMode,
    takes: "all",
    ordersMemory: false,
    same: ({ mode }) => (mode === "all" ? [true, true] : [false]),
  },
  redux: { name: named, takes: "all", ordersMemory: false, same: [true] },
  elect: { name: named, takes: "nothing", ordersMemory: false, same: [true, false] },
  sync: { name: named, takes: "nothing", ordersMemory: true, same: [] },
  align: { name: named, takes: "nothing", ordersMemory: false, same: [] },
  arrange: {
    name: named,
    takes: "all",
    ordersMemory: false,
    same: ({ arrangement }) => arrangement.from.map(() => false),
  },
  multiply: {
    name: named,
    takes: "all",
    ordersMemory: false,
    same: ({ product }) => Array<boolean>(fragmentOf(product, "d").registers).fill(false),
  },
};

/**
 * The operation with its qualifiers, as in "shfl.up": lanes at different instructions act together if the names are the
 * same.
 */
export const warpName = (op: WarpOp): string => {
  const { name } = warpTraits[op.op] as WarpTraits<WarpOp>;
  return name(op);
};
