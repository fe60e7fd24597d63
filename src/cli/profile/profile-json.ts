import { signatureOf } from "../../names/index.ts";
import type { CallProfile, Profile } from "../../profiler/index.ts";
import { type Origin, originToJson } from "../../source/index.ts";

const sourceOf = (chain: Origin | null) => {
  const source = originToJson(chain);
  return source === null ? {} : { source };
};

/** A profile as JSON; docs/profiler.md has the schema. */
export const profileToJson = ({ lines, functions, calls, ...profile }: Profile) => ({
  launches: profile.launches.map(({ kernel, ...launch }) => ({ kernel, kernelName: signatureOf(kernel), ...launch })),
  totals: profile.totals,
  functions: functions.map(({ source, name, ...f }) => ({
    name,
    functionName: signatureOf(name),
    ...f,
    path: source.path,
  })),
  lines: lines.map(({ source, line, function: name, counts, targets, origin, chain }) => ({
    path: source.path,
    line,
    text: source.line(line).trim(),
    function: name,
    functionName: signatureOf(name),
    ...(origin === null ? {} : { origin }),
    ...sourceOf(chain),
    counts,
    ...(targets.length === 0 ? {} : { targets }),
  })),
  origins: profile.origins,
  sources: profile.sources.map(({ path, line, counts }) => ({ path, line, counts })),
  calls: flatten(calls),
  callsCut: profile.callsCut,
  timelines: profile.timelines.map(({ kernel, ...timeline }) => ({
    kernel,
    kernelName: signatureOf(kernel),
    ...timeline,
  })),
});

/**
 * Lists the nodes of the call tree, parents before their children. A tree would be nested deeper than JSON readers
 * allow.
 */
function flatten(roots: readonly CallProfile[]): object[] {
  const list: object[] = [];
  const visit = ({ children, ...node }: CallProfile, parent: number | null): void => {
    const index = list.push({ ...node, functionName: signatureOf(node.function), parent }) - 1;
    for (const child of children) visit(child, index);
  };
  for (const root of roots) visit(root, null);
  return list;
}
