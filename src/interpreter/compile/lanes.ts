/** The lanes of a mask for which something holds. */
export function lanesWhere(mask: number, holds: (lane: number) => boolean): number {
  let found = 0;
  for (let m = mask; m !== 0; m &= m - 1) {
    const lane = 31 - Math.clz32(m & -m);
    if (holds(lane)) found |= 1 << lane;
  }
  return found;
}

/** The same value in all lanes of a mask. */
export function fillLanes(file: Int32Array, base: number, mask: number, value: number): void {
  for (let m = mask; m !== 0; m &= m - 1) file[base + 31 - Math.clz32(m & -m)] = value;
}
