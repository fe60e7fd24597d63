/**
 * Multiprocessors of a device that a green context may have: all, or a part of them. How many there are is all that is
 * known of them: kernels run on none.
 */
export class MultiprocessorSet {
  readonly device: number;
  readonly count: number;
  /** Whether it is made of groups that are guaranteed to run the blocks of a cluster together. */
  readonly isCoscheduled: boolean;
  /** The set of which it is a part, as one division has made it; null for one that can be divided. */
  readonly origin: MultiprocessorSet | null;

  constructor(about: {
    readonly device: number;
    readonly count: number;
    readonly isCoscheduled?: boolean;
    readonly origin?: MultiprocessorSet;
  }) {
    this.device = about.device;
    this.count = about.count;
    this.isCoscheduled = about.isCoscheduled ?? true;
    this.origin = about.origin ?? null;
  }
}
