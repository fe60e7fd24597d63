import { enableFeaturesOfNode20, engineTag } from "./node-flags.ts";
import { compiledModule } from "./compiled-module.ts";
import { wasm } from "./expr.ts";
import { type Features, noFeatures, type Wasm } from "./graph.ts";
import { ModuleWriter } from "./module-writer.ts";

type Size = "f32" | "f64";
const vectorOf = { f32: "f32x4", f64: "f64x2" } as const;

/**
 * Test cases `[a, b, c, a * b + c rounded once]`: low parts that a rounded product loses; ties that are decided up or
 * down by a bit beyond a double; products that overflow or underflow although the sum does not; subnormal operands and
 * results.
 */
export const maddCases: Readonly<Record<Size, readonly (readonly [number, number, number, number])[]>> = {
  f32: [
    [1 + 2 ** -23, 1 + 2 ** -23, -(1 + 2 ** -22), 2 ** -46],
    [2 ** -12 + 2 ** -23, 2 ** -12 - 2 ** -23 + 2 ** -34, 1, 1 + 2 ** -23],
    [2 ** -12 + 2 ** -35, 2 ** -12 - 2 ** -35, 1 + 2 ** -23, 1 + 2 ** -23],
    [1, 2 ** -24, 1 + 2 ** -23, 1 + 2 ** -22],
    [2 ** 64, 2 ** 64, -(2 ** 127), 2 ** 127],
    [-(2 ** 100), 2 ** 100, Infinity, Infinity],
    [2 ** -75, 2 ** -75, 2 ** -149, 2 ** -148],
    [3 * 2 ** -76, 2 ** -75, 2 ** -149, 2 ** -148],
    [2 ** -149, 2 ** 23, 2 ** -126, 2 ** -125],
    [2 ** -149, 0.5, -(2 ** -149), -0],
    [2 ** -126, 1 - 2 ** -23, 0, 2 ** -126 - 2 ** -149],
  ],
  f64: [
    [1 + 2 ** -52, 1 + 2 ** -52, -(1 + 2 ** -51), 2 ** -104],
    [1 + 2 ** -27, 1 - 2 ** -27, -1, -(2 ** -54)],
    [2 ** -26 + 2 ** -78, 2 ** -27 - 2 ** -79, 1 + 2 ** -52, 1 + 2 ** -52],
    [2 ** 512, 2 ** 512, -(2 ** 1023), 2 ** 1023],
    [2 ** 1023, 4, -Infinity, -Infinity],
    [2 ** -538, 2 ** -537, 2 ** -1074, 2 ** -1073],
    [3 * 2 ** -538, 2 ** -538, 2 ** -1074, 2 ** -1073],
    [2 ** -1074, 2 ** 52, 2 ** -1022, 2 ** -1021],
    [2 ** -1022, 1 - 2 ** -52, 0, 2 ** -1022 - 2 ** -1074],
    [2 ** -1074, 2 ** 1023, 2 ** -104, 2 ** -51 + 2 ** -104],
  ],
};

/** Returns a module with the multiply-adds of vectors as functions of numbers, exported by the names of their types. */
export function maddModule(): Uint8Array<ArrayBuffer> {
  const module = new ModuleWriter();
  for (const ty of ["f32", "f64"] as const) {
    const vector = vectorOf[ty];
    const operands = [0, 1, 2].map((local) => wasm.op(`${vector}.splat`, wasm.local(ty, local)));
    const sum = wasm.op(`${vector}.relaxed_madd`, ...operands);
    module.function(ty, [ty, ty, ty], [ty]).value(wasm.lane(`${vector}.extract_lane`, 0, sum));
    module.export(ty);
  }
  return module.finish();
}

/** Returns a module that selects lanes. */
function selectModule(): Uint8Array<ArrayBuffer> {
  const module = new ModuleWriter({ ...noFeatures, laneSelect: true });
  const [mask, a, b] = [0, 1, 2].map((local) => wasm.op("i32x4.splat", wasm.local("i32", local)));
  module.function("select", ["i32", "i32", "i32"], ["i32"]).value(laneOf(wasm.blend(mask!, a!, b!)));
  return module.finish();
}

const laneOf = (vector: Wasm): Wasm => wasm.lane("i32x4.extract_lane", 0, vector);

function detected(): Features {
  return { fusedMadd: fusesMadd(), laneSelect: WebAssembly.validate(selectModule()) };
}

function fusesMadd(): boolean {
  const bytes = maddModule();
  if (!WebAssembly.validate(bytes)) return false;
  const madd = new WebAssembly.Instance(compiledModule(bytes)).exports as Record<
    Size,
    (a: number, b: number, c: number) => number
  >;
  return (["f32", "f64"] as const).every((ty) =>
    maddCases[ty].every(([a, b, c, sum]) => Object.is(madd[ty](a, b, c), sum) && Object.is(madd[ty](-a, -b, c), sum)),
  );
}

let known: Features | null = null;

/**
 * The machine's features, detected once per process, if `noted`, which is asked for what an earlier process has found,
 * does not know them. On Node 20 this makes V8 accept relaxed SIMD and branch hints from then on.
 */
export function machineFeatures(
  noted: (tag: string, find: () => Features) => Features = (_, find) => find(),
): Features {
  if (known !== null) return known;
  enableFeaturesOfNode20();
  const tag = engineTag();
  known = tag === null ? detected() : noted(tag, detected);
  return known;
}
