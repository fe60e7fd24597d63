import { errors, fail } from "./errors.ts";

/** Handles look like addresses of no memory of the program. */
let next = 0x1000_0000n;

/** A value that no other handle has. */
export const newHandle = (): bigint => (next += 0x40n);

/** Objects by the handles that the program has for them. */
export class Handles<T> {
  readonly #objects = new Map<bigint, T>();

  add(object: T, handle = newHandle()): bigint {
    this.#objects.set(handle, object);
    return handle;
  }

  find(handle: bigint): T | undefined {
    return this.#objects.get(handle);
  }

  /** Throws if there is none. */
  get(handle: bigint, code: number = errors.invalidResourceHandle): T {
    return this.#objects.get(handle) ?? fail(code);
  }

  remove(handle: bigint): boolean {
    return this.#objects.delete(handle);
  }

  clear(): void {
    this.#objects.clear();
  }

  get size(): number {
    return this.#objects.size;
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  entries(): IterableIterator<[bigint, T]> {
    return this.#objects.entries();
  }
}
