import type { Relocation } from "../../ir/index.ts";
import type { VariableSymbol } from "../symbols.ts";
import type { Expression, Initializer } from "../tree.ts";
import type { TypeInfo } from "../types.ts";
import { addressParts, constantOf } from "./constants.ts";
import type { LinkNames } from "./lower.ts";

export interface InitialValue {
  readonly bytes: Uint8Array;
  readonly relocations: readonly Relocation[];
}

/** The initial bytes of a variable; elements that are left out are zero. `size`: bytes of the whole variable. */
export function lowerInitializer(symbol: VariableSymbol, initializer: Initializer, names: LinkNames): InitialValue {
  const element = Math.max(1, symbol.type.bits / 8);
  const dimensions = symbol.vector > 1 ? [...symbol.dimensions, symbol.vector] : [...symbol.dimensions];
  const writer = new Writer(symbol.size, symbol.type, element, names);
  writer.fill(initializer, 0, dimensions);
  return { bytes: writer.bytes, relocations: writer.relocations };
}

class Writer {
  readonly bytes: Uint8Array;
  readonly relocations: Relocation[] = [];
  readonly #view: DataView;
  readonly #type: TypeInfo;
  readonly #element: number;
  readonly #names: LinkNames;

  constructor(size: number, type: TypeInfo, element: number, names: LinkNames) {
    this.bytes = new Uint8Array(size);
    this.#view = new DataView(this.bytes.buffer);
    this.#type = type;
    this.#element = element;
    this.#names = names;
  }

  /** `dimensions`: those of the part that begins at `at`, outermost first. */
  fill(initializer: Initializer, at: number, dimensions: readonly (number | null)[]): void {
    if (initializer.kind === "initializer-field") return;
    if (initializer.kind !== "initializer-list") {
      this.#scalar(initializer, at);
      return;
    }
    const inner = dimensions.slice(1);
    const stride = inner.reduce<number>((bytes, d) => bytes * (d ?? 1), this.#element);
    let next = at;
    for (const element of initializer.elements) {
      this.fill(element, next, inner);
      // A scalar in place of a nested list fills one element.
      next += element.kind === "initializer-list" ? stride : this.#element;
    }
  }

  #scalar(expr: Expression, at: number): void {
    if (at + this.#element > this.bytes.length) return;
    const parts = addressParts(expr);
    const symbol = parts?.base?.symbol;
    if (parts && symbol && (symbol.kind === "variable" || symbol.kind === "function")) {
      const shift = parts.mask === null ? 0 : lowestBit(parts.mask);
      this.relocations.push({
        at,
        size: this.#element,
        shift,
        symbol: this.#names.nameOf(symbol),
        addend: Number(parts.offset),
        generic: parts.generic,
      });
      return;
    }
    const constant = constantOf(expr);
    if (constant === null) return;
    if (constant.kind === "integer") this.#integer(at, constant.value);
    else if (this.#type.name === "f32") {
      if (constant.width === 32) this.#view.setUint32(at, Number(constant.bits), true);
      else this.#view.setFloat32(at, constant.value, true);
    } else if (this.#type.bits === 64) this.#view.setFloat64(at, constant.value, true);
    else this.#integer(at, constant.bits);
  }

  #integer(at: number, value: bigint): void {
    if (this.#type.name === "f32") this.#view.setFloat32(at, Number(value), true);
    else if (this.#type.name === "f64") this.#view.setFloat64(at, Number(value), true);
    else
      for (let i = 0; i < this.#element; i++) this.bytes[at + i] = i < 8 ? Number((value >> BigInt(8 * i)) & 0xffn) : 0;
  }
}

const lowestBit = (mask: bigint): number => {
  let bit = 0;
  while (bit < 64 && ((mask >> BigInt(bit)) & 1n) === 0n) bit++;
  return bit;
};
