/** The JIT cannot compile something, and says what; the interpreter can run it. */
export class Unsupported extends Error {}
