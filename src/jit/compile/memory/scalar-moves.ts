import type { Access } from "../../../ir/index.ts";
import type { FunctionWriter, MemoryOp, Wasm } from "../../../wasm/index.ts";
import { scalarStore } from "../emit/memory-ops.ts";
import { scalarLoad } from "../module/access-helpers.ts";

/** Moves elements one by one between memory and WebAssembly's numbers: i64 for those of 64 bits, i32 for all others. */
export class ScalarMoves {
  readonly #writer: FunctionWriter;
  /** Whether other threads of the host use the same memory. */
  readonly #isShared: boolean;

  constructor(writer: FunctionWriter, isShared: boolean) {
    this.#writer = writer;
    this.#isShared = isShared;
  }

  /** Whether other threads of the host must see an access as one, and in order. */
  isStrong({ order, volatile, space, align, bits }: Access): boolean {
    if (!this.#isShared || space === "shared" || space === "local") return false;
    return (order !== "weak" || volatile) && align >= bits / 8;
  }

  /** Loads the element at the place on the stack. */
  load(access: Access, offset: number): void {
    const { bits } = access;
    if (!this.isStrong(access)) {
      this.#writer.memory(scalarLoad(access), Math.min(access.align, bits / 8), offset);
      return;
    }
    this.#writer.memory(atomicLoad(access), bits / 8, offset);
    extendSign(this.#writer, access);
  }

  /** Stores the number on the stack at the place below it. */
  store(access: Access, offset: number): void {
    const { bits } = access;
    if (this.isStrong(access)) {
      this.#writer.memory(
        bits === 64 ? "i64.atomic.store" : bits === 32 ? "i32.atomic.store" : `i32.atomic.store${bits}`,
        bits / 8,
        offset,
      );
    } else this.#writer.memory(scalarStore(access), Math.min(access.align, bits / 8), offset);
  }

  /** Loads elements that are the same for all lanes into locals. */
  loadOne(access: Access, at: Wasm, offset: number, into: readonly number[]): void {
    into.forEach((local, e) => {
      this.#writer.value(at);
      this.load(access, offset + (e * access.bits) / 8);
      this.#writer.set(local);
    });
  }

  /** Stores numbers at one place; null: nothing. */
  storeOne(access: Access, at: Wasm, offset: number, values: readonly (Wasm | null)[]): void {
    values.forEach((value, e) => {
      if (value === null) return;
      this.#writer.value(at);
      this.#writer.value(value);
      this.store(access, offset + (e * access.bits) / 8);
    });
  }
}

/** An atomic load of an element of up to 64 bits, with zeros above. */
export const atomicLoad = ({ bits }: Access): MemoryOp =>
  bits === 64 ? "i64.atomic.load" : bits === 32 ? "i32.atomic.load" : `i32.atomic.load${bits}_u`;

/** Extends the element on the stack, which has zeros above, as its access says. */
export function extendSign(writer: FunctionWriter, { bits, signed }: Access): void {
  if (signed && bits < 32) writer.op(bits === 8 ? "i32.extend8_s" : "i32.extend16_s");
}
