import type { ByteView } from "../byte-view.ts";
import { BackwardBits } from "./backward-bits.ts";
import type { FrameState } from "./frame-state.ts";
import { decodeHuffman, readHuffman } from "./huffman.ts";

interface Literals {
  readonly bytes: Uint8Array;
  /** Where the section ends. */
  readonly next: number;
}

const raw = 0;
const repeated = 1;
const compressed = 2;

/** Reads the literals of a block (RFC 8878, section 3.1.1.3.1), which ends where the view does. */
export function readLiterals(view: ByteView, from: number, frame: FrameState): Literals {
  const type = view.u8(from) & 3;
  return type === raw || type === repeated
    ? plainLiterals(view, from, frame)
    : packedLiterals(view, from, { frame, isTreeless: type !== compressed });
}

function plainLiterals(view: ByteView, from: number, frame: FrameState): Literals {
  const head = view.u8(from);
  const format = (head >> 2) & 3;
  const [size, length] =
    format === 1
      ? [view.u16(from) >> 4, 2]
      : format === 3
        ? [(view.u16(from) | (view.u8(from + 2) << 16)) >> 4, 3]
        : [head >> 3, 1];
  requireRoom(view, from, { frame, size });
  const data = from + length;
  if ((head & 3) === raw) return { bytes: view.slice(data, size), next: data + size };
  return { bytes: frame.literals.subarray(0, size).fill(view.u8(data)), next: data + 1 };
}

function requireRoom(view: ByteView, at: number, { frame, size }: { frame: FrameState; size: number }): void {
  if (size > frame.maxBlock) view.fail(`a block has ${size} literals, where ${frame.maxBlock} are the most`, at);
  if (size > frame.end - frame.at) view.fail("there is more than was declared", at);
}

interface Packed {
  readonly frame: FrameState;
  /** Whether the code is that of the block before. */
  readonly isTreeless: boolean;
}

function packedLiterals(view: ByteView, from: number, { frame, isTreeless }: Packed): Literals {
  const format = (view.u8(from) >> 2) & 3;
  // Two numbers of so many bits, after four bits.
  const width = [10, 10, 14, 18][format]!;
  const length = (4 + 2 * width + 7) >> 3;
  const head = view.slice(from, length).reduce((sum, byte, i) => sum + byte * 256 ** i, 0);
  const size = Math.floor(head / 16) % 2 ** width;
  const stored = Math.floor(head / 2 ** (4 + width));
  requireRoom(view, from, { frame, size });
  let data = from + length;
  const next = data + stored;
  const part = view.until(next);
  if (!isTreeless) {
    const { table, next: end } = readHuffman(part, data);
    frame.huffman = table;
    data = end;
  }
  const table = frame.huffman;
  if (table === null) return view.fail("a block needs the Huffman table of one before, and there is none", from);
  const bytes = frame.literals.subarray(0, size);
  const ends = format === 0 ? [next] : streamEnds(part, data, next);
  const share = format === 0 ? size : (size + 3) >> 2;
  if (share * (ends.length - 1) > size) view.fail(`${size} literals are too few for four streams`, from);
  let begin = format === 0 ? data : data + jumpTableBytes;
  ends.forEach((end, i) => {
    const target = bytes.subarray(share * i, i === ends.length - 1 ? size : share * (i + 1));
    decodeHuffman(new BackwardBits(part, begin, end), table, target);
    begin = end;
  });
  return { bytes, next };
}

const jumpTableBytes = 6;

/** Where the four streams end: the sizes of three stand before them. */
function streamEnds(view: ByteView, from: number, end: number): number[] {
  let at = from + jumpTableBytes;
  const ends = [0, 2, 4].map((place) => (at += view.u16(from + place)));
  if (at > end) view.fail("the streams of a block's literals go beyond its end", from);
  return [...ends, end];
}
