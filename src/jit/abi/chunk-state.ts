/**
 * Words at the beginning of a suspended frame, before what its activation resumes with: the next frame that is
 * suspended at the same call, or is free; the function's number in the program; a bit for each suspended lane; and what
 * these wait for.
 */
export const suspendedFrameWords = { next: 0, callee: 4, lanes: 8, reason: 12 } as const;

/** Bytes at the beginning of a chunk's state, before the registers that it keeps. */
export const stateHeaderBytes = 16;

/** After the word with the state: results of a barrier that reduces predicates. */
export const reductionWords = { popc: 4, and: 8, or: 12 } as const;

/** The first word of a chunk's state; from `uniformBarriers` on, the uniform barrier at which it is. */
export const chunkState = { fresh: 0, atBarrier: 1, yielded: 2, ended: 3, released: 4, uniformBarriers: 5 } as const;
