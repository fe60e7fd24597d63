import type { SourceText } from "../source/index.ts";
import type { Finding } from "./finding.ts";

/** One wish not to hear of something, and where it is said. */
export interface Suppression {
  /** For a file, a comment: "path:line". */
  readonly origin: string;
  readonly kind: "external" | "inSource";
  /** May have `*`. */
  readonly code: string;
  readonly applies: (finding: Finding) => boolean;
}

/** A rule that cannot be read. */
export class SuppressionError extends Error {
  override readonly name = "SuppressionError";
}

const any = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`);

/** A path may stand in quotes. */
const place = /^(?:"([^"]+)"|([^"\s]+?))(?::(\d+)(?:-(\d+))?)?$/;

const wordsOf = (text: string): readonly string[] => text.match(/"[^"]*"\S*|\S+/g) ?? [];

/**
 * `CODE [PATH[:LINE[-LINE]]] [in FUNCTION]`: code, path and function may have `*`, and a path need only be the end of one. A
 * path with blanks stands in double quotes.
 *
 * @throws SuppressionError when the text is no such rule
 */
export function parseRule(text: string, origin: string): Suppression {
  const words = wordsOf(text);
  const within = words.indexOf("in");
  const [code = "", where = "*", ...more] = within < 0 ? words : words.slice(0, within);
  const behind = within < 0 ? ["*"] : words.slice(within + 1);
  const [whole, quoted, plain, first, last = first] = place.exec(where) ?? [];
  const path = quoted ?? plain ?? "*";
  if (
    !/^[\w*-]+$/.test(code) ||
    whole === undefined ||
    more.length > 0 ||
    behind.length !== 1 ||
    (last !== undefined && Number(last) < Number(first))
  ) {
    const rule = "CODE [PATH[:LINE[-LINE]]] [in FUNCTION], and a path with blanks in double quotes";
    throw new SuppressionError(`${origin}: "${text.trim()}" is no rule: ${rule}`);
  }
  const [codes, paths, ends, functions] = [any(code), any(path), any(`*/${path}`), any(behind[0]!)];
  return {
    origin,
    kind: "external",
    code,
    applies: (f) => {
      if (!codes.test(f.code) || !(paths.test(f.source.path) || ends.test(f.source.path))) return false;
      if (within >= 0 && (f.function === null || !functions.test(f.function))) return false;
      const { line } = f.source.position(f.span.start);
      return first === undefined || (line >= Number(first) && line <= Number(last));
    },
  };
}

/** The rules of a file: one to a line; what follows `#` is a comment. */
export function parseSuppressions({ path, text }: SourceText): Suppression[] {
  return text.split("\n").flatMap((line, i) => {
    const words = wordsOf(line);
    const comment = words.findIndex((word) => word.startsWith("#"));
    const rule = (comment < 0 ? words : words.slice(0, comment)).join(" ");
    return rule === "" ? [] : [parseRule(rule, `${path}:${i + 1}`)];
  });
}

const comment = /\/\/[ \t]*lanewise:[ \t]*allow[ \t]+([\w*-]+(?:[ \t]*,[ \t]*[\w*-]+)*)/g;

/** `// lanewise: allow CODE, CODE` in a source: for its own line, or for the next if it has no other text. */
function suppressionsIn(source: SourceText): Suppression[] {
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
        applies: (f) => f.source === source && codes.test(f.code) && f.source.position(f.span.start).line === target,
      };
    });
  });
}

/** What is suppressed, and what did so. */
export class Suppressions {
  readonly #rules: Suppression[];
  readonly #used = new Set<Suppression>();
  readonly #sources = new Set<SourceText>();

  constructor(rules: readonly Suppression[]) {
    this.#rules = [...rules];
  }

  get any(): boolean {
    return this.#rules.length > 0;
  }

  /** Comments in a text count from now on. */
  read(source: SourceText): void {
    if (this.#sources.has(source)) return;
    this.#sources.add(source);
    this.#rules.push(...suppressionsIn(source));
  }

  /** The rule that a finding falls under, or null. */
  find(finding: Finding): Suppression | null {
    this.read(finding.source);
    const found = this.#rules.filter((rule) => rule.applies(finding));
    for (const rule of found) this.#used.add(rule);
    return found[0] ?? null;
  }

  /** Rules that have suppressed nothing, of those that could have: whose codes are among these. */
  unused(codes: Iterable<string>): readonly Suppression[] {
    const possible = [...codes];
    return this.#rules.filter((rule) => !this.#used.has(rule) && possible.some((code) => any(rule.code).test(code)));
  }
  /** Rules that nothing can ever fall under, as there are these codes alone: misspelt ones, for example. */
  impossible(codes: Iterable<string>): readonly Suppression[] {
    const known = [...codes];
    return this.#rules.filter((rule) => !known.some((code) => any(rule.code).test(code)));
  }
}
