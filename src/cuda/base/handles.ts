import { CudaError, errors, fail } from "./errors.ts";

/** Handles look like addresses of no memory of the program. */
const [first, step] = [0x1000_0000n, 0x40n];
let last = first;

/** A value that no other handle has. */
export const newHandle = (): bigint => (last += step);

/** Whether a value is, or was, a handle. */
const wasGiven = (handle: bigint): boolean => handle > first && handle <= last && handle % step === 0n;

/** Objects by the handles that the program has for them. */
export class Handles<T> {
  readonly #objects = new Map<bigint, T>();
  readonly #destroyed: number;

  /** `destroyed`: the error of a handle of what was destroyed. */
  constructor(destroyed: number = errors.invalidResourceHandle) {
    this.#destroyed = destroyed;
  }

  add(object: T, handle = newHandle()): bigint {
    this.#objects.set(handle, object);
    return handle;
  }

  find(handle: bigint): T | undefined {
    return this.#objects.get(handle);
  }

  /** Throws if there is none. */
  get(handle: bigint, code?: number): T {
    const object = this.#objects.get(handle);
    if (object !== undefined) return object;
    if (!wasGiven(handle)) return fail(code ?? errors.invalidResourceHandle);
    throw new CudaError(code ?? this.#destroyed, null, "what the handle named was destroyed, or is of another kind");
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
