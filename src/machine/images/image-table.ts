import type { Image } from "./image.ts";
import type { Sampler } from "./sampler.ts";

/**
 * What a kernel refers to by a handle of 64 bits: a texture, with a sampler of its own or without; a surface, whose
 * texels are read and written one by one; or a sampler.
 */
export type ImageObject =
  | { readonly kind: "texture"; readonly image: Image; readonly sampler: Sampler; readonly sRGB: boolean }
  | { readonly kind: "surface"; readonly image: Image }
  | { readonly kind: "sampler"; readonly sampler: Sampler };

/** What a handle refers to; or that it did, until the object or its memory was freed. */
export type FoundObject = ImageObject | "freed" | "memory-freed" | null;

/** The upper half of every handle: no address has it. */
const handleHigh = 0x7e58_0000;

/** The objects of a device by handle. Handles are not used again, so that a late use is recognised. */
export class ImageTable {
  #objects: (ImageObject | "freed" | "memory-freed")[] = [];

  /** Adds an object. Returns its handle. */
  add(object: ImageObject): bigint {
    this.#objects.push(object);
    return (BigInt(handleHigh) << 32n) | BigInt(this.#objects.length);
  }

  /** The object of a handle in halves (unsigned); null if it is none. */
  find(high: number, low: number): FoundObject {
    return high === handleHigh ? (this.#objects[low - 1] ?? null) : null;
  }

  /** Frees an object. Returns whether there was one. */
  remove(handle: bigint): boolean {
    const index = Number(handle & 0xffff_ffffn) - 1;
    const found = this.find(Number(handle >> 32n), index + 1);
    if (found === null || typeof found === "string") return false;
    this.#objects[index] = "freed";
    return true;
  }

  /** Memory from an offset to another is freed: objects whose texels are there have none. */
  forget(from: number, to: number): void {
    this.#objects.forEach((object, i) => {
      if (typeof object === "string" || object.kind === "sampler") return;
      const { base } = object.image;
      if (base >= from && base < to) this.#objects[i] = "memory-freed";
    });
  }

  /** All objects in the order of their handles, those that were freed too. */
  get objects(): readonly Exclude<FoundObject, null>[] {
    return this.#objects;
  }

  /** Takes the objects of another device, by the same handles. */
  assume(objects: readonly Exclude<FoundObject, null>[]): void {
    this.#objects = [...objects];
  }

  /** Remembers the present objects, and returns a function that restores them. */
  freeze(): () => void {
    const kept = [...this.#objects];
    return () => {
      this.#objects = [...kept];
    };
  }
}
