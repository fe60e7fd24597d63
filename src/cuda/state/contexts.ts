import { newHandle } from "../base/handles.ts";
import type { MultiprocessorSet } from "./multiprocessors.ts";

/** A context of the driver: what is current in a thread. Contexts of one device share its memory and modules here. */
export class Context {
  readonly handle = newHandle();
  readonly device: number;
  /** The one that the runtime uses, too. */
  readonly isPrimary: boolean;
  /** The multiprocessors of a green context; null for any other, which has all. */
  readonly green: MultiprocessorSet | null;
  flags: number;
  /** How often it is retained or attached to, besides having been made. */
  references = 0;

  constructor(device: number, flags: number, isPrimary = false, green: MultiprocessorSet | null = null) {
    this.green = green;
    this.device = device;
    this.flags = flags;
    this.isPrimary = isPrimary;
  }
}
