import { errors, fail } from "../base/errors.ts";
import type { Stream } from "../work/stream.ts";
import { CudaDevice } from "./cuda-device.ts";
import { type ExecOptions, ProcessState, type Surroundings } from "./process-state.ts";

export type { ExecOptions, Surroundings } from "./process-state.ts";

/** A thread of the program. */
export interface HostThread {
  readonly id: number;
  /** The number of its current device. */
  device: number;
  /** Its own default stream on each device. */
  readonly defaultStreams: Map<number, Stream>;
  /** How strictly a capture in another thread keeps it from unsafe calls. */
  captureMode: number;
}

/** A process that uses CUDA: its devices and threads, and all that it has made of them. */
export class CudaProcess extends ProcessState {
  readonly #threads = new Map<number, HostThread>();
  readonly #devices: CudaDevice[] = [];
  readonly #visible: readonly number[];

  constructor(options: ExecOptions, surroundings: Surroundings) {
    super(options, surroundings);
    this.#visible = visibleDevices(surroundings.visibleDevices, options.devices);
  }

  /** The number of devices that the program may see. */
  get deviceCount(): number {
    return this.#visible.length;
  }

  thread(id: number): HostThread {
    let known = this.#threads.get(id);
    if (known === undefined) {
      known = { id, device: 0, defaultStreams: new Map(), captureMode: 0 };
      this.#threads.set(id, known);
    }
    return known;
  }

  /** A device by its number. Throws if there is none, or nothing can be done any more. */
  device(number: number): CudaDevice {
    if (this.deviceCount === 0) fail(errors.noDevice);
    if (number < 0 || number >= this.deviceCount) fail(errors.invalidDevice);
    if (this.error !== 0) fail(this.error);
    return (this.#devices[number] ??= new CudaDevice(this, number));
  }

  /** The devices that have been used. */
  get usedDevices(): readonly CudaDevice[] {
    return this.#devices.filter((d) => d !== undefined);
  }

  /** Forgets a binary that the program has unloaded. Returns the functions that stood for its kernels. */
  unload(handle: bigint): readonly bigint[] {
    const removed = this.registry.removeBinary(handle);
    if (removed === null) return [];
    for (const device of this.usedDevices) device.unload(removed.binary);
    return removed.functions;
  }
}

/** The devices that CUDA_VISIBLE_DEVICES leaves: those before the first that is none. */
function visibleDevices(value: string | null, count: number): readonly number[] {
  const all = Array.from({ length: count }, (_, i) => i);
  if (value === null) return all;
  const visible: number[] = [];
  for (const word of value.split(",")) {
    const number = /^\s*\d+\s*$/.test(word) ? Number(word) : -1;
    if (!all.includes(number) || visible.includes(number)) break;
    visible.push(number);
  }
  return visible;
}
