/** The map under a key, which is made when it is first asked for. */
export function mapIn<M, K, T>(maps: Map<M, Map<K, T>>, key: M): Map<K, T> {
  let found = maps.get(key);
  if (found === undefined) maps.set(key, (found = new Map()));
  return found;
}

/** What is noted of a kernel, an instruction or the like, under a key: it is found when it is first asked for. */
export function noted<N, T>(notes: Map<N, Map<string, T>>, of: N, key: string, find: () => T): T {
  const own = mapIn(notes, of);
  let found = own.get(key);
  if (found === undefined) own.set(key, (found = find()));
  return found;
}
