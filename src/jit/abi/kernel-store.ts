import type { HostPages } from "../../machine/memory/host-pages.ts";

/**
 * A store of compiled kernels that outlives the process: bytes by key. Nothing depends on it: an entry that is not
 * there is compiled again, and one that cannot be kept is lost.
 */
export interface KernelStore {
  /**
   * Returns the entry under a key, byte for byte, or null. It may be machine code, which runs as it is: what is
   * damaged, or comes from somebody else, must not be returned. Never throws.
   */
  read(key: string): Uint8Array | null;
  /** Keeps an entry under a key. Never throws. */
  write(key: string, entry: Uint8Array): void;
  /** Removes the entry under a key, which has turned out to be damaged. Never throws. */
  remove(key: string): void;
  /** The pages in which its devices keep their memory; null or missing: those that the host chooses. @internal */
  readonly hostPages?: HostPages | null;
}
