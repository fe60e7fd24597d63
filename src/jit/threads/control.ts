/**
 * The memory through which the threads of the host run one launch together: which blocks are taken, and for each worker
 * a mailbox in which it asks the launching thread for what only that thread can do.
 */

/** Words that all threads use, by number. */
export const word = {
  /** The first block that no thread has taken. */
  next: 0,
  /** The block before which to stop. */
  end: 1,
  /** Blocks that have ended. */
  done: 2,
  /** Counts events for the launching thread, which waits here. */
  events: 3,
  /** Blocks that wait for others and that no thread runs. */
  waiting: 4,
} as const;

/** Words of a mailbox, by number within it. */
export const mail = {
  state: 0,
  /** The number of the function that is called. */
  function: 1,
  /** How many arguments it has. */
  count: 2,
  /** The first of the blocks that the worker runs or is about to take. */
  block: 3,
  /** A bit for each argument, or for the result, that is a 64-bit integer. */
  wide: 4,
  /** Blocks that the worker has run. */
  done: 5,
  /** The context in which the worker continues; 0 if it has none. */
  context: 6,
  /** 1 if it is to resume `block`, which has waited. */
  resumes: 7,
  /** 1 while the worker takes part: it may still ask something. */
  present: 8,
} as const;

/** States of a mailbox. */
export const mailState = {
  empty: 0,
  /** To the launching thread: a function is called. */
  call: 1,
  /** The worker has failed, and cannot continue with its blocks. */
  failure: 2,
  /** The block that the worker runs waits for others. */
  stopped: 3,
  /** There is no block that the worker could begin. */
  free: 4,
  /** To the worker: what it has asked for is done. */
  result: 5,
  /** To the worker: its blocks are given up. */
  stop: 6,
} as const;

/** Room in a mailbox: 64-bit values, and UTF-16 units of a failure's message. */
export const maxValues = 16;
export const maxMessage = 256;

/** Words before the mailboxes, some of them not used yet. */
export const headerWords = 16;
/** Offsets of values and message in a mailbox. */
export const valuesAt = 64;
export const messageAt = valuesAt + 8 * maxValues;
const mailBytes = messageAt + 2 * maxMessage;

/** Where the mailbox of a worker begins, in bytes. */
export const mailAt = (member: number): number => 4 * headerWords + member * mailBytes;

export const controlBytes = (members: number): number => mailAt(members);

/** No block. */
export const noBlock = 0xffff_ffff;
