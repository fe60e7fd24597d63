/** Compiled code cannot go on, and says why. The interpreter can, from the beginning. */
export class GivenUp extends Error {}

/** What compiled code cannot hold: too many activations, or lanes in more places than there is room for. */
export const tooDeep = "calls that nest too deeply, or part lanes that wait for each other";

/** The JIT cannot compile something, and says what; the interpreter can run it. */
export class Unsupported extends Error {}
