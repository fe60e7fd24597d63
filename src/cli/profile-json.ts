import type { CallProfile, Profile } from "../profiler/index.ts";

/** docs/profiler.md documents it. */
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
  calls: calls.flatMap((tree) => flatten(tree)),
  callsCut: profile.callsCut,
  timelines: profile.timelines,
});

/** A recursion may be deeper than readers of JSON go: nodes in a list, each with the path that led to it. */
function flatten(node: CallProfile, path: readonly string[] = []): object[] {
  const { function: name, children, ...costs } = node;
  const here = [...path, name];
  return [{ path: here, ...costs }, ...children.flatMap((child) => flatten(child, here))];
}
