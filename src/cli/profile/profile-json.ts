import type { CallProfile, Profile } from "../../profiler/index.ts";

/** A profile as JSON; docs/profiler.md has the schema. */
export const profileToJson = ({ lines, functions, calls, ...profile }: Profile) => ({
  launches: profile.launches,
  totals: profile.totals,
  functions: functions.map(({ source, ...f }) => ({ ...f, path: source.path })),
  lines: lines.map(({ source, line, function: name, counts, targets, origin }) => ({
    path: source.path,
    line,
    text: source.line(line).trim(),
    function: name,
    ...(origin === null ? {} : { origin }),
    counts,
    ...(targets.length === 0 ? {} : { targets }),
  })),
  origins: profile.origins,
  calls: flatten(calls),
  callsCut: profile.callsCut,
  timelines: profile.timelines,
});

/**
 * Lists the nodes of the call tree, parents before their children. A tree would be nested deeper than JSON readers
 * allow.
 */
function flatten(roots: readonly CallProfile[]): object[] {
  const list: object[] = [];
  const visit = ({ children, ...node }: CallProfile, parent: number | null): void => {
    const index = list.push({ ...node, parent }) - 1;
    for (const child of children) visit(child, index);
  };
  for (const root of roots) visit(root, null);
  return list;
}
