/**
 * The documents that are one program with a given one: those that need each other, directly or through others. They
 * are in the order of their addresses, the given one last: so a name that two define is a finding in either.
 */
export function programOf<D extends { readonly uri: string }>(
  own: D,
  others: readonly D[],
  needs: (document: D, other: D) => boolean,
): readonly D[] {
  const program = new Set([own]);
  for (const document of program)
    for (const other of others) if (needs(document, other) || needs(other, document)) program.add(other);
  program.delete(own);
  return [...[...program].sort((a, b) => (a.uri < b.uri ? -1 : 1)), own];
}
