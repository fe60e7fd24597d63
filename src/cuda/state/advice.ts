/** Locations by number: a device, or the host; -2 for none. */
export const noLocation = -2;
export const hostLocation = -1;

/** How a program has said that it uses managed memory. It is where all see it in any case. */
export class Advice {
  isReadMostly = false;
  preferred: number = noLocation;
  prefetched: number = noLocation;
  readonly accessedBy = new Set<number>();
}
