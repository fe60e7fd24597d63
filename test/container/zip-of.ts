import { deflateRawSync } from "node:zlib";
import { joined } from "./fixtures.ts";

type Compress = (data: Uint8Array) => Uint8Array;

/** A ZIP archive (APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16), with what is needed to be read. */
export function zipOf(
  files: Readonly<Record<string, string | Uint8Array>>,
  compressed: boolean | Compress,
): Uint8Array {
  const compress = compressed === true ? (data: Uint8Array) => deflateRawSync(data) : compressed || null;
  const local: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const [path, content] of Object.entries(files)) {
    const name = new TextEncoder().encode(path);
    const data = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const stored = compress === null ? data : compress(data);
    const method = compress === null ? 0 : 8;
    const head = record(30, [
      [0, 0x04034b50],
      [8, method],
      [18, stored.length],
      [22, data.length],
      [26, name.length],
    ]);
    const entry = record(46, [
      ...([
        [0, 0x02014b50],
        [10, method],
        [20, stored.length],
        [24, data.length],
        [28, name.length],
        [42, at],
      ] as const),
    ]);
    local.push(head, name, stored);
    directory.push(entry, name);
    at += head.length + name.length + stored.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const count = Object.keys(files).length;
  const end = record(22, [
    [0, 0x06054b50],
    [8, count],
    [10, count],
    [12, size],
    [16, at],
  ]);
  return joined(...local, ...directory, end);
}

/** Numbers of 32 bits at places; those of 16 bits are followed by zeros or written over. */
function record(size: number, fields: readonly (readonly [at: number, value: number])[]): Uint8Array {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  for (const [at, value] of fields) {
    if (at + 4 > size || value < 0x1_0000) view.setUint16(at, value & 0xffff, true);
    if (value >= 0x1_0000) view.setUint32(at, value, true);
  }
  return bytes;
}
