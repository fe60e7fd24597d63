import { displayName, matchName, nameHints, signatureOf } from "../../names/index.ts";
import { nearest } from "../../source/index.ts";
import { UsageError } from "../data/errors.ts";

/** The most kernels that a message lists. */
const mostListed = 20;

function listed(kernels: readonly string[]): string {
  const short = kernels.map(displayName);
  // What tells two kernels apart may be what a short name leaves out.
  const names = kernels.map((kernel, i) =>
    short.some((other, j) => j !== i && other === short[i]) ? signatureOf(kernel) : short[i]!,
  );
  const shown = names.slice(0, mostListed).map((name) => `\n  ${name}`);
  const more = kernels.length - shown.length;
  return shown.join("") + (more > 0 ? `\n  and ${more} more` : "");
}

/**
 * Returns the name of the one kernel that a user means: by its mangled name, its name in C++, with or without scopes
 * and template arguments, or its whole signature. Without a name it is the only kernel.
 *
 * @throws UsageError that lists the kernels if it is none of them or several
 */
export function findKernel(kernels: readonly string[], wanted: string | undefined): string {
  if (kernels.length === 0) throw new UsageError("the program has no kernel");
  if (wanted === undefined) {
    if (kernels.length === 1) return kernels[0]!;
    throw new UsageError(`which kernel? There are ${kernels.length}:${listed(kernels)}`);
  }
  const found = matchName(wanted, kernels);
  if (found.length === 1) return found[0]!;
  if (found.length > 1) throw new UsageError(`"${wanted}" may be one of ${found.length} kernels:${listed(found)}`);
  const meant = nearest(wanted, kernels.flatMap(nameHints));
  const hint = meant === null ? "" : `; did you mean "${meant}"?`;
  const there = kernels.length === 1 ? "The only one is" : `There are ${kernels.length}:`;
  const list = kernels.length === 1 ? ` ${displayName(kernels[0]!)}` : listed(kernels);
  throw new UsageError(`there is no kernel "${wanted}"${hint === "" ? ". " : `${hint} `}${there}${list}`);
}
