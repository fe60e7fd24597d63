import type { Report } from "../../machine/reports/report.ts";
import { version } from "../../node/version.ts";
import {
  type Finding,
  findingOfDiagnostic,
  findingOfReport,
  type Judged,
  parseRule,
  parseSuppressions,
  sarifLog,
  type Suppression,
  SuppressionError,
  Suppressions,
} from "../../reports/index.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import type { JobResult } from "../../runtime/job/job-result.ts";
import { type CodePage, type Diagnostic, nearest, type Severity, type SourceText } from "../../source/index.ts";
import { readText, writeBytes } from "../terminal/files.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Options, OptionSpec } from "./options.ts";

export const findingOptions: readonly OptionSpec[] = [
  { name: "allow", value: "RULE", repeats: true, help: "do not report this: CODE [PATH[:LINE[-LINE]]] [in FUNCTION]" },
  { name: "suppress", value: "FILE", repeats: true, file: "read", help: "a file with such rules, one per line" },
  { name: "fail-on", value: "SEVERITY", help: "fail at this severity: error, warning or never (default: error)" },
  { name: "sarif", value: "FILE", file: "written", help: "write the findings as SARIF 2.1.0, for code scanning" },
  { name: "report", value: "FILE", file: "written", help: "write the findings as an HTML page" },
];

export type FailOn = Severity | "never";

/** The findings of a command: applies suppressions and writes the files that were asked for. */
export class Findings {
  readonly failOn: FailOn;
  readonly #suppressions: Suppressions;
  readonly #found: Judged[] = [];
  readonly #sarif: string | null;
  readonly #page: string | null;

  /** @throws UsageError if rules cannot be parsed */
  constructor(options: Options, { readOrigin }: Pick<Terminal, "readOrigin">) {
    this.failOn = options.oneOf("fail-on", ["error", "warning", "never"]) ?? "error";
    this.#suppressions = new Suppressions(rulesOf(options), readOrigin);
    this.#sarif = options.value("sarif");
    this.#page = options.value("report");
  }

  /** Whether a rule suppresses a report. Does not count the report as found. */
  readonly suppresses = (report: Report): boolean => this.#suppressions.find(findingOfReport(report)) !== null;

  /** Adds diagnostics, and returns those that are not suppressed. `sources` are searched for suppressing comments. */
  addDiagnostics(diagnostics: readonly Diagnostic[], sources: readonly SourceText[] = []): readonly Diagnostic[] {
    for (const source of sources) this.#suppressions.read(source);
    return diagnostics.filter((d) => this.#add(findingOfDiagnostic(d)) === null);
  }

  /** Adds the reports of a run and the errors of its program. */
  addRun({ reports, suppressed, diagnostics }: JobResult): void {
    for (const d of diagnostics) this.#suppressions.read(d.source);
    for (const d of diagnostics) if (d.severity === "error") this.#add(findingOfDiagnostic(d));
    for (const report of [...reports, ...suppressed]) this.#add(findingOfReport(report));
  }

  /** Whether a finding of this severity affects the exit status. */
  counts = (severity: Severity): boolean =>
    this.failOn === "warning" || (this.failOn === "error" && severity === "error");

  /**
   * Writes the files, and reports rules that suppressed nothing on stderr. `completed` says whether the command did
   * everything it was asked to.
   */
  async finish({ of, completed }: { readonly of: "check" | "run"; readonly completed: boolean }, terminal: Terminal) {
    const files = this.#sarif !== null || this.#page !== null;
    if (!files && !this.#suppressions.any) return;
    // The catalogues are large, so they are loaded only if needed.
    const { catalogues } = await import("./catalogues.ts");
    const possible = catalogues.filter((c) => c.of === of).flatMap((c) => Object.keys(c.codes));
    for (const { origin, code } of this.#suppressions.unused(possible)) {
      terminal.err(`lanewise: ${origin}: "${code}" suppresses nothing`);
    }
    const codes = catalogues.flatMap((c) => Object.keys(c.codes));
    for (const { origin, code } of this.#suppressions.impossible(codes)) {
      const meant = nearest(code, codes);
      terminal.err(`lanewise: ${origin}: there is no code "${code}"${meant ? `; did you mean "${meant}"?` : ""}`);
    }
    if (!files) return;
    const all = new Map<string, CodePage>(catalogues.flatMap(({ codes }) => Object.entries(codes)));
    const page = (code: string): CodePage | undefined => all.get(code);
    if (this.#sarif !== null) {
      const log = sarifLog(this.#found, { version: version(), page, completed, readOrigin: terminal.readOrigin });
      writeBytes(this.#sarif, `${JSON.stringify(log, null, 2)}\n`);
    }
    if (this.#page !== null) {
      const { findingPage } = await import("./finding-page.ts");
      writeBytes(
        this.#page,
        findingPage(this.#found, {
          title: `What lanewise ${of} found`,
          page,
          readOrigin: terminal.readOrigin,
        }),
      );
    }
  }

  #add(finding: Finding): Suppression | null {
    const suppression = this.#suppressions.find(finding);
    this.#found.push({ finding, suppression });
    return suppression;
  }
}

function rulesOf(options: Options): Suppression[] {
  try {
    return [
      ...options.all("allow").map((text) => parseRule(text, "--allow")),
      ...options.all("suppress").flatMap((path) => parseSuppressions(readText(path))),
    ];
  } catch (error) {
    if (error instanceof SuppressionError) throw new UsageError(error.message);
    throw error;
  }
}
