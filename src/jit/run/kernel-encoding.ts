import type { CompiledKernel } from "../abi/compiled-kernel.ts";

/** Encodes a compiled kernel as bytes: the length of a JSON text, the text, the tables of targets, and the modules. */
export function encodeKernel({ bytes, tiles, targets, ...rest }: CompiledKernel): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify({ ...rest, targets: targets.length, tiles: tiles.length }));
  const entry = new Uint8Array(4 + text.length + targets.length + tiles.length + bytes.length);
  new DataView(entry.buffer).setUint32(0, text.length, true);
  entry.set(text, 4);
  entry.set(targets, 4 + text.length);
  entry.set(tiles, 4 + text.length + targets.length);
  entry.set(bytes, 4 + text.length + targets.length + tiles.length);
  return entry;
}

/**
 * Decodes what `encodeKernel` has made.
 *
 * @throws Error when the bytes are anything else
 */
export function decodeKernel(entry: Uint8Array): CompiledKernel {
  const length = new DataView(entry.buffer, entry.byteOffset, entry.byteLength).getUint32(0, true);
  const text = new TextDecoder().decode(entry.subarray(4, 4 + length));
  const rest = JSON.parse(text) as Omit<CompiledKernel, "bytes" | "tiles" | "targets"> & {
    readonly targets: number;
    readonly tiles: number;
  };
  const afterTargets = 4 + length + rest.targets;
  const afterTiles = afterTargets + rest.tiles;
  return {
    ...rest,
    targets: entry.slice(4 + length, afterTargets),
    tiles: entry.slice(afterTargets, afterTiles),
    bytes: entry.slice(afterTiles),
  };
}
