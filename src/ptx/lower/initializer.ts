import type { InitialBytes, Relocation } from "../../ir/index.ts";
import type { Constant } from "../check/constant.ts";
import { elementSize } from "../check/shape.ts";
import type { Expression, Initializer, VariableSymbol } from "../tree/nodes.ts";
import type { TypeInfo } from "../types.ts";
import { addressParts, constantOf } from "./constants.ts";
import type { LinkNames } from "./link-names.ts";

/** The initial contents of a variable: bytes, and addresses that are filled in when the module is loaded. */
export interface InitialValue {
  readonly pieces: readonly InitialBytes[];
  readonly relocations: readonly Relocation[];
}

/** The bytes and addresses that an initializer writes; elements without a value are zero. */
export function lowerInitializer(symbol: VariableSymbol, initializer: Initializer, names: LinkNames): InitialValue {
  const dimensions = symbol.vector > 1 ? [...symbol.dimensions, symbol.vector] : [...symbol.dimensions];
  const writer = new Writer(symbol.size, symbol.type, names);
  writer.fill(initializer, 0, dimensions);
  return { pieces: writer.pieces(), relocations: writer.relocations };
}

/** Collects the bytes of elements in pieces, because an array may be far larger than its initializer. */
class Writer {
  readonly relocations: Relocation[] = [];
  readonly #pieces: { readonly at: number; readonly bytes: number[] }[] = [];
  readonly #size: number;
  readonly #type: TypeInfo;
  /** Size of one element in bytes. */
  readonly #element: number;
  readonly #names: LinkNames;
  readonly #scratch = new DataView(new ArrayBuffer(16));

  constructor(size: number, type: TypeInfo, names: LinkNames) {
    this.#size = size;
    this.#type = type;
    this.#element = elementSize(type, 1);
    this.#names = names;
  }

  pieces(): InitialBytes[] {
    return this.#pieces.map(({ at, bytes }) => ({ at, bytes: Uint8Array.from(bytes) }));
  }

  /**
   * Writes an initializer at the byte offset `at`. `dimensions`: the bounds of the part that begins there, outermost
   * first.
   */
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
    if (at + this.#element > this.#size) return;
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
    this.#encode(constant);
    this.#append(at);
  }

  /** Writes a constant as an element into the first bytes of the scratch buffer; bits beyond 64 stay zero. */
  #encode(constant: Constant): void {
    const view = this.#scratch;
    if (this.#type.name === "f64") view.setFloat64(0, Number(constant.value), true);
    else if (this.#type.name === "f32" && !(constant.kind === "float" && constant.width === 32)) {
      view.setFloat32(0, Number(constant.value), true);
    } else view.setBigUint64(0, BigInt.asUintN(64, constant.kind === "float" ? constant.bits : constant.value), true);
  }

  #append(at: number): void {
    let piece = this.#pieces.at(-1);
    if (piece === undefined || piece.at + piece.bytes.length !== at) {
      piece = { at, bytes: [] };
      this.#pieces.push(piece);
    }
    for (let i = 0; i < this.#element; i++) piece.bytes.push(this.#scratch.getUint8(i));
  }
}

const lowestBit = (mask: bigint): number => {
  let bit = 0;
  while (bit < 64 && ((mask >> BigInt(bit)) & 1n) === 0n) bit++;
  return bit;
};
