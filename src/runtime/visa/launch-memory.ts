import { AddressSpace } from "../../machine/memory/address-space.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Surface } from "../../machine/state/thread-model.ts";
import { fitting } from "../data/errors.ts";

const addresses = new AddressSpace(64);

/** Memory that a launch needs besides its arguments: private memory, scratch space, the printf buffer. */
export class LaunchMemory {
  readonly device: DeviceMemory;
  readonly #offsets: number[] = [];

  constructor(device: DeviceMemory) {
    this.device = device;
  }

  /**
   * Allocates zeroed memory until the end of the launch.
   *
   * @throws UsageError if the device has no room
   */
  alloc(bytes: number, name: string, perThread = false): Surface {
    const offset = fitting(() => this.device.alloc(bytes, name, { perThread }));
    this.#offsets.push(offset);
    return { address: addresses.global(offset), bytes };
  }

  /**
   * Reads at most `limit` bytes from an address, and not beyond the allocation that holds it; none if it lies in no
   * allocation.
   */
  read(address: bigint, limit: number): Uint8Array {
    const offset = Number(BigInt.asIntN(64, address - addresses.global(0)));
    const found = offset < 0 || !Number.isSafeInteger(offset) ? null : this.device.find(offset);
    if (found === null || found.freed) return new Uint8Array();
    return this.device.read(offset, Math.min(limit, found.end - offset));
  }

  write({ address }: Surface, bytes: Uint8Array): void {
    this.device.write(Number(address - addresses.global(0)), bytes);
  }

  /** Frees all of it, at the end of the launch. */
  free(): void {
    for (const offset of this.#offsets.splice(0)) this.device.free(offset);
  }
}
