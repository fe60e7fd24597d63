/**
 * The notation of the PTX manual, parsed twice: by the type checker (the types below) and at run time (`parseForm`).
 *
 *     opcode.fixed{.optional}.class{.optionalClass} d{|q}, a, {!}c, {-}e, [a]{, b}
 *
 * A name that is listed in `where` is a class with choices; any other modifier is literal. Braces mark optional parts.
 */

/** The parts of a text between separators. */
export type Split<S extends string, D extends string> = S extends `${infer A}${D}${infer B}`
  ? [A, ...Split<B, D>]
  : [S];
/** A list without its first element. */
export type Tail<T extends readonly unknown[]> = T extends [unknown, ...infer R] ? R : [];

/** A modifier. `rnd}{` and `ftz}` come from `{.rnd}` and `{.ftz}`, which are optional. */
export type Segment<S> = S extends `${infer N}}{`
  ? { name: N; optional: true }
  : S extends `${infer N}}`
    ? { name: N; optional: true }
    : S extends `${infer N}{`
      ? { name: N; optional: false }
      : { name: S; optional: false };
/** The modifiers of a list of segments. */
export type Segments<T extends readonly unknown[]> = { [K in keyof T]: Segment<T[K]> }[number];
/** The opcode of a form, with its modifiers. */
export type Head<F extends string> = F extends `${infer H} ${string}` ? H : F;
/** The modifiers of a form. */
export type HeadSegments<F extends string> = Segments<Tail<Split<Head<F>, ".">>>;

/** The classes of modifiers, each with its choices. */
export type Rules = Readonly<Record<string, readonly string[]>>;

/**
 * The modifiers that a row's functions receive: the choice of each class by name, and a flag for each optional
 * modifier.
 */
export type Mods<F extends string, R extends Rules> = {
  readonly [S in HeadSegments<F> as S extends { name: infer N; optional: infer O }
    ? N extends keyof R
      ? N & string
      : O extends true
        ? N & string
        : never
    : never]: S extends { name: infer N; optional: infer O }
    ? N extends keyof R
      ? R[N][number] | (O extends true ? undefined : never)
      : boolean
    : never;
};

/** The operands of a form, as they are written. */
export type OperandText<F extends string> = F extends `${string} ${infer O}` ? Split<O, ", ">[number] : never;
/** An operand's name, without braces and brackets. */
export type Bare<S> = S extends `{!}${infer N}` | `{-}${infer N}`
  ? Bare<N>
  : S extends `${infer A}{|${infer B}}`
    ? A | B
    : S extends `${infer A}|${infer B}`
      ? A | B
      : S extends `${infer N}{`
        ? Bare<N>
        : S extends `${infer N}}`
          ? Bare<N>
          : S extends `[${infer N}]`
            ? N
            : S;
/** The source operands by name. `d`, `p` and `q` are destinations, as in the manual. */
export type Sources<F extends string> = Exclude<Bare<OperandText<F>>, "d" | "p" | "q">;

/** A modifier, or a class of modifiers, in the text of a form. */
export interface Modifier {
  readonly name: string;
  readonly optional: boolean;
  /** The choices of a class; null for a literal modifier. */
  readonly choices: readonly string[] | null;
}

/** An operand in the text of a form. */
export interface OperandSlot {
  readonly name: string;
  /** `[a]`: an address. */
  readonly address: boolean;
  /** `{, b}`: may be left out. */
  readonly optional: boolean;
  /** `{!}c`: may be negated. */
  readonly negatable: boolean;
  /** `{-}a`: may have a minus sign. */
  readonly signed: boolean;
  /** `d|q` or `d{|q}`: the name after the bar. */
  readonly second: { readonly name: string; readonly optional: boolean } | null;
  /** Whether it is called `d`, `p` or `q`. */
  readonly destination: boolean;
}

/** The text of a form, parsed. */
export interface ParsedForm {
  readonly opcode: string;
  readonly modifiers: readonly Modifier[];
  readonly operands: readonly OperandSlot[];
}

/** Parses the text of a form. `rules`: its classes of modifiers. */
export function parseForm(text: string, rules: Rules): ParsedForm {
  const space = text.indexOf(" ");
  const head = space < 0 ? text : text.slice(0, space);
  const [opcode = "", ...segments] = head.split(".");
  const modifiers = segments.map((segment): Modifier => {
    const name = segment.replace(/[{}]+$/, "");
    return { name, optional: segment.includes("}"), choices: rules[name] ?? null };
  });
  const operands = space < 0 ? [] : splitOperands(text.slice(space + 1));
  return { opcode: opcode.replace(/[{}]/g, ""), modifiers, operands };
}

function splitOperands(text: string): OperandSlot[] {
  const parts = text.split(", ");
  let optional = false;
  return parts.map((part) => {
    let body = part;
    const here = optional;
    optional = body.endsWith("{");
    if (optional) body = body.slice(0, -1);
    if (here && body.endsWith("}")) body = body.slice(0, -1);
    const negatable = body.startsWith("{!}");
    const signed = body.startsWith("{-}");
    if (negatable || signed) body = body.slice(3);
    const address = body.startsWith("[");
    if (address) body = body.slice(1, -1);
    const bar = /^(.*?)(\{)?\|(.*?)\}?$/.exec(body);
    const name = bar ? bar[1]! : body;
    return {
      name,
      address,
      optional: here,
      negatable,
      signed,
      second: bar ? { name: bar[3]!, optional: bar[2] !== undefined } : null,
      destination: name === "d" || name === "p" || name === "q",
    };
  });
}
