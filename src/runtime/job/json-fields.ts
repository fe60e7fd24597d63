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
 * A value in a JSON text that is expected to have a certain shape. Reading one that has another shape reports it with
 * its path ("launches[0].grid") and gives a harmless value, so that one pass finds all that is wrong.
 */
export class JsonField {
  /** Null where it is missing; what is missing has been reported unless it may be. */
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

  /** An exact integer of any size. */
  integer(): number | bigint {
    const node = this.node;
    if (node?.kind === "number" && (typeof node.value === "bigint" || Number.isInteger(node.value))) return node.value;
    this.#expected("an integer");
    return 0;
  }

  count(least: number, most: number): number {
    const value = this.integer();
    if (value >= least && value <= most) return Number(value);
    if (this.node?.kind === "number") this.fail(`${value} is not from ${least} to ${most}`);
    return least;
  }

  /** Any number; the names that JSON lacks may be given as strings: "nan", "inf", "-inf". */
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

  /** The members of an object whose names are the user's. */
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
   * Reports this value if it is no object, and members that are almost one of `known`: a misspelt "checks" would make a
   * job that checks nothing. Names that are far from all of them are let be.
   */
  object(known: readonly string[]): this {
    for (const [name, field] of this.entries()) {
      const meant = known.includes(name) ? null : nearest(name, known);
      if (meant) field.fail("is not a known name", `"${meant}" is`);
    }
    return this;
  }
}
