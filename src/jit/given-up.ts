/** Compiled code cannot go on, and says why. The interpreter can, from the beginning. */
export class GivenUp extends Error {}

/** The host's function that gives a launch up: `giveUp()`. */
export const giveUpImport = "giveUp";
