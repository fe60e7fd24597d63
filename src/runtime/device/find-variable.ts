import type { Variable } from "../../ir/index.ts";
import { displayName, matchName, nameHints } from "../../names/index.ts";
import { nearest } from "../../source/index.ts";
import { UsageError } from "../data/errors.ts";

/** The most variables that a message lists. */
const maxListed = 12;

const listed = (names: readonly string[]): string => {
  const shown = names.slice(0, maxListed).map((name) => `"${displayName(name)}"`);
  return `${shown.join(", ")}${names.length > maxListed ? ", ..." : ""}`;
};

/**
 * Returns the `.global` or `.const` variable that a user means: by its name in the program, or its name in C++ with or
 * without scopes.
 *
 * @throws UsageError if there is none or there are several, or if it is in shared memory
 */
export function findVariable(variables: readonly Variable[], wanted: string): Variable {
  const names = variables.map(({ name }) => name);
  const found = matchName(wanted, names);
  if (found.length > 1) throw new UsageError(`"${wanted}" may be one of ${found.length} variables: ${listed(found)}`);
  const variable = variables.find(({ name }) => name === found[0]);
  if (variable?.space === "shared") {
    throw new UsageError(`variable "${wanted}" is in shared memory, which each block has anew`);
  }
  if (variable !== undefined) return variable;
  const accessible = variables.filter(({ space }) => space !== "shared").map(({ name }) => name);
  const meant = nearest(wanted, accessible.flatMap(nameHints));
  const there = accessible.length === 0 ? "the program has none" : `there is ${listed(accessible)}`;
  throw new UsageError(`there is no variable "${wanted}"; ${meant === null ? there : `did you mean "${meant}"?`}`);
}
