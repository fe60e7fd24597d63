/** Options of a timeline. */
export interface TimelineOptions {
  /** The least number of instructions between two checkpoints. Default: 100 000. */
  readonly checkpointEvery?: number;
  /** The most bytes that checkpoints may occupy. Default: 512 MiB. */
  readonly checkpointBytes?: number;
}
