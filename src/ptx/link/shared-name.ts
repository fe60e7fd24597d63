import type { DiagnosticDetails, Severity } from "../../source/index.ts";
import { disagreement } from "./agreement.ts";
import type { LinkCode } from "./codes.ts";
import { type Entry, isDefinition, type LinkableModule, outranks, pathOf } from "./entries.ts";

/** What is wrong with a module's entry of a name that it shares with others. */
export interface SharedFinding<M extends LinkableModule> extends Pick<DiagnosticDetails, "help"> {
  readonly entry: Entry<M>;
  readonly severity: Severity;
  readonly code: LinkCode;
  readonly message: string;
  /** The entry with which it does not agree; null if it is by itself that the entry is wrong. */
  readonly other: Entry<M> | null;
}

/** A name that modules share, resolved. */
export interface SharedName<M extends LinkableModule> {
  /** The entry that all modules use. */
  readonly kept: Entry<M>;
  /** In the order of the modules. */
  readonly findings: readonly SharedFinding<M>[];
}

/**
 * Resolves a name that modules share as nvlink does (11.6). `entries`: its entries in the order of the modules, at
 * least one. `isProvided`: whether the runtime has a function of a name that no module defines.
 */
export function resolveShared<M extends LinkableModule>(
  entries: readonly Entry<M>[],
  isProvided: (name: string) => boolean,
): SharedName<M> {
  const definition = definitionOf(entries);
  const kept = definition ?? substituteFor(entries);
  const findings: SharedFinding<M>[] = [];
  const { kind, name } = kept.symbol;
  if (definition === null && kept.binding === "extern" && (kind !== "function" || !isProvided(name)))
    findings.push(unresolved(kept));
  for (const entry of entries) {
    const found = entry === kept ? null : compared(entry, kept);
    if (found !== null) findings.push(found);
  }
  return { kept, findings };
}

function definitionOf<M extends LinkableModule>(entries: readonly Entry<M>[]): Entry<M> | null {
  let best: Entry<M> | null = null;
  for (const entry of entries) {
    if (isDefinition(entry) && (best === null || outranks(entry, best))) best = entry;
  }
  return best;
}

/** The entry to use for a name that no module defines: a function of the runtime, or dynamic shared memory. */
function substituteFor<M extends LinkableModule>(entries: readonly Entry<M>[]): Entry<M> {
  const wanting = entries.find(({ binding }) => binding === "extern");
  if (wanting !== undefined) return wanting;
  const align = ({ symbol }: Entry<M>): number => (symbol.kind === "variable" ? symbol.align : 0);
  return entries.reduce((best, entry) => (align(entry) > align(best) ? entry : best));
}

/** The finding about a name that a module declares and none defines. */
export function unresolved<M extends LinkableModule>(entry: Entry<M>): SharedFinding<M> {
  const { symbol, binding } = entry;
  const what = symbol.kind === "variable" ? "variable" : symbol.entry ? "kernel" : "function";
  const isMissing = binding === "missing";
  return {
    entry,
    severity: "error",
    code: "unresolved-symbol",
    message: isMissing
      ? `this module declares the ${what} '${symbol.name}' without .extern, but does not define it`
      : `no module defines the ${what} '${symbol.name}'`,
    help: isMissing ? "write `.extern` if another module defines it" : undefined,
    other: null,
  };
}

function compared<M extends LinkableModule>(entry: Entry<M>, kept: Entry<M>): SharedFinding<M> | null {
  const { name } = entry.symbol;
  if (entry.binding === "strong" && kept.binding === "strong") {
    const message = `'${name}' is already defined in ${pathOf(kept)}`;
    const help = "only one module may define it `.visible`; leave the word out to keep the name within the module";
    return { entry, severity: "error", code: "duplicate-symbol", message, help, other: kept };
  }
  const found = disagreement(entry, kept);
  if (found === null) return null;
  const { code, severity, here, there } = found;
  return { entry, severity, code, message: `'${name}' ${here} here but ${there} in ${pathOf(kept)}`, other: kept };
}
