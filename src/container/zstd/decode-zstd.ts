import { ByteView } from "../byte-view.ts";
import { type FrameState, mostOfBlock } from "./frame-state.ts";
import { readLiterals } from "./literals.ts";
import { runSequences } from "./sequences.ts";
import { xxh64Low } from "./xxh64.ts";

const frameMagic = 0xfd2fb528;
/** The first of the 16 magic numbers of frames that are to be skipped. */
const skippableMagic = 0x184d2a50;
/** The fewest bytes of a block that stands for 128 KiB: its header, and the byte that is repeated. */
const leastOfBlock = 4;

/**
 * Decodes Zstandard (RFC 8878) of which the size is known. What the format forbids is refused, and so is more or less
 * than the size: the time and the memory that data can ask for are bounded by its own size and by the declared one.
 *
 * @throws ContainerError if the data is damaged, or needs a dictionary
 */
export function decodeZstd(input: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const view = new ByteView(input, "the zstd data is damaged");
  if (size > (input.length / leastOfBlock) * mostOfBlock) view.fail(`${size} bytes cannot be in it`, input.length);
  const output = new Uint8Array(size);
  const literals = new Uint8Array(Math.min(size, mostOfBlock));
  let from = 0;
  let at = 0;
  do {
    if ((view.u32(from) & ~15) === skippableMagic) {
      const skipped = view.u32(from + 4);
      view.slice(from + 8, skipped);
      from += 8 + skipped;
      continue;
    }
    const header = readHeader(view, from, size - at);
    const frame = newFrame(header, output, { at, literals });
    from = readBlocks(view, header.next, frame);
    const { said } = header;
    if (said !== null && frame.at !== frame.end) {
      view.fail(`a frame has ${frame.at - at} bytes, and its header says ${said}`, from);
    }
    if (header.hasChecksum) {
      const found = xxh64Low(output.subarray(at, frame.at));
      if (view.u32(from) !== found) view.fail("the checksum does not match", from);
      from += 4;
    }
    at = frame.at;
  } while (from < input.length);
  if (at !== size) view.fail(`there are ${at} bytes where ${size} were declared`, input.length);
  return output;
}

interface FrameHeader {
  readonly window: number;
  /** The size that the header declares; null if it does not say. */
  readonly said: number | null;
  readonly hasChecksum: boolean;
  /** Where the blocks begin. */
  readonly next: number;
}

/** Reads the header of a frame (section 3.1.1.1), for which there is so much room. */
function readHeader(view: ByteView, from: number, room: number): FrameHeader {
  if (view.u32(from) !== frameMagic) view.fail("this should be the beginning of a frame of zstd", from);
  const flags = view.u8(from + 4);
  if ((flags & 8) !== 0) view.fail("a frame has a flag that is reserved", from + 4);
  const isSingle = (flags & 0x20) !== 0;
  let at = from + 5;
  const window = isSingle ? null : windowSize(view.u8(at++));
  const idBytes = [0, 1, 2, 4][flags & 3]!;
  const dictionary = numberAt(view, at, idBytes);
  if (dictionary !== 0) view.fail(`it needs the dictionary ${dictionary}; data with dictionaries is not read`, at);
  at += idBytes;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6]!;
  const said = sizeBytes === 0 ? null : numberAt(view, at, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
  if (said !== null && said > room) view.fail(`it says ${said} bytes where ${room} were declared`, at);
  at += sizeBytes;
  return { window: window ?? said ?? 0, said, hasChecksum: (flags & 4) !== 0, next: at };
}

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function numberAt(view: ByteView, at: number, bytes: number): number {
  switch (bytes) {
    case 0:
      return 0;
    case 1:
      return view.u8(at);
    case 2:
      return view.u16(at);
    case 4:
      return view.u32(at);
    default:
      return view.u64(at);
  }
}

const newFrame = (
  { window, said }: FrameHeader,
  output: Uint8Array,
  { at, literals }: { readonly at: number; readonly literals: Uint8Array },
): FrameState => ({
  output,
  begin: at,
  at,
  end: said === null ? output.length : at + said,
  window,
  maxBlock: Math.min(window, mostOfBlock),
  huffman: null,
  tables: { literals: null, offsets: null, matches: null },
  recent: [1, 4, 8],
  literals,
});

const rawBlock = 0;
const repeatedBlock = 1;
const reservedBlock = 3;

/** Decodes the blocks of a frame (section 3.1.1.2). Returns where they end. */
function readBlocks(view: ByteView, from: number, frame: FrameState): number {
  for (let at = from; ; ) {
    const header = view.u16(at) | (view.u8(at + 2) << 16);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    if (type === reservedBlock) view.fail("there is no such kind of block", at);
    if (size > frame.maxBlock) view.fail(`a block has ${size} bytes, where ${frame.maxBlock} are the most`, at);
    const data = at + 3;
    const stored = type === repeatedBlock ? 1 : size;
    if (type === rawBlock || type === repeatedBlock) {
      if (size > frame.end - frame.at) view.fail("there is more than was declared", at);
      if (type === rawBlock) frame.output.set(view.slice(data, size), frame.at);
      else frame.output.fill(view.u8(data), frame.at, frame.at + size);
      frame.at += size;
    } else readCompressed(view.until(data + stored), data, frame);
    at = data + stored;
    if ((header & 1) !== 0) return at;
  }
}

function readCompressed(view: ByteView, from: number, frame: FrameState): void {
  const begin = frame.at;
  const { bytes, next } = readLiterals(view, from, frame);
  runSequences(view, next, frame, bytes);
  if (frame.at - begin > frame.maxBlock) view.fail("a block stands for more than it may", from);
}
