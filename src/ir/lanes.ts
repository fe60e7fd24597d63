/** A range of lanes. */
export interface Lanes {
  readonly first: number;
  readonly count: number;
}

/**
 * The lanes that an instruction applies to, where these are not all of the group (vISA). With `noMask` it executes in
 * them whether or not they are active. `uniform`: control moves all lanes of the group or none, as bit `first` of the
 * guard says.
 */
export interface LaneRule extends Lanes {
  readonly noMask: boolean;
  readonly uniform: boolean;
}

/** The 32 lanes of a warp. */
export const allLanes: Lanes = { first: 0, count: 32 };

/** The lanes as a mask: bit l is lane l. */
export const maskOf = ({ first, count }: Lanes): number => (count === 32 ? -1 : ((1 << count) - 1) << first);
