import type { Engine, Outcome } from "./engine.ts";
import type { Program } from "./program.ts";

/** How two engines differ on a program. */
export interface Difference {
  readonly kind: "error" | "reports" | "stdout" | "buffer";
  /** One line: where, and what each of them has. */
  readonly message: string;
}

/**
 * Runs a program with both engines, each on a device of its own, and compares all that is left. Null: they agree, or
 * the first says that the program does not end. A program that an engine throws on is a difference, even where both do:
 * the programs that there are can be run.
 */
export function compareEngines(program: Program, a: Engine, b: Engine): Difference | null {
  const outcomes: Outcome[] = [];
  for (const engine of [a, b]) {
    try {
      const outcome = engine.run(program);
      if (outcome.reports.some((report) => report.startsWith("no-progress"))) return null;
      outcomes.push(outcome);
    } catch (error) {
      const message = error instanceof Error ? error.stack : String(error);
      return { kind: "error", message: `${engine.name} throws: ${message}` };
    }
  }
  return compareOutcomes(outcomes[0]!, outcomes[1]!, [a.name, b.name]);
}

/**
 * What sanitizers find where random values and random lanes meet instructions that leave results open for some of them.
 * It ends no launch, and all engines give such results the same bits.
 */
const openResults: ReadonlySet<string> = new Set(["operand-out-of-range", "division-by-zero", "shfl-inactive-source"]);

/** Whether a report of an outcome is only of a result that the manual leaves open. */
export const isOfOpenResult = (report: string): boolean => openResults.has(report.split(" ")[0]!);

export function compareOutcomes(a: Outcome, b: Outcome, [nameA, nameB]: readonly [string, string]): Difference | null {
  const differs = (kind: Difference["kind"], x: string, y: string, where = ""): Difference | null =>
    x === y ? null : { kind, message: `${where}${nameA}: ${x}; ${nameB}: ${y}` };
  const listed = (reports: readonly string[]): string => reports.join(", ") || "no reports";
  const comparable = ({ reports }: Outcome): readonly string[] =>
    a.watched === b.watched ? reports : reports.filter((report) => !isOfOpenResult(report));
  const told =
    differs("reports", listed(comparable(a)), listed(comparable(b))) ??
    differs("stdout", JSON.stringify(a.stdout), JSON.stringify(b.stdout));
  if (told !== null) return told;
  // How far lanes had come that did nothing wrong when a fault ended the launch, nobody promises.
  if (!a.reports.every(isOfOpenResult)) return null;
  for (const [i, bytes] of a.buffers.entries()) {
    const other = b.buffers[i]!;
    const at = bytes.findIndex((byte, j) => byte !== other[j]);
    if (at < 0) continue;
    const word = at - (at % 8);
    return differs("buffer", hex(bytes, word), hex(other, word), `buffer ${i}, byte ${word}: `);
  }
  return null;
}

const hex = (bytes: Uint8Array, at: number): string =>
  "0x" +
  [...bytes.subarray(at, at + 8)]
    .reverse()
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
