import { ContainerError } from "./container-error.ts";

/**
 * Decodes a block of LZ4 (https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md) of which the size is known.
 *
 * @throws ContainerError if the block is damaged
 */
export function decodeLz4(input: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  // A byte stands for 255 at most: memory is not asked for what cannot be there.
  if (size > 255 * input.length) throw new ContainerError(`the LZ4 data is damaged: ${size} bytes cannot be in it`);
  const output = new Uint8Array(size);
  let from = 0;
  let to = 0;
  const damaged = (why: string): never => {
    throw new ContainerError(`the LZ4 data is damaged: ${why} at byte ${from} of ${input.length}`);
  };
  /** A length of which the token has 4 bits: 15 means that bytes are added, up to one that is not 255. */
  const length = (bits: number): number => {
    let total = bits;
    if (bits < 15) return total;
    for (let more = 255; more === 255; total += more) {
      if (from >= input.length) damaged("a length has no end");
      more = input[from++]!;
    }
    return total;
  };
  while (from < input.length) {
    const token = input[from++]!;
    const literals = length(token >> 4);
    if (literals > input.length - from) damaged("literals are missing");
    if (literals > size - to) damaged("there is more than was declared");
    output.set(input.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    // The last sequence has literals alone.
    if (from === input.length) break;
    if (input.length - from < 2) damaged("an offset is missing");
    const distance = input[from]! | (input[from + 1]! << 8);
    from += 2;
    const copied = length(token & 15) + 4;
    if (distance === 0 || distance > to) damaged("an offset points before the beginning");
    if (copied > size - to) damaged("there is more than was declared");
    // Byte by byte: what is copied may overlap with what it makes.
    for (const end = to + copied; to < end; to++) output[to] = output[to - distance]!;
  }
  if (to !== size) damaged(`there are ${to} bytes where ${size} were declared,`);
  return output;
}
