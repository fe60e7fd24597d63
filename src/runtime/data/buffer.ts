import { AddressSpace } from "../../machine/memory/address-space.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import { elementInfo, Elements, type ElementType, toTypedArray, type TypedArrays } from "./element.ts";
import { fitting, UsageError } from "./errors.ts";

/** An address within a buffer, as a kernel argument. */
export interface Pointer {
  readonly kind: "pointer";
  readonly buffer: Buffer;
  /** Bytes. May lie outside the buffer, as in C one element behind an array; an access there is reported. */
  readonly offset: number;
}

/**
 * Memory of a device that kernels read and write, as an array of elements. It stays where it is until it is freed.
 *
 *     const x = device.buffer(new Float32Array([1, 2, 3]));
 *     const y = device.buffer("f16", 1000); // zeros
 *     kernel.launch({ grid: 1, block: 32, args: [x, y.at(64)] });
 *     y.read(); // Float32Array of 1000 values
 */
export class Buffer<T extends ElementType = ElementType> {
  /** The type of its elements. */
  readonly type: T;
  /** Elements. */
  readonly length: number;
  /** Where it lies in the device's memory, in bytes. */
  readonly offset: number;
  readonly #memory: DeviceMemory;
  /** What had been launched before: that cannot know of this buffer. */
  readonly #since: number;
  #freed = false;

  /**
   * Use `Device.buffer`.
   *
   * @throws UsageError when the length is none, or more than the device has
   */
  constructor(memory: DeviceMemory, type: T, length: number, name?: string) {
    this.type = type;
    this.length = length;
    this.#memory = memory;
    this.#since = memory.pending.begun;
    this.offset = fitting(() => memory.alloc(length * elementInfo[type].size, name));
  }

  /** Its size in bytes. */
  get byteLength(): number {
    return this.length * elementInfo[this.type].size;
  }

  /** The generic address that a kernel of a 64-bit module sees: 256-byte aligned, never 0. */
  get address(): bigint {
    return new AddressSpace(64).global(this.offset);
  }

  /** The device's memory, in which it lies at `offset`. */
  get memory(): DeviceMemory {
    return this.#memory;
  }

  /**
   * A copy of the values. f16 and bf16 come as `Float32Array`.
   *
   * @throws UsageError while launches are in flight that may still write them; so do `write` and `free`
   */
  read(): TypedArrays[T] {
    return toTypedArray(this.type, this.readBytes());
  }

  /** A copy of the bytes, little-endian. */
  readBytes(): Uint8Array {
    this.#living();
    return this.#memory.read(this.offset, this.byteLength);
  }

  /**
   * Writes values from element `at` on: numbers (bigints for 64-bit integers), which are rounded to the buffer's type.
   *
   * @throws UsageError when they do not fit into the buffer
   */
  write(values: ArrayLike<number> | ArrayLike<bigint>, at = 0): this {
    const elements = Elements.zeros(this.type, values.length);
    for (let i = 0; i < values.length; i++) elements.set(i, values[i]!);
    return this.writeBytes(elements.bytes, at * elements.size);
  }

  /** Writes bytes from byte `at` on. */
  writeBytes(bytes: Uint8Array, at = 0): this {
    this.#living();
    if (at < 0 || at + bytes.length > this.byteLength) {
      throw new UsageError(`${bytes.length} bytes at byte ${at} do not fit a buffer of ${this.byteLength} bytes`);
    }
    this.#memory.write(this.offset + at, bytes);
    return this;
  }

  /** The address of the byte at `offset`, for a kernel argument. */
  at(offset: number): Pointer {
    return { kind: "pointer", buffer: this, offset };
  }

  /** Gives the memory back. A kernel that still uses it is reported. */
  free(): void {
    this.#living();
    this.#freed = true;
    this.#memory.free(this.offset);
  }

  #living(): void {
    if (this.#freed) throw new UsageError("the buffer has been freed");
    if (this.#memory.pending.reach(this.#since)) {
      throw new UsageError("launches are in flight that may use the buffer: await their results first");
    }
  }
}
