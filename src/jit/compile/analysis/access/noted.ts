/** What is known of a kernel, an instruction or the like: it is found when it is first asked for. */
export function foundOnce<K, T>(known: Map<K, T>, of: K, find: () => T): T {
  let found = known.get(of);
  if (found === undefined) known.set(of, (found = find()));
  return found;
}

/** The map under a key, which is made when it is first asked for. */
export const mapIn = <M, K, T>(maps: Map<M, Map<K, T>>, key: M): Map<K, T> =>
  foundOnce(maps, key, () => new Map<K, T>());

/** What is noted of a kernel, an instruction or the like, under a key: it is found when it is first asked for. */
export const noted = <N, T>(notes: Map<N, Map<string, T>>, of: N, key: string, find: () => T): T =>
  foundOnce(mapIn(notes, of), key, find);
