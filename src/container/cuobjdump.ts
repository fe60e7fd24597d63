import type { DeviceModule, CodeImage } from "./members.ts";
import { cuobjdumpHead } from "./sniff.ts";

const everyHead = new RegExp(cuobjdumpHead.source, "gm");

/**
 * Reads what `cuobjdump -ptx` and `cuobjdump -all -ptx` print: texts with a head each, of which the lines name the
 * architecture, the version and the source. All forms of one source are one module.
 */
export function readCuobjdump(text: string): readonly DeviceModule[] {
  const heads = [...text.matchAll(everyHead)];
  const modules = new Map<string, { name: string; relocatable: boolean; images: CodeImage[] }>();
  heads.forEach((found, i) => {
    if (found[1] !== "ptx") return;
    const from = found.index + found[0].length;
    const { fields, body } = parseEntry(text.slice(from, heads[i + 1]?.index ?? text.length));
    const name = fields.get("identifier") ?? "";
    const architecture = fields.get("arch") ?? "sm_?";
    // One source has one form of each architecture; the second belongs to another source without a name.
    const unnamed = name === "" ? (sameModule(modules, architecture) ?? modules.size + 1) : name;
    const key = String(unnamed);
    const module = modules.get(key) ?? { name: name === "" ? key : stem(name), relocatable: false, images: [] };
    modules.set(key, module);
    const options = fields.get("ptxasOptions") ?? "";
    module.relocatable ||= /--compile-only/.test(options);
    module.images.push(imageOf(body, { architecture, options, version: fields.get("code version") ?? "" }));
  });
  return [...modules.values()];
}

/** The key of the last module if it lacks a form for this architecture. */
function sameModule(
  modules: ReadonlyMap<string, { images: readonly CodeImage[] }>,
  architecture: string,
): string | null {
  const last = [...modules].at(-1);
  return last && !last[1].images.some((image) => image.architecture === architecture) ? last[0] : null;
}

function parseEntry(entry: string): { readonly fields: ReadonlyMap<string, string>; readonly body: string } {
  const fields = new Map<string, string>();
  let at = entry.indexOf("\n") + 1;
  for (;;) {
    const end = entry.indexOf("\n", at);
    const line = entry.slice(at, end < 0 ? entry.length : end).trimEnd();
    const [, name, value] = /^(\w[\w ]*?) = (.*)$/.exec(line) ?? [];
    const isFlag = /^(compressed|has debug info|compile_size.*|\w+ bit|\w+bit)$/i.test(line);
    if ((name === undefined && !isFlag && line !== "") || end < 0) break;
    if (name !== undefined) fields.set(name, value!.trim());
    at = end + 1;
  }
  // In archives a line names the object before its entries; it is no part of the text before it.
  const body = entry.slice(at);
  const member = /^member .*:[ \t]*\r?$/m.exec(body);
  return { fields, body: member === null ? body : body.slice(0, member.index) };
}

interface Heading {
  readonly architecture: string;
  readonly options: string;
  readonly version: string;
}

function imageOf(body: string, { architecture, options, version }: Heading): CodeImage {
  const [, major, minor] = /\[(\d+),(\d+)\]/.exec(version) ?? [];
  const bytes = new TextEncoder().encode(body);
  return {
    kind: "ptx",
    architecture,
    version: major === undefined ? null : `${major}.${minor}`,
    options,
    compression: "none",
    storedBytes: bytes.length,
    bytes: bytes.length,
    read: () => bytes,
  };
}

/** The name of a source without its folder and ending. */
export const stem = (path: string): string =>
  path.replace(/^.*[\\/](?=[^\\/])/, "").replace(/(?<=.)\.(cu|cuh|cpp|cc|c|o|obj|ptx|fatbin|cubin)$/i, "");
