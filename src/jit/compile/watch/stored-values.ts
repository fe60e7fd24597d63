import { type Access, type MemoryAccess, type Place, plainAccess } from "../../../ir/index.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";
import type { WatchedCode } from "./watched-code.ts";

/** The values of a plain store, to compare with what is in memory. */
export class StoredValues {
  readonly #code: WatchedCode;
  readonly #access: Access;
  readonly #place: Place;
  readonly #values: readonly Expr[];

  private constructor(code: WatchedCode, access: Access, place: Place, values: readonly Expr[]) {
    this.#code = code;
    this.#access = access;
    this.#place = place;
    this.#values = values;
  }

  /** Those of an access; null if it is no plain store, or leaves some of its elements as they are. */
  static of(made: MemoryAccess, code: WatchedCode): StoredValues | null {
    const { access, place } = made;
    if (made.effect !== "store" || access.order !== "weak" || access.volatile) return null;
    const values = made.values.flatMap((value) => (value === null ? [] : [wordOf(value, access.bits)]));
    return values.length < access.count ? null : new StoredValues(code, access, place, values);
  }

  /** Loads what is in memory. Returns whether it is something else. */
  differ(): Expr {
    const { space, bits, count, align } = this.#access;
    const words = this.#values.map(() => this.#code.register(bits === 64 ? "b64" : "b32"));
    this.#code.add({ kind: "load", access: plainAccess(space, bits, count, align), place: this.#place }, words);
    return words.map((word, i) => k.ne(word, this.#values[i]!)).reduce((a, b) => k.op("pred.or", a, b));
  }
}

/** The bits of a value that a store leaves, in a word of 32 or 64 bits, the others being zero. */
function wordOf(value: Expr, bits: Access["bits"]): Expr {
  const whole = value.ty === "f32" ? k.bitcast(value, "i32") : value.ty === "f64" ? k.bitcast(value, "i64") : value;
  if (bits === 64) return whole.ty === "i64" ? whole : k.widen(whole, false);
  const word = whole.ty === "i64" ? k.wrap(whole) : whole;
  return bits === 32 ? word : k.and(word, k.i32(2 ** bits - 1));
}
