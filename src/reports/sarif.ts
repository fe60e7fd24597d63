import type { CodePage, SourceText, Span } from "../source/index.ts";
import type { Finding } from "./finding.ts";
import type { Suppression } from "./suppressions.ts";

/** A finding, and the rule that suppresses it, or null. */
export interface Judged {
  readonly finding: Finding;
  readonly suppression: Suppression | null;
}

/** What a SARIF log says besides its findings. */
export interface SarifOptions {
  /** The version of Lanewise. */
  readonly version: string;
  /** Returns the catalogue page of a code. */
  readonly page: (code: string) => CodePage | undefined;
  /** Whether the check or the run was completed. */
  readonly completed: boolean;
}

/** Returns a log in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS), as plain data for JSON. */
export function sarifLog(found: readonly Judged[], { version, page, completed }: SarifOptions) {
  const codes = [...new Set(found.map(({ finding }) => finding.code))].sort();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0" as const,
    runs: [
      {
        tool: {
          driver: { name: "Lanewise", semanticVersion: version, rules: codes.map((id) => ruleOf(id, page(id))) },
        },
        columnKind: "utf16CodeUnits" as const,
        invocations: [{ executionSuccessful: completed }],
        results: found.map(({ finding, suppression }) => resultOf(finding, suppression, codes.indexOf(finding.code))),
      },
    ],
  };
}

function ruleOf(id: string, page: CodePage | undefined) {
  if (page === undefined) return { id };
  return {
    id,
    shortDescription: { text: page.title },
    fullDescription: { text: page.page },
    help: { text: page.page },
  };
}

function resultOf(f: Finding, suppression: Suppression | null, ruleIndex: number) {
  const related = f.notes.map(({ message, source = f.source, span }) => ({
    message: { text: message },
    ...(span === undefined ? {} : { physicalLocation: physicalLocation(source, span) }),
  }));
  return {
    ruleId: f.code,
    ruleIndex,
    level: f.severity,
    message: { text: sentence(f) },
    locations: [
      {
        physicalLocation: physicalLocation(f.source, f.span),
        ...(f.function === null ? {} : { logicalLocations: [{ name: f.function, kind: "function" }] }),
      },
    ],
    partialFingerprints: { "lanewise/v1": fingerprint(f) },
    ...(related.length === 0 ? {} : { relatedLocations: related.map((location, id) => ({ id, ...location })) }),
    ...(f.run === null ? {} : runOf(f, f.run)),
    ...(suppression === null ? {} : { suppressions: [{ kind: suppression.kind, justification: suppression.origin }] }),
  };
}

function runOf(f: Finding, { kernel, threads, count, stack, location }: NonNullable<Finding["run"]>) {
  const frames = stack.map(({ function: name, source, span }) => ({
    location: {
      physicalLocation: physicalLocation(source, span),
      logicalLocations: [{ name, kind: "function" }],
    },
  }));
  return {
    ...(frames.length === 0 ? {} : { stacks: [{ message: { text: `in kernel ${kernel}` }, frames }] }),
    properties: {
      kernel,
      threads,
      count,
      ...(location === null ? {} : { origin: location }),
      line: f.source.line(lineOf(f)),
    },
  };
}

const lineOf = ({ source, span }: Finding): number => source.position(span.start).line;

/** Includes the help, because viewers show only this message, and ends with the full stop that the format asks for. */
const sentence = ({ message, help }: Finding): string => {
  const text = help === null ? message : `${message}. ${help.charAt(0).toUpperCase()}${help.slice(1)}`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};

function physicalLocation(source: SourceText, span: Span) {
  const start = source.position(span.start);
  const end = source.position(Math.max(span.end, span.start + 1));
  return {
    artifactLocation: { uri: uriOf(source.path) },
    region: { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column },
  };
}

/** Relative paths stay relative: viewers resolve them against the repository. */
function uriOf(path: string): string {
  const slashes = path.replaceAll("\\", "/");
  const encoded = slashes.split("/").map(encodeURIComponent).join("/");
  if (/^[A-Za-z]:\//.test(slashes)) return `file:///${encoded.replace("%3A", ":")}`;
  return slashes.startsWith("/") ? `file://${encoded}` : encoded.replace(/^(?:\.\/)+/, "");
}

/**
 * Returns a fingerprint that stays the same when lines above the finding change: it depends on the text of the line,
 * not its number (FNV-1a, 64 bits).
 */
function fingerprint(f: Finding): string {
  const text = `${f.code} ${f.source.path} ${f.function ?? ""} ${f.source.line(lineOf(f)).trim()}`;
  let hash = 0xcbf2_9ce4_8422_2325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100_0000_01b3n);
  }
  return hash.toString(16).padStart(16, "0");
}
