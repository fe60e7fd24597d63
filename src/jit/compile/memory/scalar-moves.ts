import type { Access } from "../../../ir/index.ts";
import type { FunctionWriter, MemoryOp, Wasm } from "../../../wasm/index.ts";
import { scalarStore } from "../emit/memory-ops.ts";
import { scalarLoad } from "../module/access-helpers.ts";

/** Loads and stores of single elements, as wasm numbers: i64 for 64 bits, else i32. */
export class ScalarMoves {
  readonly #writer: FunctionWriter;
  /** Whether other host threads use the same memory. */
  readonly #isShared: boolean;

  constructor(writer: FunctionWriter, isShared: boolean) {
    this.#writer = writer;
    this.#isShared = isShared;
  }

  /** Whether an access must be atomic and ordered for other host threads. */
  isStrong({ order, volatile, space, align, bits }: Access): boolean {
    if (!this.#isShared || space === "shared" || space === "local") return false;
    return (order !== "weak" || volatile) && align >= bits / 8;
  }

  /** Loads the element at the address on the stack. */
  load(access: Access, immediate: number): void {
    const { bits } = access;
    if (!this.isStrong(access)) {
      this.#writer.memory(scalarLoad(access), Math.min(access.align, bits / 8), immediate);
      return;
    }
    this.#writer.memory(atomicLoad(access), bits / 8, immediate);
    extendSign(this.#writer, access);
  }

  /** Stores the number on the stack at the address below it. */
  store(access: Access, immediate: number): void {
    const { bits } = access;
    if (this.isStrong(access)) {
      this.#writer.memory(
        bits === 64 ? "i64.atomic.store" : bits === 32 ? "i32.atomic.store" : `i32.atomic.store${bits}`,
        bits / 8,
        immediate,
      );
    } else this.#writer.memory(scalarStore(access), Math.min(access.align, bits / 8), immediate);
  }

  /** Loads the elements of a uniform access into locals. */
  loadOne(access: Access, at: Wasm, immediate: number, into: readonly number[]): void {
    into.forEach((local, e) => {
      this.#writer.value(at);
      this.load(access, immediate + (e * access.bits) / 8);
      this.#writer.set(local);
    });
  }

  /** Stores the elements of a uniform access; null: nothing is stored for that element. */
  storeOne(access: Access, at: Wasm, immediate: number, values: readonly (Wasm | null)[]): void {
    values.forEach((value, e) => {
      if (value === null) return;
      this.#writer.value(at);
      this.#writer.value(value);
      this.store(access, immediate + (e * access.bits) / 8);
    });
  }
}

/** The atomic load of an element; one of fewer than 32 bits is extended with zeros. */
export const atomicLoad = ({ bits }: Access): MemoryOp =>
  bits === 64 ? "i64.atomic.load" : bits === 32 ? "i32.atomic.load" : `i32.atomic.load${bits}_u`;

/** Extends the sign of the element on the stack, if its access asks for that. */
export function extendSign(writer: FunctionWriter, { bits, signed }: Access): void {
  if (signed && bits < 32) writer.op(bits === 8 ? "i32.extend8_s" : "i32.extend16_s");
}
