import type { ByteView } from "./byte-view.ts";
import { ContainerError } from "./container-error.ts";
import { inflate } from "./inflate.ts";
import type { ContainedFile } from "./members.ts";

const localHeader = 0x04034b50;
const directoryEntry = 0x02014b50;
const directoryEnd = 0x06054b50;
const directoryEndBytes = 22;
/** The longest comment that may follow the end of the directory. */
const maxComment = 0xffff;
/** The most bytes of one file: a ceiling for what damaged sizes can ask for. */
const maxFile = 0x1000_0000;

export const isZip = (view: ByteView): boolean =>
  view.length >= directoryEndBytes && [localHeader, directoryEnd].includes(view.u32(0));

/**
 * Lists the files of a ZIP archive, without its folders.
 *
 * @throws ContainerError if the list is damaged
 */
export function* readZip(view: ByteView): Generator<ContainedFile> {
  const end = directoryEndOf(view);
  const count = view.u16(end + 10);
  let at = view.u32(end + 16);
  if (at === 0xffff_ffff) view.fail("a ZIP archive of more than 4 GiB, which is not read", end);
  for (let i = 0; i < count; i++) {
    if (view.u32(at) !== directoryEntry) view.fail("this should be an entry of the ZIP archive's list", at);
    const [nameLength, extra, comment] = [view.u16(at + 28), view.u16(at + 30), view.u16(at + 32)];
    const path = new TextDecoder().decode(view.slice(at + 46, nameLength)).replaceAll("\\", "/");
    if (!path.endsWith("/")) yield fileOf(view, at, path);
    at += 46 + nameLength + extra + comment;
  }
}

function directoryEndOf(view: ByteView): number {
  const least = Math.max(0, view.length - directoryEndBytes - maxComment);
  for (let at = view.length - directoryEndBytes; at >= least; at--) if (view.u32(at) === directoryEnd) return at;
  return view.fail("the list of the ZIP archive is missing: it is cut off", view.length);
}

function fileOf(view: ByteView, at: number, path: string): ContainedFile {
  const [flags, method] = [view.u16(at + 8), view.u16(at + 10)];
  const [stored, size, local] = [view.u32(at + 20), view.u32(at + 24), view.u32(at + 42)];
  const read = (): Uint8Array => {
    if ((flags & 1) !== 0) view.fail(`${path} is encrypted`, at);
    if (method !== 0 && method !== 8) view.fail(`${path} is compressed in a way that is not read (${method})`, at);
    if (size > maxFile) view.fail(`${path} says that it has ${size} bytes`, at + 24);
    if (view.u32(local) !== localHeader) view.fail(`this should be the header of ${path}`, local);
    const data = view.slice(local + 30 + view.u16(local + 26) + view.u16(local + 28), stored);
    try {
      return method === 0 ? data : inflate(data, size);
    } catch (error) {
      if (!(error instanceof ContainerError)) throw error;
      throw new ContainerError(`${path}: ${error.message}`);
    }
  };
  return { path, compression: method === 0 ? "none" : "deflate", bytes: size, read };
}
