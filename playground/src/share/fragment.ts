import type { PlayDocument } from "../document.ts";
import type { ProgramFile } from "../engine/protocol.ts";

/** What a link holds: a program, and how it is looked at. */
export interface Shared {
  readonly document: PlayDocument;
  readonly view: string;
}

/** As it is written into a link: names are short, since it is compressed only as a whole. */
interface Packed {
  readonly v: 1;
  readonly t: string;
  readonly j: string;
  /** Files: the path, and the text or, in base64, the bytes. */
  readonly f: readonly (readonly [path: string, text: string | null, bytes: string | null])[];
  readonly w: string;
}

/** The longest fragment that is read: browsers keep some megabytes. */
const maxLength = 4_000_000;
const maxUnpacked = 64_000_000;

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const out = new Blob([bytes as BlobPart]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await out.read();
    if (done) break;
    size += value.length;
    if (size > maxUnpacked) throw new Error("the link holds too much");
    parts.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

const fromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

/** The fragment of a link that opens a program. It stays in the browser: servers are never sent it. */
export async function toFragment({ document, view }: Shared): Promise<string> {
  const packed: Packed = {
    v: 1,
    t: document.title,
    j: document.job,
    f: document.files.map(({ path, text, bytes }) => [path, text, bytes === null ? null : toBase64(bytes)]),
    w: view,
  };
  const bytes = await through(new TextEncoder().encode(JSON.stringify(packed)), new CompressionStream("deflate-raw"));
  return `#p=${toBase64(bytes)}`;
}

/** Reads a fragment; null if it holds no program. Throws an Error if it is damaged. */
export async function fromFragment(fragment: string): Promise<Shared | null> {
  const text = /^#p=([\w-]+)$/.exec(fragment)?.[1];
  if (text === undefined) return null;
  if (text.length > maxLength) throw new Error("the link is too long");
  let packed: Partial<Packed>;
  try {
    const bytes = await through(fromBase64(text), new DecompressionStream("deflate-raw"));
    packed = JSON.parse(new TextDecoder().decode(bytes)) as Partial<Packed>;
  } catch {
    throw new Error("the link is damaged: it was cut off, perhaps");
  }
  const { v, t, j, f, w } = packed;
  if (v !== 1 || typeof j !== "string" || !Array.isArray(f)) throw new Error("the link is of another version");
  const files = f.map(
    ([path, source, bytes]): ProgramFile => ({
      path: String(path),
      text: typeof source === "string" ? source : null,
      bytes: typeof bytes === "string" ? fromBase64(bytes) : null,
    }),
  );
  return { document: { title: String(t), example: null, job: j, files }, view: String(w) };
}
