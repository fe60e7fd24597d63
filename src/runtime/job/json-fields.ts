import { type DiagnosticSink, nearest, type Span } from "../../source/index.ts";
import type { JobCode } from "../data/codes.ts";
import type { JsonNode } from "./json-text.ts";

const kindNames: Readonly<Record<JsonNode["kind"], string>> = {
  null: "null",
  boolean: "true or false",
  number: "a number",
  string: "a string",
  array: "a list",
  object: "an object",
};

/**
 * A JSON value that is expected to have a certain shape. Reading a value of another shape reports an error with its
 * path ("launches[0].grid") and returns a harmless default, so that one pass finds all errors.
 */
export class JsonField {
  /** Null if the value is missing. That has been reported already, unless the value is optional. */
  readonly node: JsonNode | null;
  readonly path: string;
  readonly #sink: DiagnosticSink<JobCode>;
  readonly #place: Span;

  constructor(node: JsonNode | null, path: string, sink: DiagnosticSink<JobCode>, place: Span) {
    this.node = node;
    this.path = path;
    this.#sink = sink;
    this.#place = node ?? place;
  }

  get present(): boolean {
    return this.node !== null && this.node.kind !== "null";
  }

  fail(message: string, help?: string): void {
    this.#sink.error("job-field", this.#place, `${this.path === "" ? "job" : this.path}: ${message}`, { help });
  }

  #expected(what: string): void {
    this.fail(this.node ? `expected ${what}, found ${kindNames[this.node.kind]}` : `is missing; expected ${what}`);
  }

  string(): string {
    if (this.node?.kind === "string") return this.node.value;
    this.#expected("a string");
    return "";
  }

  oneOf<const T extends string>(choices: readonly T[]): T {
    const text = this.string();
    if ((choices as readonly string[]).includes(text)) return text as T;
    if (this.node?.kind === "string") {
      const meant = nearest(text, choices);
      this.fail(`there is no "${text}"`, meant ? `"${meant}" exists` : `one of ${choices.join(", ")}`);
    }
    return choices[0]!;
  }

  /** Reads an integer of any size, exactly. */
  integer(): number | bigint {
    const node = this.node;
    if (node?.kind === "number" && (typeof node.value === "bigint" || Number.isInteger(node.value))) return node.value;
    this.#expected("an integer");
    return 0;
  }

  count(min: number, max: number): number {
    const value = this.integer();
    if (value >= min && value <= max) return Number(value);
    if (this.node?.kind === "number") this.fail(`${value} is not from ${min} to ${max}`);
    return min;
  }

  /** Reads any number. Those that JSON lacks may be given as strings: "nan", "inf", "-inf". */
  number(): number | bigint {
    const node = this.node;
    if (node?.kind === "number") return node.value;
    if (node?.kind === "string" && /^(nan|-?inf)$/i.test(node.value)) {
      return node.value.toLowerCase() === "nan" ? NaN : node.value.startsWith("-") ? -Infinity : Infinity;
    }
    this.#expected("a number");
    return 0;
  }

  float(): number {
    return Number(this.number());
  }

  items(): JsonField[] {
    const node = this.node;
    if (node?.kind !== "array") {
      this.#expected("a list");
      return [];
    }
    return node.items.map((item, i) => new JsonField(item, `${this.path}[${i}]`, this.#sink, item));
  }

  /** The members of an object whose names the user chooses. */
  entries(): [name: string, value: JsonField][] {
    const node = this.node;
    if (node?.kind !== "object") {
      this.#expected("an object");
      return [];
    }
    return [...node.members].map(([name, { key, value }]) => [name, this.#member(name, value, key)]);
  }

  get(name: string): JsonField {
    const node = this.node;
    const member = node?.kind === "object" ? node.members.get(name) : undefined;
    return this.#member(name, member?.value ?? null, this.#place);
  }

  #member(name: string, value: JsonNode | null, place: Span): JsonField {
    return new JsonField(value, this.path === "" ? name : `${this.path}.${name}`, this.#sink, place);
  }

  /**
   * Reports this value if it is not an object, and members whose name is almost one of `known`: with a misspelt
   * "checks", a job would check nothing. Names unlike any of them are ignored.
   */
  object(known: readonly string[]): this {
    for (const [name, field] of this.entries()) {
      const meant = known.includes(name) ? null : nearest(name, known);
      if (meant) field.fail("is not a known name", `"${meant}" is`);
    }
    return this;
  }
}
