import { isContainer } from "../../container/sniff.ts";
import { type SourceFile, textOf } from "../../runtime/data/source-file.ts";
import type { Listing } from "../../runtime/device/listing.ts";
import { SourceText } from "../../source/index.ts";
import { isOpenCl } from "../options/is-opencl.ts";
import { isaOfFile } from "../options/isa-of-file.ts";
import type { Options } from "../options/options.ts";
import { requirePrograms } from "../options/other-files.ts";
import { readBytes, shownPath } from "../terminal/files.ts";
import { programFile } from "./program-files.ts";

/**
 * Lists what a file has.
 *
 * @throws UsageError if it cannot be read, or holds nothing that can be listed
 */
export async function listFile(path: string, options: Options): Promise<Listing> {
  requirePrograms([path], options);
  if (isaOfFile(options, path) === "visa") return listVisa(path, options);
  const { listContainer, listPtx } = await import("../../runtime/device/listing.ts");
  const { openContainer, withoutPtx } = await import("../../runtime/device/unpack.ts");
  const file = programFile(path, options);
  const target = options.target ?? undefined;
  if (file.bytes === undefined || !isContainer(file.bytes)) {
    return listPtx(new SourceText(file.path, textOf(file)), target);
  }
  const container = openContainer(file.path, file.bytes, options.value("module"));
  const listing = listContainer(file.path, container, target);
  const { modules, problems } = listing;
  const hasPtx = modules.some(({ images }) => images.some(({ kind }) => kind === "ptx"));
  return hasPtx || problems.length > 0 ? listing : { ...listing, problems: [withoutPtx(file.path, container)] };
}

async function listVisa(path: string, options: Options): Promise<Listing> {
  const { listVisaFiles } = await import("../../runtime/device/visa-listing.ts");
  const target = options.target ?? undefined;
  if (!isOpenCl(path)) {
    const file: SourceFile = { path: shownPath(path), bytes: readBytes(path) };
    return { path: file.path, format: "vISA", problems: [], ...listVisaFiles([file], { target }) };
  }
  const { openOpenCl } = await import("../options/opencl-files.ts");
  const { parseYaml } = await import("../terminal/yaml.ts");
  const { texts, zeinfo, format, symbols } = openOpenCl(path, options.value("module"));
  const names = new Map(symbols.map(({ name, section, offset }) => [name, { section, offset }]));
  const info = zeinfo === null ? {} : { zeinfo: parseYaml(new TextDecoder().decode(zeinfo.bytes)) };
  return { path, format, problems: [], ...listVisaFiles(texts, { target, symbols: names, ...info }) };
}
