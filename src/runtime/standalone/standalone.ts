import { loadProgram, type Program } from "../../program/program.ts";
import { genericBases, type IrModule, type Param, windows } from "../../ir/index.ts";
import type { CompiledKernel } from "../../jit/abi/compiled-kernel.ts";
import type { HeaderWord } from "../../jit/abi/context-layout.ts";
import { giveUpReasons } from "../../jit/abi/give-up-reasons.ts";
import { evaluatedPrim, type HostImport } from "../../jit/abi/host-imports.ts";
import { JitProgram } from "../../jit/run/jit-program.ts";
import type { Extent } from "../../machine/memory/extent.ts";
import { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import { noFeatures } from "../../wasm/graph.ts";
import { machineFeatures, maddCases, maddModule } from "../../wasm/features.ts";
import { base64 } from "../data/base64.ts";
import { fitting, NotStandaloneError } from "../data/errors.ts";
import type { SourceFile } from "../data/source-file.ts";
import { filesOf, PtxDevice } from "../device/ptx-device.ts";
import { deviceFunctions } from "../launch/device-functions.ts";
import type { Kernel } from "../device/module.ts";
import { dim3, type Size } from "../launch/launch-plan.ts";
import { isProvided } from "../launch/provided-names.ts";
import { checkBlock, maxThreads, threadsOf } from "../launch/ptx-plan.ts";
import { sitesOf, type StandaloneSite } from "./standalone-sites.ts";
import { loadVisa, type PlacedParameter, type PlacedSize, type VisaBuild } from "./visa-build.ts";

/** Options of `buildKernel`. */
export interface BuildOptions {
  /** The kernel's name. Default: the only kernel of the program. */
  readonly kernel?: string;
  /**
   * The block size to specialize for; no other size can be launched then. Default: the kernel's `.reqntid`, or else any
   * size.
   */
  readonly block?: Size;
  /** The target to check for instead of the one that the module names; the platform of a kernel of vISA. */
  readonly target?: string | undefined;
  /** The section `.ze_info` of a compiled program of vISA, parsed from YAML: the files are vISA then. */
  readonly zeinfo?: unknown;
}

/** A variable or another object in memory: `size` bytes from `at` on, zeros if there is no `data` (base64). */
export interface Piece {
  readonly name: string;
  readonly at: number;
  readonly size: number;
  readonly data?: string;
}

/** Everything needed to launch a stand-alone module, as JSON; docs/build.md explains every field. */
export interface KernelDescription {
  /** The second where the launcher fills in `sizes`, the third where the module gives a number to `giveUp`. */
  readonly format: "lanewise kernel 1" | "lanewise kernel 2" | "lanewise kernel 3";
  readonly kernel: string;
  readonly source: string;
  /** The size of the module in bytes. */
  readonly size: number;
  readonly block: readonly [number, number, number] | null;
  readonly mostThreads: number;
  readonly parameters: readonly PlacedParameter[];
  /** Of a kernel of vISA: sizes among the parameters, their bytes, and the local memory of a group. */
  readonly sizes?: readonly PlacedSize[];
  readonly paramBytes?: number;
  readonly sharedBytes?: number;
  readonly waits: boolean;
  readonly imports: readonly string[];
  /** What the numbers mean that the module gives to `giveUp`; absent if it does not import it. */
  readonly reasons?: readonly string[];
  /** Null if the code needs none. Otherwise a module and inputs that tell whether the machine fuses multiply-adds. */
  readonly fusedMultiplyAdd: {
    readonly probe: string;
    readonly f32: readonly number[];
    readonly f64: readonly number[];
  } | null;
  readonly memory: {
    readonly free: number;
    readonly global: { readonly base: string; readonly variables: readonly Piece[] };
    readonly const: { readonly base: string; readonly at: number; readonly variables: readonly Piece[] };
    readonly shared: { readonly base: string; readonly variables: readonly Piece[]; readonly dynamic: number };
    readonly params: { readonly base: string };
    readonly local: { readonly base: string; readonly stride: number };
    readonly generic: string;
  };
  readonly context: {
    readonly lanes: number;
    readonly words: Readonly<Record<string, number>>;
    readonly params: number;
    readonly roots: { readonly at: number; readonly parameters: readonly number[] };
    readonly records: { readonly at: number; readonly end: number };
    readonly addresses: number;
    readonly places: number;
    readonly values: number;
    readonly args: number;
    readonly threads: number;
    readonly calls: number;
    readonly targets: { readonly at: number; readonly data: string };
    readonly shared: number;
  };
  readonly sites: readonly StandaloneSite[];
}

/** A stand-alone kernel: the WebAssembly module, and the description from which it can be launched. */
export interface StandaloneKernel {
  readonly wasm: Uint8Array<ArrayBuffer>;
  readonly description: KernelDescription;
}

/** A kernel that is to be built: its program, and what its launcher needs beside that. */
interface Loaded {
  readonly kernel: Kernel;
  readonly ir: IrModule;
  readonly visa: VisaBuild | null;
}

/**
 * Compiles a kernel of PTX, or a compiled kernel of vISA, into a WebAssembly module that does not need Lanewise, and
 * describes how to launch it.
 *
 * @throws LoadError if the program has errors
 * @throws UsageError if there is no such kernel, or it cannot have blocks of this size
 * @throws NotExecutableError if the kernel may reach an instruction that is not modelled
 * @throws NotStandaloneError if it needs something that only Lanewise's own launcher has
 */
export function buildKernel(
  source: string | SourceFile | readonly SourceFile[],
  options: BuildOptions = {},
): StandaloneKernel {
  const { kernel, ir, visa } = load(source, options);
  const { bounds } = kernel.ir;
  const wanted = options.block ?? bounds.reqntid;
  const block = wanted === undefined ? null : dim3(wanted);
  if (block !== null) checkBlock(kernel.ir, block);
  // A memory that holds nothing but the program's variables.
  const memory = new DeviceMemory();
  const program = fitting(() => loadProgram(memory, ir, { externals: deviceFunctions }));
  const jit = new JitProgram(program);
  const { compiled, isPortable } = compile(jit, kernel.name, block, visa);
  if (ir.addressSize === 32) throw new NotStandaloneError(kernel.name, "its addresses have 32 bits");
  if (typeof compiled === "string") throw new NotStandaloneError(kernel.name, compiled);
  const sites = sitesOf(program, compiled);
  const obstacle = obstacleOf(compiled, sites);
  if (obstacle !== null) throw new NotStandaloneError(kernel.name, obstacle);
  const { params, source: text } = kernel.ir;
  const mayGiveUp = compiled.imports.includes("giveUp" satisfies HostImport);
  const description: KernelDescription = {
    format: mayGiveUp ? "lanewise kernel 3" : visa === null ? "lanewise kernel 1" : "lanewise kernel 2",
    kernel: kernel.name,
    source: text.path,
    size: compiled.bytes.length,
    block,
    mostThreads: bounds.maxntid === undefined ? maxThreads : Math.min(maxThreads, threadsOf(bounds.maxntid)),
    parameters: visa?.parameters ?? params.map(described),
    ...(visa === null ? {} : { sizes: visa.sizes, paramBytes: visa.paramBytes, sharedBytes: visa.sharedBytes }),
    waits: compiled.waits,
    imports: compiled.imports,
    ...(mayGiveUp && { reasons: giveUpReasons }),
    fusedMultiplyAdd: isPortable
      ? null
      : { probe: base64(maddModule()), f32: maddCases.f32[0]!, f64: maddCases.f64[0]! },
    memory: memoryOf(program, compiled, jit.constantsAt),
    context: contextOf(compiled),
    sites,
  };
  return { wasm: compiled.bytes, description };
}

function load(source: string | SourceFile | readonly SourceFile[], options: BuildOptions): Loaded {
  const { target, zeinfo } = options;
  if (zeinfo !== undefined) {
    const visa = loadVisa(filesOf(source, "visa"), { zeinfo, target, kernel: options.kernel });
    return { kernel: visa.kernel, ir: visa.ir, visa };
  }
  const module = new PtxDevice().load(source, { isa: "ptx", target });
  const kernel = module.kernel(options.kernel);
  kernel.requireExecutable();
  return { kernel, ir: module.ir, visa: null };
}

/** Compiles for this machine, and determines whether the code is the same for any. */
function compile(jit: JitProgram, kernel: string, block: Dim3 | null, visa: VisaBuild | null) {
  const threads = visa?.threads ?? null;
  const compiled = jit.compiled(kernel, block, { ...noFeatures, fusedMadd: machineFeatures().fusedMadd }, threads);
  const portable = jit.compiled(kernel, block, noFeatures, threads);
  const isPortable =
    typeof compiled !== "string" &&
    typeof portable !== "string" &&
    compiled.bytes.length === portable.bytes.length &&
    compiled.bytes.every((byte, i) => byte === portable.bytes[i]);
  return { compiled, isPortable };
}

const described = ({ name, type, storage }: Param) => ({
  name,
  type: type.kind === "array" ? "bytes" : `${type.kind}${8 * type.size}`,
  offset: storage.kind === "kernel" ? storage.offset : 0,
  size: type.size,
});

const hex = (address: bigint | number): string => `0x${address.toString(16)}`;

function memoryOf(program: Program, { stackStride }: CompiledKernel, constantsAt: number): KernelDescription["memory"] {
  const { memory, constants, shared, variables } = program;
  const piece = (at: number, { name, start, end }: Extent, bytes?: Uint8Array): Piece => ({
    name: name.replaceAll("`", ""),
    at,
    size: end - start,
    ...(bytes?.some((b) => b !== 0) ? { data: base64(bytes) } : {}),
  });
  const { global, window } = genericBases[64];
  return {
    free: memory.reserve(1),
    global: {
      base: hex(global),
      variables: [...variables.values()].flatMap(({ variable: { name, space, size }, address }) =>
        space === "global"
          ? [piece(address, { name, start: 0, end: size }, memory.views.u8.subarray(address, address + size))]
          : [],
      ),
    },
    const: {
      base: hex(windows.const.start),
      at: constantsAt,
      variables: constants.extents.map((extent) => {
        const [start, end] = [extent.start - constants.start, extent.end - constants.start];
        return piece(start, extent, constants.views.u8.subarray(start, end));
      }),
    },
    shared: {
      base: hex(windows.shared.start),
      variables: shared.extents.map((extent) => piece(extent.start - windows.shared.start, extent)),
      dynamic: shared.dynamicStart - windows.shared.start,
    },
    params: { base: hex(windows["kernel-param"].start) },
    local: { base: hex(windows.local.start), stride: stackStride },
    generic: hex(window),
  };
}

/** The names of context words that differ between the format and the compiler. */
const namesInFormat: Readonly<Partial<Record<HeaderWord, string>>> = {
  blockIndex: "ticket",
  resumesYielded: "woken",
  resumedFrame: "resumes",
  suspendedFrame: "paused",
};

const wordsOf = ({ words }: CompiledKernel["layout"]): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(words).map(([name, at]) => [namesInFormat[name as HeaderWord] ?? name, at]));

