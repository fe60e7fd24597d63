import type { Register } from "../../ir/index.ts";
import type { RegisterSymbol } from "../tree/nodes.ts";

/**
 * The virtual registers of one function. A PTX register becomes one IR register per element; a 128-bit element becomes
 * two `b64` registers, low half first.
 */
export class RegisterFile {
  readonly registers: Register[] = [];
  readonly #numbers = new Map<RegisterSymbol, readonly number[]>();
  readonly #temporaries = new Map<number | "pred", number>();
  readonly #copies = new Map<number, number>();
  #carry: number | null = null;

  /** The IR registers of a symbol, in order of its elements. */
  of(symbol: RegisterSymbol): readonly number[] {
    const known = this.#numbers.get(symbol);
    if (known !== undefined) return known;
    const first = this.registers.length;
    for (let i = 0; i < symbol.vector; i++) this.#declare(symbol, symbol.vector === 1 ? "" : `.${"xyzw"[i] ?? i}`);
    const numbers = Array.from({ length: this.registers.length - first }, (_, i) => first + i);
    this.#numbers.set(symbol, numbers);
    return numbers;
  }

  /** The carry flag CC.CF (9.7.2), one predicate per function. */
  get carry(): number {
    this.#carry ??= this.registers.push({ name: "CC.CF", class: "pred", bits: 1 }) - 1;
    return this.#carry;
  }

  /** A register for steps of instructions, which use the same ones: of 32 bits, by number, or a predicate. */
  temporary(index: number | "pred"): number {
    let number = this.#temporaries.get(index);
    if (number === undefined) {
      number = this.registers.length;
      this.registers.push(
        index === "pred"
          ? { name: "step.lanes", class: "pred", bits: 1, temporary: true }
          : { name: `step.${index}`, class: "b32", bits: 32, temporary: true },
      );
      this.#temporaries.set(index, number);
    }
    return number;
  }

  /** A register that keeps what another holds while an instruction of several steps overwrites it. */
  copyOf(register: number): number {
    let copy = this.#copies.get(register);
    if (copy === undefined) {
      const { class: size, bits } = this.registers[register]!;
      copy = this.registers.push({ name: `step.copy${this.#copies.size}`, class: size, bits, temporary: true }) - 1;
      this.#copies.set(register, copy);
    }
    return copy;
  }

  /** The type of a whole register as bits. */
  typeOf(register: number): "i32" | "i64" | "pred" {
    const size = this.registers[register]!.class;
    return size === "b64" ? "i64" : size === "b32" ? "i32" : "pred";
  }

  #declare(symbol: RegisterSymbol, suffix: string): void {
    const { type } = symbol;
    const name = symbol.name + suffix;
    if (type.kind === "pred") this.registers.push({ name, class: "pred", bits: 1 });
    else if (type.bits === 128) {
      this.registers.push(
        { name: `${name}.lo`, class: "b64", bits: 64 },
        { name: `${name}.hi`, class: "b64", bits: 64 },
      );
    } else this.registers.push({ name, class: type.bits === 64 ? "b64" : "b32", bits: type.bits, type: type.name });
  }
}
