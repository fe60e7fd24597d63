/**
 * The host's functions for barriers that it counts. `arrive(context, site, id, count, lanes, votes)`: a chunk has come; 1 where it can
 * go on, else it pauses. `settle(context, yielded)`: chunks have ended or wait, all others have only given way, if any.
 */
export const barrierImports = { arrive: "arriveAtBarrier", settle: "settleBarriers" } as const;

/** The host's function that does what functions without a body do: `external(context, site, lanes)`. */
export const externalImport = "external";

/** The host's function that ends the launch: `fault(context, site, lanes)`. */
export const faultImport = "fault";

/** The host's function that ends the launch when there is no stack left: `stackOverflow(context, lanes)`. */
export const stackOverflowImport = "stackOverflow";

/** The one that is told when an activation begins whose lanes may take more of their stacks: `openStack(context)`. */
export const openStackImport = "openStack";

/** The host's functions for lanes that wait: `gather(context, site, lanes)`, `settle(context)`, `deadlock(context)`. */
export const gatherImports = { gather: "gather", settle: "settle", deadlock: "deadlock" } as const;

/** The host's function that gives a launch up: `giveUp()`. */
export const giveUpImport = "giveUp";

/** The host's function that reads the clock: every call gives another time. */
export const clockImport = "clock";

/** The host's function that does what these operations do: `stack(context, site, lanes)`. */
export const stackImport = "stack";

/** The host's function that fills the byte file of a thread which begins: of a context, at a byte of memory. */
export const threadImport = "startThread";

/** The host's function that looks up a surface: for a site of a context, by its index, in some lanes. */
export const surfaceImport = "surface";