const contextOf = ({ lanes, layout, roots, targets }: CompiledKernel): KernelDescription["context"] => ({
  lanes,
  words: wordsOf(layout),
  params: layout.params,
  roots: { at: layout.roots, parameters: roots },
  records: { at: layout.sites, end: layout.addresses },
  addresses: layout.addresses,
  places: layout.places,
  values: layout.values,
  args: layout.args,
  threads: layout.tids,
  calls: layout.calls,
  targets: { at: layout.targets, data: base64(targets) },
  shared: layout.shared,
});

/** The host functions that a simple launcher provides. */
const simple: ReadonlySet<string> = new Set<HostImport>([
  "translate",
  "fault",
  "external",
  "stackOverflow",
  "giveUp",
  "clock",
  "arriveAtWarpWait",
  "settle",
  "deadlock",
]);

/** The host functions imported only for counted barriers. */
const counted: ReadonlySet<string> = new Set<HostImport>(["arriveAtBarrier", "settleBarriers"]);

function obstacleOf({ imports, layout }: CompiledKernel, sites: readonly StandaloneSite[]): string | null {
  const called = sites.find(({ calls }) => calls !== undefined && isProvided(calls) && calls !== "vprintf")?.calls;
  if (called !== undefined) return `it calls ${called}`;
  // Not asked of the imports: modules import the functions for waiting lanes even if no lane waits.
  if (imports.includes("unit" satisfies HostImport))
    return "it has bulk or tensor copies, textures or surfaces, wgmma or tcgen05";
  if (layout.warpWaits !== layout.fragments) return "it multiplies matrices";
  if (layout.stacks !== layout.warpWaits) return "its lanes wait for others of their warp";
  const missing = imports.find((name) => !simple.has(name));
  if (missing === undefined) return null;
  if (missing === ("cluster" satisfies HostImport)) return "it needs to know of its cluster";
  const prim = evaluatedPrim(missing);
  if (prim !== null) return `it computes ${prim}, for some operands of which Lanewise itself is asked`;
  return counted.has(missing)
    ? "it has barriers with a number, a count or a reduction, which not all threads need come to"
    : `it needs the launcher's "${missing}"`;
}
