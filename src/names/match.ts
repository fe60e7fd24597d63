import { demangle, type DemangledName } from "./demangle.ts";

/** A name without blanks that mean nothing, and with qualifiers after their types: `f(float const*,int)`. */
function normalized(name: string): string {
  return name
    .trim()
    .replace(/\s+/g, " ")
    .replace(/ ?([^\w ]) ?/g, "$1")
    .replace(/(?<=^|[(,<])(const|volatile) ([\w:]+(?: [\w]+)*)/g, "$2 $1")
    .replace(/(?<=^|[(,<])unsigned(?=[*&,>)]| const)/g, "unsigned int")
    .replace(/\(void\)$/, "()");
}

/** Splits a qualified name where no bracket is open. */
function scopes(name: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < name.length; i++) {
    const c = name[i]!;
    if ("<({[".includes(c)) depth++;
    else if (">)}]".includes(c)) depth--;
    else if (depth <= 0 && name.startsWith("::", i)) {
      parts.push(name.slice(from, i));
      from = i + 2;
      i++;
    }
  }
  return [...parts, name.slice(from)];
}

/** A name without the template arguments at its end. */
function withoutArguments(name: string): string {
  if (!name.endsWith(">") || name.includes("operator")) return name;
  let depth = 0;
  for (let i = name.length - 1; i >= 0; i--) {
    if (name[i] === ">") depth++;
    else if (name[i] === "<" && --depth === 0) return name.slice(0, i);
  }
  return name;
}

/** The ways in which a name may be written, by how exact they are: whole, without parameters, without arguments. */
function spellings({ full, signature, name }: DemangledName): readonly (readonly string[])[] {
  const [whole, alone] = [normalized(signature), normalized(name)];
  const rest = whole.startsWith(alone) ? whole.slice(alone.length) : "";
  const bare = withoutArguments(alone);
  return [[whole, normalized(full)], [alone], [bare, bare + rest]];
}

/** Leaves out the outer scopes of a name, one after the other. */
function* inner(name: string): Generator<string> {
  const parts = scopes(name);
  for (let i = 1; i < parts.length; i++) yield parts.slice(i).join("::");
}

/**
 * Finds the functions that a user means: by the mangled name, by the whole signature (`reduce(float const*, int)`), by
 * the name with or without its template arguments (`scale<float>`, `scale`), or by the end of it (`reduce` for
 * `ns::reduce`). The most exact of these that fits decides, so that several are found only where it does not tell them
 * apart.
 */
export function matchName(wanted: string, candidates: readonly string[]): readonly string[] {
  if (candidates.includes(wanted)) return [wanted];
  const words = normalized(wanted.replace(/^::/, ""));
  const known = candidates.flatMap((mangled) => {
    const name = demangle(mangled);
    return name === null ? [] : [{ mangled, spelt: spellings(name) }];
  });
  for (const shorten of [false, true]) {
    for (const level of [0, 1, 2]) {
      const found = known.filter(({ spelt }) =>
        spelt[level]!.some((name) => (shorten ? [...inner(name)].includes(words) : name === words)),
      );
      if (found.length > 0) return found.map(({ mangled }) => mangled);
    }
  }
  return [];
}

/** The words that a name may be misspelt from: itself, and the last part of it. */
export function nameHints(name: string): readonly string[] {
  const found = demangle(name);
  if (found === null) return [name];
  const alone = found.name;
  const last = scopes(alone).at(-1)!;
  return [...new Set([alone, last, withoutArguments(last), found.signature])];
}
