/** Brings back what there was when it was made, into the same objects: whoever holds on to them sees the old state. */
export type Restore = () => void;

/** One that does all of these, in their order. */
export const restoreAll =
  (restores: readonly Restore[]): Restore =>
  () => {
    for (const restore of restores) restore();
  };
