import { ContainerError, inflate } from "../../container/index.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { type ChunkHead, headOf } from "./chunk.ts";

/** The first bytes of a recording. */
const magic = new TextEncoder().encode("lanewise recording 1\n");

/** Bytes of memory that are kept together: those in which nothing has changed since the last launch are left out. */
export const recordedPageBytes = 4096;

/** Compresses bytes as DEFLATE. */
export type Deflate = (bytes: Uint8Array) => Uint8Array;

/** A piece of a recording: what it says, and bytes. */
export interface Chunk {
  readonly head: ChunkHead;
  /** Unpacks the bytes. Throws a UsageError if they are damaged. */
  readonly data: () => Uint8Array;
}

export const isRecording = (bytes: Uint8Array): boolean => magic.every((byte, i) => bytes[i] === byte);

/** The beginning of a file, before its chunks. */
export const recordingStart = (): Uint8Array => magic.slice();

const lengthsBytes = 12;

/** DEFLATE makes no byte into more than so many. */
const mostGrowth = 1032;

/** A chunk as bytes of a file: the lengths of its head, of its data and of its packed data, and these. */
export function encodeChunk(head: ChunkHead, data: Uint8Array, deflate: Deflate): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const packed = deflate(data);
  const out = new Uint8Array(lengthsBytes + text.length + packed.length);
  const view = new DataView(out.buffer);
  [text.length, data.length, packed.length].forEach((n, i) => {
    view.setUint32(4 * i, n, true);
  });
  out.set(text, lengthsBytes);
  out.set(packed, lengthsBytes + text.length);
  return out;
}

/**
 * Reads the chunks of a file. One that is cut off at the end, as by a program that was killed, is left out.
 *
 * @throws UsageError if the file is no recording, or is damaged
 */
export function decodeChunks(bytes: Uint8Array): readonly Chunk[] {
  if (!isRecording(bytes)) throw new UsageError("it is no recording of `lanewise exec --record`");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const chunks: Chunk[] = [];
  for (let at = magic.length; at + lengthsBytes <= bytes.length; ) {
    const [head, data, packed] = [0, 4, 8].map((i) => view.getUint32(at + i, true)) as [number, number, number];
    const from = at + lengthsBytes;
    const end = from + head + packed;
    if (end > bytes.length) break;
    const unpack = (): Uint8Array => unpacked(bytes.subarray(from + head, end), data);
    chunks.push({ head: parsed(bytes.subarray(from, from + head), at), data: unpack });
    at = end;
  }
  return chunks;
}

function parsed(bytes: Uint8Array, at: number): ChunkHead {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new UsageError(`the recording is damaged: there is no chunk at byte ${at}`);
  }
  return headOf(value);
}

function unpacked(packed: Uint8Array, bytes: number): Uint8Array {
  if (bytes > packed.length * mostGrowth) throw new UsageError("the recording is damaged: a chunk is too short");
  try {
    return inflate(packed, bytes);
  } catch (error) {
    if (error instanceof ContainerError) throw new UsageError(`the recording is damaged: ${error.message}`);
    throw error;
  }
}
