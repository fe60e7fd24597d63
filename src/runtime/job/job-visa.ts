import { nearest } from "../../source/index.ts";
import { type Platform, platforms } from "../../visa/isa/row.ts";
import type { DataPlace, DataRelocation } from "../../visa/lower/symbols.ts";
import { elementTypes } from "../data/element.ts";
import type { KernelInput } from "../visa/handwritten-payload.ts";
import type { JsonField } from "./json-fields.ts";

/** The part of a job that only vISA has. */
export interface VisaJob {
  readonly variants: ReadonlyMap<string, VisaVariant>;
  /** The contents of the inputs of hand-written kernels. */
  readonly inputs: readonly KernelInput[];
}

/** How one variant of a job's program, compiled or hand-written, is launched. Paths are as the job has them. */
export interface VisaVariant {
  /** The number of lanes of a hardware thread; null if neither the variant nor the job says. */
  readonly simd: number | null;
  /** The platform that the variant's name begins with, or else the job's; null if there is neither. */
  readonly platform: Platform | null;
  /** The file with the section `.ze_info`, as YAML. */
  readonly zeinfo: string | null;
  /** The files with the other sections of the compiled program, by section name. */
  readonly data: ReadonlyMap<string, string>;
  /** The names whose addresses the program takes, with their places in sections. */
  readonly symbols: ReadonlyMap<string, DataPlace>;
  /** The places in sections that hold addresses. */
  readonly relocations: readonly DataRelocation[];
}

/** The fields that only vISA jobs have. */
export const visaFields = ["inputs", "platform", "simd", "tags", "retval_model"] as const;

const maxBytes = 0x7fff_ffff;

/** Finds a platform by its name, in any case; or null. */
const platformNamed = (name: string): Platform | null =>
  platforms.find((platform) => platform === name.toLowerCase()) ?? null;

/** The platform in the name of a variant, such as "igc2-bmg.simd16.fc3"; or null. */
const platformOfVariant = (name: string): Platform | null => platformNamed(name.split(".")[0]!.replace(/^.*-/, ""));

export function readVisaJob(root: JsonField): VisaJob {
  const platform = readPlatform(root.get("platform"));
  const simd = readSimd(root.get("simd"));
  const variants = root
    .get("variants")
    .entries()
    .map(([name, field]) => [name, readVariant(name, field, { platform, simd })] as const);
  const inputs = root.get("inputs").present ? root.get("inputs").items().map(readInput) : [];
  return { variants: new Map(variants), inputs };
}

/**
 * Reads the files of a variant. A compiler that retries dumps its kernel twice, so of files that `defines` the same
 * routines only the first counts.
 */
export function readModules(field: JsonField): string[] {
  const defines = field.get("defines");
  const known = new Set<string>();
  return field
    .get("modules")
    .items()
    .map((file) => file.string())
    .filter((path) => {
      const listed = defines.get(path.replace(/^.*\//, ""));
      const routines = listed.present ? listed.items().map((routine) => routine.string()) : [path];
      const fresh = routines.filter((routine) => !known.has(routine));
      for (const routine of fresh) known.add(routine);
      return fresh.length > 0;
    });
}

function readPlatform(field: JsonField): Platform | null {
  const name = field.present ? field.string() : "";
  const platform = platformNamed(name);
  if (platform !== null || name === "") return platform;
  const meant = nearest(name.toLowerCase(), platforms);
  field.fail(`there is no platform "${name}"`, meant ? `"${meant}" exists` : `one of ${platforms.join(", ")}`);
  return null;
}

const readSimd = (field: JsonField): number | null => (field.present ? field.count(1, 32) : null);

function readVariant(
  name: string,
  field: JsonField,
  job: { readonly platform: Platform | null; readonly simd: number | null },
): VisaVariant {
  field.object(["modules", "zeinfo", "simd", "defines", "data", "symbols", "relocations"]);
  const members = <T>(member: string, read: (value: JsonField) => T): Map<string, T> =>
    new Map(
      field.get(member).present
        ? field
            .get(member)
            .entries()
            .map(([key, value]) => [key, read(value)] as const)
        : [],
    );
  const data = members("data", (section) => section.object(["file", "size"]).get("file").string());
  return {
    simd: readSimd(field.get("simd")) ?? job.simd,
    platform: platformOfVariant(name) ?? job.platform,
    zeinfo: field.get("zeinfo").present ? field.get("zeinfo").string() : null,
    data,
    symbols: members("symbols", (symbol) => readPlace(symbol.object(["section", "offset", "size"]), data)),
    relocations: field.get("relocations").present
      ? field
          .get("relocations")
          .items()
          .map((relocation) => readRelocation(relocation, data))
      : [],
  };
}

function readRelocation(field: JsonField, data: ReadonlyMap<string, string>): DataRelocation {
  field.object(["section", "offset", "symbol", "bytes"]);
  const bytes = field.get("bytes").present && field.get("bytes").count(4, 8) === 4 ? 4 : 8;
  return { ...readPlace(field, data), symbol: field.get("symbol").string(), bytes };
}

function readPlace(field: JsonField, data: ReadonlyMap<string, string>): DataPlace {
  const section = field.get("section").string();
  if (field.get("section").present && !data.has(section)) {
    field
      .get("section")
      .fail(`there is no section "${section}"`, `\`data\` has ${[...data.keys()].join(", ") || "none"}`);
  }
  return { section, offset: field.get("offset").present ? field.get("offset").count(0, maxBytes) : 0 };
}

function readInput(field: JsonField): KernelInput {
  field.object(["name", "kind", "type", "buf", "n", "bytes_per_thread"]);
  const name = field.get("name").string();
  const kind = field.get("kind").oneOf(["arg", "lane-id", "stack"]);
  if (kind === "stack") return { name, kind, bytesPerThread: field.get("bytes_per_thread").count(1, 0x100_0000) };
  return { name, kind, type: field.get("type").present ? field.get("type").oneOf(elementTypes) : "u32" };
}
