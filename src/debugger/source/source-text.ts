import { plainType, sizeOfType, type SourceType, typeName } from "../../dwarf/index.ts";
import { displayName } from "../../names/index.ts";
import { formatValue } from "../view/value.ts";
import type { SourceValue } from "./source-value.ts";

/** How integers are written. */
/** How numbers are written: as their types say, or in hexadecimal. */
export type SourceFormat = "natural" | "hex";

/** The most elements of arrays, in all, that are shown of a value. */
const maxElements = 200;
/** From so many equal elements on, they are counted. */
const repeats = 10;
const maxDepth = 12;
const maxString = 200;

const isCharacter = (type: SourceType): boolean => {
  const plain = plainType(type);
  return plain.kind === "base" && plain.encoding.endsWith("-char");
};

/**
 * Formats a value as C++ writes it, and as debuggers of C++ do: "3", "97 'a'", "(float *) 0x7f0000010000", "{x = 1, y =
 * 2}". What cannot be read is in angle brackets, with the reason.
 */
export function sourceText(value: SourceValue, format: SourceFormat = "natural"): string {
  const { plain } = value;
  if (plain.kind === "pointer") return `(${typeName(value.type)}) ${pointerText(value, 0)}`;
  if (plain.kind === "reference" || plain.kind === "rvalue-reference") {
    const address = value.bits;
    if (address === null) return unreadable(value);
    const target = value.target();
    const text = target === null ? "" : new Writer(format).text(target, 0);
    return `(${typeName(value.type)}) @0x${address.toString(16)}: ${text}`;
  }
  return new Writer(format).text(value, 0);
}

/** The same within a list of variables, where the type stands beside it. */
export const shortText = (value: SourceValue): string => new Writer("natural").text(value.referred, 0);

const unreadable = (value: SourceValue): string => {
  const bytes = value.read();
  return `<${typeof bytes === "string" ? bytes : "no value"}>`;
};

function pointerText(value: SourceValue, depth: number): string {
  const address = value.bits;
  if (address === null) return unreadable(value);
  const text = `0x${address.toString(16)}`;
  const name = value.functionName;
  if (name !== null) return `${text} <${displayName(name)}>`;
  const { plain } = value;
  if (plain.kind !== "pointer" || address === 0n || depth > 1 || !isCharacter(plain.target())) return text;
  const string = stringAt(value);
  return string === null ? text : `${text} ${string}`;
}

/** The string that a pointer to characters points to, or null if there is no memory. */
function stringAt(pointer: SourceValue): string | null {
  const codes: number[] = [];
  for (let i = 0; i < maxString; i++) {
    const code = pointer.target(BigInt(i))?.bits ?? null;
    if (code === null) return i === 0 ? null : `${quoted(codes)}...`;
    if (code === 0n) return quoted(codes);
    codes.push(Number(code));
  }
  return `${quoted(codes)}...`;
}

const escapes: Readonly<Record<number, string>> = { 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r" };

const character = (code: number, quote: string): string => {
  const text = String.fromCharCode(code);
  if (text === quote || text === "\\") return `\\${text}`;
  if (code >= 0x20 && code < 0x7f) return text;
  return escapes[code] ?? `\\${code.toString(8).padStart(3, "0")}`;
};

const quoted = (codes: readonly number[]): string => `"${codes.map((code) => character(code, '"')).join("")}"`;

/** Writes one value, with a limit on elements for all of it. */
class Writer {
  readonly #format: SourceFormat;
  #elements = 0;

  constructor(format: SourceFormat) {
    this.#format = format;
  }

  text(value: SourceValue, depth: number): string {
    const { plain } = value;
    if (depth > maxDepth) return "{...}";
    switch (plain.kind) {
      case "struct":
        return this.#struct(value, depth);
      case "array":
        return this.#array(value, depth);
      case "pointer":
        return pointerText(value, depth);
      case "reference":
      case "rvalue-reference": {
        const target = value.target();
        return target === null
          ? unreadable(value)
          : `@0x${(value.bits ?? 0n).toString(16)}: ${this.text(target, depth + 1)}`;
      }
      case "unknown":
        return `<${plain.why}>`;
      default:
        return scalarText(value, this.#format);
    }
  }

  #struct(value: SourceValue, depth: number): string {
    const { plain } = value;
    if (plain.kind !== "struct") return "";
    if (value.place.kind === "nowhere") return unreadable(value);
    const parts = plain.members().map((member) => {
      const text = this.text(value.member(member), depth + 1);
      if (member.isBase) return `<${typeName(member.type)}> = ${text}`;
      return member.name === "" ? text : `${member.name} = ${text}`;
    });
    return `{${parts.join(", ")}}`;
  }

  #array(value: SourceValue, depth: number): string {
    const { plain } = value;
    if (plain.kind !== "array") return "";
    if (value.place.kind === "nowhere") return unreadable(value);
    const count = plain.count ?? 0;
    if (isCharacter(plain.element)) return this.#characters(value, count);
    const texts: string[] = [];
    let last = "";
    let same = 0;
    const flush = (): void => {
      if (same >= repeats) texts.push(`${last} <repeats ${same} times>`);
      else for (let i = 0; i < same; i++) texts.push(last);
      same = 0;
    };
    let shown = 0;
    for (; shown < count && this.#elements < maxElements; shown++) {
      const element = value.element(BigInt(shown));
      const text = element === null ? "?" : this.text(element, depth + 1);
      if (text !== last) flush();
      last = text;
      same++;
      this.#elements++;
    }
    flush();
    return `{${texts.join(", ")}${shown < count ? "..." : ""}}`;
  }

  #characters(value: SourceValue, count: number): string {
    const codes: number[] = [];
    for (let i = 0; i < Math.min(count, maxString); i++) {
      const code = value.element(BigInt(i))?.bits ?? null;
      if (code === null) return unreadable(value);
      codes.push(Number(code));
    }
    const end = codes.findLastIndex((code) => code !== 0) + 1;
    return `${quoted(codes.slice(0, end))}${count > maxString ? "..." : ""}`;
  }
}

/** Formats a number, a character, a truth value or an enumerator. */
function scalarText(value: SourceValue, format: SourceFormat): string {
  const { plain, bits, width } = value;
  if (bits === null) return unreadable(value);
  const signed = BigInt.asIntN(Math.max(1, width), bits);
  if (plain.kind === "enum") {
    const found = plain.values.find((v) => v.value === signed || v.value === bits);
    return found?.name ?? String(signed);
  }
  if (plain.kind !== "base") return `0x${bits.toString(16)}`;
  if (plain.encoding === "float") return floatText(value);
  if (format === "hex") return `0x${bits.toString(16)}`;
  if (plain.encoding === "boolean") return bits === 0n ? "false" : bits === 1n ? "true" : String(bits);
  const number = plain.encoding.startsWith("signed") ? signed : bits;
  return plain.encoding.endsWith("-char") ? `${number} '${character(Number(bits & 0xffn), "'")}'` : String(number);
}

function floatText(value: SourceValue): string {
  const bytes = value.read();
  if (typeof bytes === "string") return `<${bytes}>`;
  const type = { 2: "f16", 4: "f32", 8: "f64" }[sizeOfType(value.type) ?? 0];
  if (type === undefined) return "<a floating-point type of an unknown size>";
  // C writes 2, where PTX needs a point, and 1e-05 rather than many zeros.
  const text = formatValue({ bytes, type }).replace(/\.0$/, "");
  return /^-?0\.0000/.test(text)
    ? Number(text)
        .toExponential()
        .replace(/e-(\d)$/, "e-0$1")
    : text;
}
