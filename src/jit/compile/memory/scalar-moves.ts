import type { Access } from "../../../ir/index.ts";
import { type FunctionWriter, type MemoryOp, wasm, type Wasm } from "../../../wasm/index.ts";
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

  /**
   * Whether a strong access of several elements is one of the machine. In the memory model each element is accessed by
   * itself (8.2.2), but GPUs access them together, and programs rely on it: the scans of CUB keep a state and a sum so.
   */
  isWhole(access: Access): boolean {
    const { bits, count, align } = access;
    const bytes = (bits / 8) * count;
    return count > 1 && bits >= 32 && (bytes === 8 || bytes === 16) && align >= bytes && this.isStrong(access);
  }

  /** Loads the elements at the address on the stack at once. Returns the local of a vector that has them. */
  loadWhole(access: Access, immediate: number): number {
    const writer = this.#writer;
    const local = writer.local("v128");
    if (access.bits * access.count === 64) {
      writer.memory("i64.atomic.load", 8, immediate);
      writer.op("i64x2.splat");
    } else writer.memory("v128.load", 16, immediate);
    writer.set(local);
    return local;
  }

  /** Stores elements at the address on the stack at once. */
  storeWhole(access: Access, immediate: number, values: readonly Wasm[]): void {
    const writer = this.#writer;
    writer.value(wasm.i32x4(0));
    values.forEach((value, e) => {
      writer.value(value);
      writer.op(access.bits === 64 ? "i64x2.replace_lane" : "i32x4.replace_lane", [e]);
    });
    if (access.bits * access.count === 64) {
      writer.op("i64x2.extract_lane", [0]);
      writer.memory("i64.atomic.store", 8, immediate);
    } else writer.memory("v128.store", 16, immediate);
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
    if (this.isWhole(access)) {
      this.#writer.value(at);
      const vector = this.loadWhole(access, immediate);
      into.forEach((local, e) => {
        this.#writer.value(elementOf(access, vector, e));
        this.#writer.set(local);
      });
      this.#writer.release(vector);
      return;
    }
    into.forEach((local, e) => {
      this.#writer.value(at);
      this.load(access, immediate + (e * access.bits) / 8);
      this.#writer.set(local);
    });
  }

  /** Stores the elements of a uniform access; null: nothing is stored for that element. */
  storeOne(access: Access, at: Wasm, immediate: number, values: readonly (Wasm | null)[]): void {
    if (this.isWhole(access) && areAll(values)) {
      this.#writer.value(at);
      this.storeWhole(access, immediate, values);
      return;
    }
    values.forEach((value, e) => {
      if (value === null) return;
      this.#writer.value(at);
      this.#writer.value(value);
      this.store(access, immediate + (e * access.bits) / 8);
    });
  }
}

/** An element of a vector that `loadWhole` has filled, as a number. */
export const elementOf = ({ bits }: Access, vector: number, e: number): Wasm =>
  wasm.lane(bits === 64 ? "i64x2.extract_lane" : "i32x4.extract_lane", e, wasm.local("v128", vector));

export const areAll = <T>(values: readonly (T | null)[]): values is readonly T[] => !values.includes(null);

/** The atomic load of an element; one of fewer than 32 bits is extended with zeros. */
export const atomicLoad = ({ bits }: Access): MemoryOp =>
  bits === 64 ? "i64.atomic.load" : bits === 32 ? "i32.atomic.load" : `i32.atomic.load${bits}_u`;

/** Extends the sign of the element on the stack, if its access asks for that. */
export function extendSign(writer: FunctionWriter, { bits, signed }: Access): void {
  if (signed && bits < 32) writer.op(bits === 8 ? "i32.extend8_s" : "i32.extend16_s");
}
