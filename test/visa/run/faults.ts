import type { Fault } from "./faults/fault.ts";
import { numbersIn, readEntries } from "./program-file.ts";

const faultsOf = (family: string): readonly Fault[] =>
  readEntries(new URL(`faults/${family}.txt`, import.meta.url)).map((entry) => {
    const platform = entry.field("platform");
    return {
      ...entry,
      ...(numbersIn(entry, "width", "items", "group", "maxSteps") as Pick<Fault, "width" | "items" | "group">),
      ...(platform === undefined ? {} : { platform }),
      report: entry.field("report")!,
      threads: entry.field("threads")!,
      stack: (entry.field("stack") ?? "k").split(" "),
      says: entry.all("says"),
    };
  });

/** The programs that fail, family by family. */
export const faults = {
  addresses: faultsOf("addresses"),
  branches: faultsOf("branches"),
  sizes: faultsOf("sizes"),
  stacks: faultsOf("stacks"),
  returns: faultsOf("returns"),
  memory: faultsOf("memory"),
  threads: faultsOf("threads"),
  races: faultsOf("races"),
  unwritten: faultsOf("unwritten"),
} as const;
