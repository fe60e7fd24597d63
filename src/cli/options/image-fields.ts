import { nearest } from "../../source/index.ts";
import { parseNumber, type Wrong } from "./argument-values.ts";

const flags = ["cube", "normalized", "fractions", "srgb", "seams"] as const;
const shape = ["type", "size", "layers", "cube", "levels", "samples", "layout", "pitch", "offset"] as const;
/** The fields of a sampler. */
export const samplerKeys = [
  ...(["filter", "address", "normalized", "border", "mip", "bias", "lod", "anisotropy", "compare", "seams"] as const),
] as const;
/** The fields of a surface, and of an image. */
export const imageKeys = shape;
/** The fields of a texture. */
export const textureKeys = [...shape, "fractions", "srgb", ...samplerKeys] as const;

type Key = (typeof textureKeys)[number];
const isFlag = (key: string): boolean => flags.some((one) => one === key);

/** The fields of an image or a sampler: `key=value`, or the name alone where there is no value. */
export class Fields {
  readonly #values: ReadonlyMap<Key, string>;
  readonly #wrong: Wrong;

  constructor(values: ReadonlyMap<Key, string>, wrong: Wrong) {
    this.#values = values;
    this.#wrong = wrong;
  }

  has(key: Key): boolean {
    return this.#values.has(key);
  }

  text(key: Key): string | undefined {
    return this.#values.get(key);
  }

  /** Whole numbers with an x between them. */
  numbers(key: Key): readonly number[] | undefined {
    const text = this.#values.get(key);
    return text?.split("x").map((part) => (/^\d{1,10}$/.test(part) ? Number(part) : this.#expected(key, "640x480")));
  }

  /** Numbers with a / between them: so many, or any number of them. */
  floats(key: Key, count: number | null): readonly number[] | undefined {
    const parts = this.#values.get(key)?.split("/");
    if (count !== null && parts !== undefined && parts.length !== count) {
      this.#expected(key, Array.from({ length: count }, (_, i) => i).join("/"));
    }
    return parts?.map((part) => {
      const number = parseNumber(part);
      return number === null ? this.#expected(key, "0/0.5/1") : Number(number);
    });
  }

  choice<T extends string>(key: Key, all: readonly T[]): T | undefined {
    const text = this.#values.get(key);
    if (text === undefined) return undefined;
    return all.find((one) => one === text) ?? this.#wrong(`${key}=${text}: expected one of ${all.join(", ")}`);
  }

  /** One choice, or one for each dimension with a / between them. */
  choices<T extends string>(key: Key, all: readonly T[]): T | readonly T[] | undefined {
    const parts = this.#values.get(key)?.split("/");
    const found = parts?.map(
      (part) => all.find((one) => one === part) ?? this.#wrong(`${key}=${part}: expected one of ${all.join(", ")}`),
    );
    return found?.length === 1 ? found[0] : found;
  }

  #expected(key: Key, example: string): never {
    return this.#wrong(`${key}=${this.#values.get(key)}: expected ${key}=${example} or the like`);
  }
}

/** Parts the text of an argument at the commas before names: what comes first, and its fields. */
export function readFields(
  text: string,
  known: readonly Key[],
  of: string,
  wrong: Wrong,
): { readonly source: string; readonly fields: Fields } {
  // A comma before a word ends the source; those within lists of values come before numbers.
  const [source = "", ...rest] = text.split(/,(?=[A-Za-z]+(?:=|,|$))(?!(?:nan|inf|infinity)(?:,|$))/i);
  const values = new Map<Key, string>();
  for (const field of rest) {
    const [, name = "", value = ""] = /^([A-Za-z]*)=?(.*)$/s.exec(field)!;
    const key = known.find((one) => one === name);
    if (key === undefined) {
      const meant = nearest(name, known);
      return wrong(`${of} has no ${name}${meant === null ? `: ${known.join(", ")}` : `; did you mean ${meant}?`}`);
    }
    if (values.has(key)) wrong(`${key} is given twice`);
    if (isFlag(key) && field !== key) wrong(`${field}: ${key} has no value`);
    if (!isFlag(key) && value === "") wrong(`${key} needs a value`);
    values.set(key, value);
  }
  return { source, fields: new Fields(values, wrong) };
}
