import { demangle } from "../names/index.ts";
import type { ReadOrigin, SourceText } from "../source/index.ts";
import type { Finding } from "./finding.ts";

/** A rule that suppresses findings. */
export interface Suppression {
  /** Where the rule is written: "path:line" for a line of a file or a comment, or an option of the command line. */
  readonly origin: string;
  readonly kind: "external" | "inSource";
  /** The code to suppress, which may contain `*`. */
  readonly code: string;
  readonly applies: (finding: Finding) => boolean;
}

/** A suppression rule is malformed. */
export class SuppressionError extends Error {
  override readonly name = "SuppressionError";
}

const any = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`);

/** A path, which may be quoted, and lines. */
const place = /^(?:"([^"]+)"|([^"\s]+?))(?::(\d+)(?:-(\d+))?)?$/;

const wordsOf = (text: string): readonly string[] => text.match(/"[^"]*"\S*|\S+/g) ?? [];

/** The function that contains a place, and those that were inlined there. */
const functionsOf = ({ function: name, origin }: Finding): readonly string[] =>
  [name, ...(origin ?? []).map((at) => at.function)].flatMap((found) => (found === null ? [] : namesOf(found)));

/**
 * Parses `CODE [PATH[:LINE[-LINE]]] [in FUNCTION]`. Code, path and function may contain `*`; a path may be the end of a
 * longer one, and has to be in double quotes if it contains blanks. Places and functions are those of the program or of
 * the source that it was compiled from.
 *
 * @throws SuppressionError if the text is not such a rule
 */
export function parseRule(text: string, origin: string): Suppression {
  const words = wordsOf(text);
  const within = words.indexOf("in");
  const [code = "", where = "*", ...more] = within < 0 ? words : words.slice(0, within);
  const named = within < 0 ? ["*"] : words.slice(within + 1);
  const [whole, quoted, plain, first, last = first] = place.exec(where) ?? [];
  const path = quoted ?? plain ?? "*";
  if (
    !/^[\w*-]+$/.test(code) ||
    whole === undefined ||
    more.length > 0 ||
    named.length !== 1 ||
    (last !== undefined && Number(last) < Number(first))
  ) {
    const rule = "CODE [PATH[:LINE[-LINE]]] [in FUNCTION], where a path with blanks is in double quotes";
    throw new SuppressionError(`${origin}: "${text.trim()}" is not a rule: ${rule}`);
  }
  const [codes, paths, ends, functions] = [any(code), any(path), any(`*/${path}`), any(unquoted(named[0]!))];
  return {
    origin,
    kind: "external",
    code,
    applies: (f) => {
      if (!codes.test(f.code)) return false;
      if (within >= 0 && !functionsOf(f).some((name) => functions.test(name))) return false;
      const { line } = f.source.position(f.span.start);
      return [{ path: f.source.path, line }, ...(f.origin ?? [])].some(
        (at) =>
          (paths.test(at.path) || ends.test(at.path)) &&
          (first === undefined || (at.line >= Number(first) && at.line <= Number(last))),
      );
    },
  };
}

/** A name with blanks is in double quotes. */
const unquoted = (name: string): string => /^"(.*)"$/.exec(name)?.[1] ?? name;

/** The names by which a rule may know a function: the mangled one, and those of C++. */
function namesOf(name: string): readonly string[] {
  const known = demangle(name);
  return known === null ? [name] : [name, known.name, known.signature];
}

/**
 * Parses a file with one rule on each line; `#` begins a comment.
 *
 * @throws SuppressionError if a line is not a rule
 */
export function parseSuppressions({ path, text }: SourceText): Suppression[] {
  return text.split("\n").flatMap((line, i) => {
    const words = wordsOf(line);
    const comment = words.findIndex((word) => word.startsWith("#"));
    const rule = (comment < 0 ? words : words.slice(0, comment)).join(" ");
    return rule === "" ? [] : [parseRule(rule, `${path}:${i + 1}`)];
  });
}

const comment = /\/\/[ \t]*lanewise:[ \t]*allow[ \t]+([\w*-]+(?:[ \t]*,[ \t]*[\w*-]+)*)/g;

/** The lines of a source on which a finding is. */
type LinesIn = (finding: Finding, source: SourceText) => readonly number[];

/**
 * Parses comments of the form `// lanewise: allow CODE, CODE`, which apply to their own line, or to the next one if
 * nothing else is on the line.
 */
function suppressionsIn(source: SourceText, linesIn: LinesIn): Suppression[] {
  return [...source.text.matchAll(comment)].flatMap((match) => {
    const { line, column } = source.position(match.index);
    const alone =
      source
        .line(line)
        .slice(0, column - 1)
        .trim() === "";
    const target = alone ? line + 1 : line;
    return match[1]!.split(",").map((name): Suppression => {
      const codes = any(name.trim());
      return {
        origin: `${source.path}:${line}`,
        kind: "inSource",
        code: name.trim(),
        applies: (f) => codes.test(f.code) && linesIn(f, source).includes(target),
      };
    });
  });
}

/** Applies suppression rules and keeps track of which ones have been used. */
export class Suppressions {
  readonly #rules: Suppression[];
  readonly #used = new Set<Suppression>();
  readonly #sources = new Set<SourceText>();
  readonly #readOrigin: ReadOrigin;

  /** `readOrigin`: finds the files that programs were compiled from, whose comments count too. */
  constructor(rules: readonly Suppression[], readOrigin: ReadOrigin = () => null) {
    this.#rules = [...rules];
    this.#readOrigin = readOrigin;
  }

  /** Whether there are any rules. */
  get any(): boolean {
    return this.#rules.length > 0;
  }

  /** Adds the rules in the comments of a source, unless it has been read before. */
  read(source: SourceText): void {
    if (this.#sources.has(source)) return;
    this.#sources.add(source);
    this.#rules.push(...suppressionsIn(source, this.#linesIn));
  }

  readonly #linesIn: LinesIn = (finding, source) => [
    ...(finding.source === source ? [source.position(finding.span.start).line] : []),
    ...this.#origins(finding).flatMap((at) => (at.source === source ? [at.line] : [])),
  ];

  /** The places of a finding in the files that the program was compiled from, as far as there are these files. */
  #origins({ origin, source: program }: Finding): { readonly source: SourceText; readonly line: number }[] {
    return (origin ?? []).flatMap(({ path, line }) => {
      const source = this.#readOrigin(path, program.path);
      return source === null ? [] : [{ source, line }];
    });
  }

  /** Returns the rule that suppresses a finding, or null. */
  find(finding: Finding): Suppression | null {
    this.read(finding.source);
    for (const { source } of this.#origins(finding)) this.read(source);
    const found = this.#rules.filter((rule) => rule.applies(finding));
    for (const rule of found) this.#used.add(rule);
    return found[0] ?? null;
  }

  /** Returns the rules that have suppressed nothing although they could have: those that match one of the codes. */
  unused(codes: Iterable<string>): readonly Suppression[] {
    const possible = [...codes];
    return this.#rules.filter((rule) => !this.#used.has(rule) && possible.some((code) => any(rule.code).test(code)));
  }

  /**
   * Returns the rules that can never suppress anything because they match none of the existing codes, such as misspelt
   * ones.
   */
  impossible(codes: Iterable<string>): readonly Suppression[] {
    const known = [...codes];
    return this.#rules.filter((rule) => !known.some((code) => any(rule.code).test(code)));
  }
}
