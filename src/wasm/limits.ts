/** The limits that all hosts share, from the JavaScript interface of WebAssembly (Implementation-defined Limits). */
export const limits = { functionBytes: 7_654_321, locals: 50_000, brTableLabels: 65_520 } as const;

/** A function is larger than hosts accept. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
}
