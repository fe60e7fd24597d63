import { demangle, displayName, readable, signatureOf } from "../names/index.ts";
import {
  type CodePage,
  headOf,
  type Origin,
  type OriginPlace,
  type ReadOrigin,
  type SourceText,
  type Span,
} from "../source/index.ts";
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
  /** Finds the source that programs were compiled from, for its paths. */
  readonly readOrigin?: ReadOrigin | undefined;
}

/** Returns a log in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS), as plain data for JSON. */
export function sarifLog(found: readonly Judged[], options: SarifOptions) {
  const { version, page, completed } = options;
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
        results: found.map(({ finding, suppression }) => ({
          ...resultOf(finding, suppression, new Places(options.readOrigin)),
          ruleIndex: codes.indexOf(finding.code),
        })),
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

/** Places as SARIF has them: in the source that the program was compiled from, if that is known. */
class Places {
  readonly #readOrigin: ReadOrigin | undefined;

  constructor(readOrigin: ReadOrigin | undefined) {
    this.#readOrigin = readOrigin;
  }

  at(source: SourceText, span: Span, origin: Origin | null | undefined) {
    const head = origin?.[headOf(origin)];
    return head === undefined ? physicalLocation(source, span) : this.origin(head, source);
  }

  origin({ path, line, column }: OriginPlace, { path: program }: SourceText) {
    return {
      artifactLocation: { uri: uriOf(this.#readOrigin?.(path, program)?.path ?? path) },
      region: { startLine: line, ...(column > 0 ? { startColumn: column } : {}) },
    };
  }

  /** Where the functions around a place were inlined, and the instruction itself. */
  around({ source, span, origin }: Finding) {
    const head = origin === null ? -1 : headOf(origin);
    if (origin === null || head < 0) return [];
    const inlined = origin.slice(head + 1).flatMap((place, i) => {
      const name = origin[head + i]!.function;
      const text = `${name === null ? "a function" : displayName(name)} is inlined here`;
      return place.line === 0 ? [] : [{ message: { text }, physicalLocation: this.origin(place, source) }];
    });
    return [
      ...inlined,
      { message: { text: "compiled to this instruction" }, physicalLocation: physicalLocation(source, span) },
    ];
  }
}

function resultOf(f: Finding, suppression: Suppression | null, places: Places) {
  const notes = f.notes.map(({ message, source = f.source, span, origin }) => ({
    message: { text: readable(message) },
    ...(span === undefined ? {} : { physicalLocation: places.at(source, span, origin) }),
  }));
  const related = [...places.around(f), ...notes];
  return {
    ruleId: f.code,
    level: f.severity,
    message: { text: sentence(f) },
    locations: [
      {
        physicalLocation: places.at(f.source, f.span, f.origin),
        ...(f.function === null ? {} : { logicalLocations: [logicalLocation(f.function)] }),
      },
    ],
    partialFingerprints: { "lanewise/v1": fingerprint(f) },
    ...(related.length === 0 ? {} : { relatedLocations: related.map((location, id) => ({ id, ...location })) }),
    ...(f.run === null ? {} : runOf(f, f.run, places)),
    ...(suppression === null ? {} : { suppressions: [{ kind: suppression.kind, justification: suppression.origin }] }),
  };
}

function runOf(f: Finding, { kernel, threads, count, stack, location }: NonNullable<Finding["run"]>, places: Places) {
  const frames = stack.map(({ function: name, source, span, origin }) => ({
    location: {
      physicalLocation: places.at(source, span, origin),
      logicalLocations: [logicalLocation(name)],
    },
  }));
  return {
    ...(frames.length === 0 ? {} : { stacks: [{ message: { text: `in kernel ${displayName(kernel)}` }, frames }] }),
    properties: {
      kernel,
      kernelName: signatureOf(kernel),
      threads,
      count,
      ...(location === null ? {} : { origin: location }),
      line: f.source.line(lineOf(f)),
    },
  };
}

/** A function, with its mangled name if it has one. */
function logicalLocation(name: string) {
  const known = demangle(name);
  if (known === null) return { name, kind: "function" };
  return { name: known.name, fullyQualifiedName: known.signature, decoratedName: name, kind: "function" };
}

const lineOf = ({ source, span }: Finding): number => source.position(span.start).line;

/** Includes the help, because viewers show only this message, and ends with the full stop that the format asks for. */
const sentence = ({ message, help }: Finding): string => {
  const text = help === null ? message : `${message}. ${help.charAt(0).toUpperCase()}${help.slice(1)}`;
  return readable(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
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
