import { UsageError } from "../data/errors.ts";

/**
 * A value of a parsed document (YAML, JSON) that is expected to have a certain shape. Reading a value of another shape
 * throws a UsageError with its path, as in `kernels[0].payload_arguments[2].offset`.
 */
export class DocumentValue {
  readonly #value: unknown;
  readonly #name: string;
  readonly #path: string;

  /** `name` is what messages call the document. */
  constructor(value: unknown, name: string, path = "") {
    this.#value = value;
    this.#name = name;
    this.#path = path;
  }

  /** False for a member that is missing or null. */
  get present(): boolean {
    return this.#value !== undefined && this.#value !== null;
  }

  fail(message: string): never {
    throw new UsageError(`${this.#name}: ${this.#path === "" ? "" : `${this.#path}: `}${message}`);
  }

  get(name: string): DocumentValue {
    const value = this.#value;
    if (typeof value !== "object" || value === null || Array.isArray(value)) this.#expected("a mapping");
    const member: unknown = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    return new DocumentValue(member, this.#name, this.#path === "" ? name : `${this.#path}.${name}`);
  }

  /** Returns the items of a list; none if the list is missing. */
  items(max = Number.POSITIVE_INFINITY): DocumentValue[] {
    if (!this.present) return [];
    if (!Array.isArray(this.#value)) this.#expected("a list");
    if (this.#value.length > max) this.fail(`has ${this.#value.length} entries; there can be ${max}`);
    // `map` would skip the holes of a sparse array.
    return Array.from(this.#value, (item, i) => new DocumentValue(item, this.#name, `${this.#path}[${i}]`));
  }

  string(): string {
    return typeof this.#value === "string" ? this.#value : this.#expected("a string");
  }

  integer(min: number, max: number): number {
    const value = this.#value;
    if (typeof value !== "number" || !Number.isInteger(value)) this.#expected("an integer");
    return value >= min && value <= max ? value : this.fail(`${value} is not from ${min} to ${max}`);
  }

  /** Reads a boolean; false if it is missing. */
  flag(): boolean {
    if (!this.present) return false;
    return typeof this.#value === "boolean" ? this.#value : this.#expected("true or false");
  }

  #expected(what: string): never {
    const missing = !this.present && this.#path !== "";
    return this.fail(missing ? `is missing; expected ${what}` : `expected ${what}, found ${kindOf(this.#value)}`);
  }
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "a mapping" : typeof value === "boolean" ? String(value) : `a ${typeof value}`;
}
