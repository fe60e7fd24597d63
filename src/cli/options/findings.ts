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
import type { JobResult } from "../../runtime/job/job-execution.ts";
import { type CodePage, type Diagnostic, nearest, type Severity, type SourceText } from "../../source/index.ts";
import { readText, writeBytes } from "../terminal/files.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Options, OptionSpec } from "./options.ts";

export const findingOptions: readonly OptionSpec[] = [
  { name: "allow", value: "RULE", repeats: true, help: "do not report this: CODE [PATH[:LINE[-LINE]]] [in FUNCTION]" },
  { name: "suppress", value: "FILE", repeats: true, file: "read", help: "a file with such rules, one to a line" },
  { name: "fail-on", value: "SEVERITY", help: "what makes the exit status: error, warning or never (default: error)" },
  { name: "sarif", value: "FILE", file: "written", help: "write what was found as SARIF 2.1.0, for code scanning" },
  { name: "report", value: "FILE", file: "written", help: "write what was found as a page of HTML" },
];

export type FailOn = Severity | "never";

/** What becomes of what a command finds: what is suppressed, and the files into which it goes. */
export class Findings {
  readonly failOn: FailOn;
  readonly #suppressions: Suppressions;
  readonly #found: Judged[] = [];
  readonly #sarif: string | null;
  readonly #page: string | null;

  /** @throws UsageError where rules cannot be read */
  constructor(options: Options) {
    this.failOn = options.oneOf("fail-on", ["error", "warning", "never"]) ?? "error";
    this.#suppressions = new Suppressions(rulesOf(options));
    this.#sarif = options.value("sarif");
    this.#page = options.value("report");
  }

  /** Whether a report is not to be heard of; it is not counted yet. */
  readonly suppresses = (report: Report): boolean => this.#suppressions.find(findingOfReport(report)) !== null;

  /** Takes note of diagnostics, and returns those that are not suppressed. */
  addDiagnostics(diagnostics: readonly Diagnostic[], sources: readonly SourceText[] = []): readonly Diagnostic[] {
    for (const source of sources) this.#suppressions.read(source);
    return diagnostics.filter((d) => this.#add(findingOfDiagnostic(d)) === null);
  }

  /** Takes note of what a run has reported, and of the errors of its program. */
  addRun({ reports, suppressed, diagnostics }: JobResult): void {
    for (const d of diagnostics) this.#suppressions.read(d.source);
    for (const d of diagnostics) if (d.severity === "error") this.#add(findingOfDiagnostic(d));
    for (const report of [...reports, ...suppressed]) this.#add(findingOfReport(report));
  }

  /** Whether something counts against the exit status. */
  counts = (severity: Severity): boolean =>
    this.failOn === "warning" || (this.failOn === "error" && severity === "error");

  /** Writes the files, and says on stderr which rules have suppressed nothing. `completed`: whether all was done. */
  async finish({ of, completed }: { readonly of: "check" | "run"; readonly completed: boolean }, terminal: Terminal) {
    const files = this.#sarif !== null || this.#page !== null;
    if (!files && !this.#suppressions.any) return;
    // All pages together are large.
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
      const log = sarifLog(this.#found, { version: version(), page, completed });
      writeBytes(this.#sarif, `${JSON.stringify(log, null, 2)}\n`);
    }
    if (this.#page !== null) {
      const { findingPage } = await import("./finding-page.ts");
      writeBytes(this.#page, findingPage(this.#found, { title: `What lanewise ${of} found`, page }));
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
