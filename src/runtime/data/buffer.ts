import { AddressSpace } from "../../machine/memory/address-space.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import {
  asTypedArray,
  bytesOfValues,
  copyElements,
  elementInfo,
  type ElementType,
  isArrayOf,
  type TypedArrays,
} from "./element.ts";
import { fitting, UsageError } from "./errors.ts";

/** An address within a buffer, for use as a kernel argument. Made by `Buffer.at`. */
export interface Pointer {
  readonly kind: "pointer";
  readonly buffer: Buffer;
  /**
   * In bytes from the start of the buffer. May lie outside it, like C's pointer one past the end; an access there is
   * reported.
   */
  readonly offset: number;
}

/**
 * An array of elements in a device's memory, which kernels read and write. It keeps its address until it is freed.
 *
 *     const x = device.buffer(new Float32Array([1, 2, 3]));
 *     const y = device.buffer("f16", 1000); // zeros
 *     kernel.launch({ grid: 1, block: 32, args: [x, y.at(64)] });
 *     y.read(); // Float32Array of 1000 values
 */
export class Buffer<T extends ElementType = ElementType> {
  /** The type of its elements. */
  readonly type: T;
  /** The number of elements. */
  readonly length: number;
  /** The offset of the first element in the device's memory, in bytes. */
  readonly offset: number;
  readonly #memory: DeviceMemory;
  /** The number of launches begun before the buffer was made: those cannot use it. */
  readonly #since: number;
  #freed = false;

  /**
   * Use `Device.buffer`.
   *
   * @throws UsageError if the length is not a non-negative integer, or the device has no room
   */
  constructor(memory: DeviceMemory, type: T, length: number, name?: string) {
    this.type = type;
    this.length = length;
    this.#memory = memory;
    this.#since = memory.pending.begun;
    this.offset = fitting(() => memory.alloc(length * elementInfo[type].size, name));
  }

  /** The size in bytes. */
  get byteLength(): number {
    return this.length * elementInfo[this.type].size;
  }

  /** The generic address that kernels of a 64-bit module see: a multiple of 256, never 0. */
  get address(): bigint {
    return new AddressSpace(64).global(this.offset);
  }

  /** The memory of the device that the buffer belongs to. */
  get memory(): DeviceMemory {
    return this.#memory;
  }

  /**
   * Returns a copy of the values. f16 and bf16 are converted to a `Float32Array`. `into`: an array of this kind and
   * length that gets the values; to read again and again into one array is several times as fast as into new ones.
   *
   * @throws UsageError if the buffer has been freed, while launches are in flight that may use it, or if `into` does
   * not fit
   */
  read(into?: TypedArrays[T]): TypedArrays[T] {
    if (into === undefined) return asTypedArray(this.type, this.readBytes());
    this.#living();
    if (!isArrayOf(this.type, into) || into.length !== this.length) {
      throw new UsageError(
        `${describe(into)}: a buffer of ${this.length} values of ${this.type} cannot be read into that`,
      );
    }
    copyElements(this.type, this.#memory.views.u8.subarray(this.offset, this.offset + this.byteLength), into);
    return into;
  }

  /**
   * Returns a copy of the bytes, little-endian.
   *
   * @throws UsageError as `read` does
   */
  readBytes(): Uint8Array {
    this.#living();
    return this.#memory.read(this.offset, this.byteLength);
  }

  /**
   * Writes values from element `at` on: numbers, or bigints for 64-bit integers. Floats are rounded to the buffer's
   * type; of integers the low bits are kept.
   *
   * @throws UsageError if they do not fit into the buffer, and as `read` does
   */
  write(values: ArrayLike<number> | ArrayLike<bigint>, at = 0): this {
    return this.writeBytes(bytesOfValues(this.type, values), at * elementInfo[this.type].size);
  }

  /**
   * Writes bytes from byte `at` on.
   *
   * @throws UsageError if they do not fit into the buffer, and as `read` does
   */
  writeBytes(bytes: Uint8Array, at = 0): this {
    this.#living();
    if (at < 0 || at + bytes.length > this.byteLength) {
      throw new UsageError(`${bytes.length} bytes at byte ${at} do not fit a buffer of ${this.byteLength} bytes`);
    }
    this.#memory.write(this.offset + at, bytes);
    return this;
  }

  /** The address `offset` bytes into the buffer, for use as a kernel argument. */
  at(offset: number): Pointer {
    return { kind: "pointer", buffer: this, offset };
  }

  /**
   * Frees the memory. A kernel that still accesses it is reported.
   *
   * @throws UsageError as `read` does
   */
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

/** An array as errors name it: "5 elements of a Float32Array". */
function describe(array: unknown): string {
  if (!ArrayBuffer.isView(array) || !("length" in array)) return String(array);
  return `${array.length} elements of a ${array.constructor.name}`;
}
