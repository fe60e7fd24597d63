import { existsSync, readdirSync, readFileSync } from "node:fs";
import { SourceText } from "../../src/source/index.ts";
import { bindVisa, parseVisa, writeCisa } from "../../src/visa/index.ts";

/** A job of vISA with all of its files, by the names that it gives them. */
export interface Seed {
  readonly json: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Those of the files that are text of the program, and that which is `.ze_info` or null. */
  readonly modules: readonly string[];
  readonly zeinfo: string | null;
}

interface JobShape {
  readonly variants: Readonly<Record<string, { readonly modules: readonly string[]; readonly zeinfo?: string }>>;
}

/** The first variant of a job whose files lie in a folder. */
function seedOf(json: string, folder: URL): Seed {
  const { modules, zeinfo = null } = Object.values((JSON.parse(json) as JobShape).variants)[0]!;
  const paths = zeinfo === null ? modules : [...modules, zeinfo];
  const files = new Map(paths.map((path) => [path, new Uint8Array(readFileSync(new URL(path, folder)))]));
  return { json, files, modules, zeinfo };
}

const zeros = { type: "f32", n: 16, init: { gen: "zero" } };
/** The compiled example. */
const saxpy = JSON.stringify({
  id: "saxpy",
  isa: "visa",
  variants: { "skl.simd16": { modules: ["saxpy.visaasm"], zeinfo: "saxpy.yaml" } },
  buffers: { x: zeros, y: zeros },
  launches: [
    {
      kernel: "saxpy",
      global: [16, 1, 1],
      local: [16, 1, 1],
      args: [{ s32: 16 }, { f32: 2 }, { buf: "x" }, { buf: "y" }],
    },
  ],
  checks: [],
});

/** The example, and the hand-written cases where they lie beside the project. */
export function visaSeeds(): readonly Seed[] {
  const folder = new URL("../../../shared/visa/hand/", import.meta.url);
  const example = seedOf(saxpy, new URL("../../examples/", import.meta.url));
  if (!existsSync(folder)) {
    console.warn("there are no vISA cases: the example takes their place");
    return [example];
  }
  const cases = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return [example, ...cases.map((name) => seedOf(readFileSync(new URL(name, folder), "utf8"), folder))];
}

/** With its text as CISA files. */
export function asCisa(seed: Seed): Seed {
  const modules = seed.modules.map((path) => path.replace(/\.visaasm$/, ".isa"));
  const files = new Map(seed.files);
  for (const [i, path] of seed.modules.entries()) {
    const { tree } = parseVisa(new SourceText(path, new TextDecoder().decode(seed.files.get(path))));
    files.set(modules[i]!, writeCisa(bindVisa(tree)).bytes ?? new Uint8Array());
  }
  return { ...seed, json: seed.json.replaceAll(/\.visaasm"/g, '.isa"'), files, modules };
}
