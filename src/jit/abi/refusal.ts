/**
 * Thrown when compiled code cannot continue; the interpreter repeats the launch from the beginning. The message says
 * why.
 */
export class GivenUp extends Error {}

/** Thrown when all blocks wait forever: the interpreter, which repeats the launch, says who waits where. */
export class Stalled extends GivenUp {}

/** Thrown when a kernel has something that is not compiled; the interpreter can run it. The message says what. */
export class Unsupported extends Error {}

/** How a refusal begins where the compiler itself has failed, in a way that it should not. */
export const compilerMistake = "a mistake in the compiler, which its authors would like to know";
