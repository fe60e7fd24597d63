/**
 * The memory through which the threads of the host run one launch together: which blocks are taken, and for each worker a
 * mailbox in which it asks the launching thread for what only that can do.
 */

/** Words that all threads use, by number. */
export const word = {
  /** The first block that nobody has taken. */
  next: 0,
  /** The block before which to stop; 0 after a failure. */
  end: 1,
  /** Blocks that have ended. */
  done: 2,
  /** Counts what the launching thread should look at. It waits here. */
  events: 3,
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
} as const;

/** What a mailbox says. */
export const mailState = { empty: 0, call: 1, failure: 2, result: 3, stop: 4 } as const;

/** Values of 64 bits that a mailbox has room for, and UTF-16 units of the message of a failure. */
export const mostValues = 16;
export const longestMessage = 256;

/** Room for the words, and for what may still come. */
export const headerWords = 16;
const mailBytes = 32 + 8 * mostValues + 2 * longestMessage;

/** Where the mailbox of a worker begins, in bytes. */
export const mailAt = (member: number): number => 4 * headerWords + member * mailBytes;
/** Where in it values and the message lie. */
export const valuesAt = 32;
export const messageAt = valuesAt + 8 * mostValues;

export const controlBytes = (members: number): number => mailAt(members);

/** No block. */
export const noBlock = 0xffff_ffff;
