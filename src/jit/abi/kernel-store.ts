/**
 * Where compiled kernels are kept beyond the process: bytes by key. Nothing depends on it: what is not there is compiled again, and
 * what cannot be kept is not.
 */
export interface KernelStore {
  /** What has been kept under the key, to the byte, or null. Never throws. */
  read(key: string): Uint8Array | null;
  /** Never throws. */
  write(key: string, entry: Uint8Array): void;
  /** What was kept under the key is no good. Never throws. */
  remove(key: string): void;
}
