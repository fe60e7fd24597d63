import type { Buffer } from "../data/buffer.ts";
import type { ImageHandle } from "../data/image.ts";
import type { DeviceCore } from "../device/device-core.ts";
import type { ObjectSpec } from "./job-image.ts";

/** The textures, surfaces and samplers of a job: one for all arguments and variables that describe the same. */
export class JobObjects {
  readonly #device: DeviceCore;
  readonly #buffers: ReadonlyMap<string, Buffer>;
  readonly #made = new Map<string, ImageHandle>();

  constructor(device: DeviceCore, buffers: ReadonlyMap<string, Buffer>) {
    this.#device = device;
    this.#buffers = buffers;
  }

  /** The object that a job describes. */
  object(spec: ObjectSpec): ImageHandle {
    const key = JSON.stringify(spec);
    const found = this.#made.get(key) ?? this.#make(spec);
    this.#made.set(key, found);
    return found;
  }

  #make(spec: ObjectSpec): ImageHandle {
    if (spec.as === "sampler") return this.#device.sampler(spec.sampler);
    const buffer = this.#buffers.get(spec.buffer)!.at(spec.offset);
    const image = this.#device.image({ ...spec.image, buffer });
    return spec.as === "surface" ? image.surface() : image.texture(spec.texture);
  }
}
