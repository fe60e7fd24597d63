/** Restores the state at the time when it was made, in the same objects: references to them stay valid. */
export type Restore = () => void;

/** Combines several into one, in their order. */
export const restoreAll =
  (restores: readonly Restore[]): Restore =>
  () => {
    for (const restore of restores) restore();
  };
