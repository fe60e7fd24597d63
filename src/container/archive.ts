import type { ByteView } from "./byte-view.ts";

/** A file of an archive. */
export interface ArchiveMember {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const signature = "!<arch>\n";
const thinSignature = "!<thin>\n";
const headerBytes = 60;
const maxName = 4096;

export const isArchive = (view: ByteView): boolean => [signature, thinSignature].includes(beginning(view));

const beginning = (view: ByteView): string => (view.length < signature.length ? "" : view.text(0, signature.length));

/**
 * Reads an archive of `ar`, with long names as GNU or as BSD write them.
 *
 * @throws ContainerError if it is damaged, or thin: then it has only the names of its members
 */
export function* readArchive(view: ByteView): Generator<ArchiveMember> {
  if (beginning(view) === thinSignature) {
    view.fail("a thin archive has only the names of its objects: give the objects themselves", 0);
  }
  let longNames = "";
  for (let at = signature.length; at + headerBytes <= view.length; ) {
    const field = (from: number, length: number): string => view.text(at + from, length).trimEnd();
    const size = Number(field(48, 10));
    if (field(58, 2) !== "`" || !Number.isInteger(size)) view.fail("this should be the header of a member", at);
    const from = at + headerBytes;
    if (from + size > view.length) view.fail("a member of the archive is cut off", at);
    const name = field(0, 16);
    const bytes = view.slice(from, size);
    at = from + size + (size & 1);
    if (name === "//") longNames = view.text(from, size);
    else if (name.startsWith("#1/")) yield bsdMember(Number(name.slice(3)), bytes);
    // The table of symbols, under its names.
    else if (name !== "/" && name !== "/SYM64/" && name !== "__.SYMDEF")
      yield { name: gnuName(name, longNames), bytes };
  }
}

/** Names end in a slash, or are a place in the list of long names. */
function gnuName(name: string, longNames: string): string {
  const [, place] = /^\/(\d+)$/.exec(name) ?? [];
  if (place === undefined) return name.replace(/\/$/, "");
  const [long = ""] = longNames.slice(Number(place), Number(place) + maxName).split("\n", 1);
  return long.replace(/\/$/, "");
}

/** A name of so many bytes stands before the contents. */
function bsdMember(length: number, bytes: Uint8Array): ArchiveMember {
  const size = Number.isInteger(length) ? Math.min(length, bytes.length) : 0;
  const name = new TextDecoder().decode(bytes.subarray(0, size)).replace(/\0[\s\S]*$/, "");
  return { name, bytes: bytes.subarray(size) };
}
