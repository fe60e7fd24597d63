/**
 * Words of an activation that waits, behind which it keeps what it goes on with: the next one that waits at the same call, or is free;
 * the function's place in the program; a bit for each lane that waits; and for what.
 */
export const activationWords = { next: 0, callee: 4, lanes: 8, reason: 12 } as const;

/** Bytes in which a chunk's state says what it is. */
export const stateHeaderBytes = 16;

/** Behind the word that says it: what the predicates at a reducing barrier have come to. */
export const reductionWords = { popc: 4, and: 8, or: 12 } as const;

/** What a chunk's state says first; from `meetings` on, the barrier at which its lanes have met. */
export const chunkState = { fresh: 0, atBarrier: 1, yielded: 2, ended: 3, released: 4, meetings: 5 } as const;
