import { openLaunch, refuse, stackLimit } from "../interpreter/launch.ts";
import type { Program } from "../interpreter/program.ts";
import { type IrFunction, windows } from "../ir/index.ts";
import { Fault } from "../machine/fault.ts";
import type { Grid } from "../machine/grid.ts";
import type { LaunchRequest, LaunchResult } from "../machine/launch.ts";
import type { Dim3 } from "../machine/report.ts";
import { evalImport } from "../semantics/expansion.ts";
import { type PrimName, primOf } from "../semantics/index.ts";
import { machineFeatures } from "../wasm/features.ts";
import { type Callable, Callables } from "./callables.ts";
import { reachBytes, tidBytes } from "./context-layout.ts";
import { faultImport } from "./faults.ts";
import { Host } from "./host.ts";
import { type CompiledKernel, compileKernel } from "./kernel.ts";
import { clockImport } from "./specials.ts";
import type { LaunchShape } from "./unit.ts";
import { Unsupported } from "./unsupported.ts";
import { defaultQuads, type Quads, quadsOf } from "./width.ts";

interface Loaded {
  readonly kernel: CompiledKernel;
  readonly run: Run;
  /** Who answers what the code asks; another one for each launch. */
  host: Host | null;
}

/** The kernels of a program that have been compiled, by name and shape; or why one could not be. */
export class JitProgram {
  readonly program: Program;
  readonly #callables: Callables;
  readonly #quads: Quads;
  readonly #widths = new Map<IrFunction, Quads>();
  readonly #kernels = new Map<string, Loaded | string>();
  /** Contexts that are not in use, by size. */
  readonly #contexts = new Map<number, number[]>();
  #constants: number | null = null;

  /** `quads`: how wide chunks are where nothing asks for whole warps. */
  constructor(program: Program, quads: Quads = defaultQuads) {
    this.program = program;
    this.#callables = new Callables(program.engine);
    this.#quads = quads;
  }

  /** What keeps a kernel from being compiled, or null. */
  obstacleOf(request: LaunchRequest): string | null {
    if (request.threads !== undefined) return "vISA";
    const loaded = this.#load(request);
    return typeof loaded === "string" ? loaded : null;
  }

  launch(request: LaunchRequest): LaunchResult {
    const { program } = this;
    const loaded = this.#load(request);
    if (typeof loaded === "string") throw new Error(`${request.kernel} cannot be compiled: ${loaded}`);
    const { grid, kernel, sharedBytes } = openLaunch(program, request);
    const { memory } = program;
    const size = contextBytes(loaded.kernel, sharedBytes);
    try {
      refuse(program, kernel, grid, sharedBytes);
      if (!grid.reports.failed) {
        const context = this.#contexts.get(size)?.pop() ?? memory.reserve(size);
        fillContext(grid, loaded.kernel, context, request);
        loaded.host = new Host(grid, loaded.kernel, this.#callables, this.#placeConstants());
        const [gx, gy, gz] = grid.dimensions;
        loaded.run(context, 0, gx * gy * gz);
        const free = this.#contexts.get(size);
        if (free === undefined) this.#contexts.set(size, [context]);
        else free.push(context);
      }
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      grid.reports.fault(error);
    }
    return { ok: !grid.reports.failed, steps: null, reports: grid.reports.reports };
  }

  /** The byte of memory where the module's constants lie: the host may have changed them since the last launch. */
  #placeConstants(): number {
    const { memory, constants } = this.program;
    this.#constants ??= memory.reserve(constants.views.u8.length);
    memory.views.u8.set(constants.views.u8, this.#constants);
    return this.#constants;
  }

  #load({ kernel, block }: LaunchRequest): Loaded | string {
    const callable = this.#callables.named(kernel);
    if (callable === null) return "there is no such kernel";
    const shape = shapeOf(block, this.#quadsOf(callable.ir));
    const key = `${kernel} ${shape.rows} ${shape.full}`;
    let known = this.#kernels.get(key);
    if (known === undefined) this.#kernels.set(key, (known = this.#compile(callable, shape)));
    return known;
  }

  #quadsOf(kernel: IrFunction): Quads {
    let quads = this.#widths.get(kernel);
    if (quads === undefined) {
      quads = quadsOf(kernel, (name) => this.#callables.named(name)?.ir ?? null, this.#quads);
      this.#widths.set(kernel, quads);
    }
    return quads;
  }

  #compile(kernel: Callable, shape: LaunchShape): Loaded | string {
    const { engine, shared, module } = this.program;
    try {
      const compiled = compileKernel(
        kernel,
        shape,
        {
          bindings: engine.bindings,
          addressSize: module.addressSize,
          callables: this.#callables,
          stackLimit,
          shared: shared.extents,
          sharedBytes: shared.dynamicStart - windows.shared.start,
        },
        machineFeatures(),
      );
      return instantiate(compiled, this.program.memory.wasm);
    } catch (error) {
      if (error instanceof Unsupported) return error.message;
      throw error;
    }
  }
}

const contextBytes = ({ layout }: CompiledKernel, sharedBytes: number): number => layout.shared + sharedBytes;

function shapeOf([x, y, z]: Dim3, quads: Quads): LaunchShape {
  const lanes = 4 * quads;
  return { quads, rows: (y === 1 && z === 1) || x % lanes === 0, full: (x * y * z) % lanes === 0 };
}

function fillContext(grid: Grid, kernel: CompiledKernel, context: number, { params }: LaunchRequest): void {
  const { layout } = kernel;
  const { views } = grid.memory;
  const { i32, u8 } = views;
  const set = (word: keyof typeof layout.words, value: number): void => {
    i32[(context + layout.words[word]) >> 2] = value;
  };
  const [nx, ny, nz] = grid.block;
  const [gx, gy, gz] = grid.dimensions;
  const threads = nx * ny * nz;
  set("ntid.x", nx);
  set("ntid.y", ny);
  set("ntid.z", nz);
  set("nctaid.x", gx);
  set("nctaid.y", gy);
  set("nctaid.z", gz);
  set("nwarpid", Math.ceil(threads / 32));
  set("nsmid", grid.processors);
  set("gridid", grid.id);
  set("dynamic_smem_size", grid.dynamicSharedBytes);
  set("total_smem_size", grid.staticSharedBytes + grid.dynamicSharedBytes);
  set("aggr_smem_size", grid.staticSharedBytes + grid.dynamicSharedBytes);
  set("threads", threads);
  set("entry", context + layout.calls);
  if (!kernel.shape.rows) {
    for (let t = 0; t < threads; t++) {
      const at = (context + layout.tids + 4 * t) >> 2;
      i32[at] = t % nx;
      i32[at + tidBytes / 4] = Math.floor(t / nx) % ny;
      i32[at + tidBytes / 2] = Math.floor(t / (nx * ny));
    }
  }
  u8.set(params.subarray(0, layout.roots - layout.params), context + layout.params);
  u8.fill(0, context + layout.sites, context + layout.addresses);
  kernel.roots.forEach((offset, i) => {
    const at = (context + layout.roots + i * reachBytes) >> 2;
    const from = (context + layout.params + offset) >> 2;
    const wide = grid.addresses.size === 64;
    const address = { low: i32[from]! >>> 0, high: wide ? i32[from + 1]! >>> 0 : 0 };
    const found = grid.addresses.classify(address);
    const allocation = found.kind === "global" ? grid.memory.find(found.offset) : null;
    const base = grid.addresses.globalLow;
    i32[at] = allocation === null ? 0 : allocation.start + base;
    i32[at + 1] = allocation === null ? 0 : address.high;
    i32[at + 2] = allocation === null || allocation.freed ? 0 : allocation.end - allocation.start;
    i32[at + 3] = -base;
  });
}

type Run = (context: number, from: number, to: number) => void;

function instantiate(kernel: CompiledKernel, memory: WebAssembly.Memory): Loaded {
  const prefix = evalImport("");
  const env: Record<string, unknown> = {
    memory,
    translate: (context: number, site: number, mask: number) => loaded.host!.translate(context, site, mask),
    [faultImport]: (context: number, site: number, lanes: number) => loaded.host!.fault(context, site, lanes),
    [clockImport]: () => loaded.host!.clock(),
  };
  for (const name of kernel.imports) {
    if (name.startsWith(prefix)) env[name] = evaluator(name.slice(prefix.length) as PrimName);
  }
  const instance = new WebAssembly.Instance(new WebAssembly.Module(kernel.bytes), { env });
  const loaded: Loaded = { kernel, run: instance.exports["run"] as Run, host: null };
  return loaded;
}

/** A primitive as a function of WebAssembly's numbers: a predicate is 0 or 1. */
function evaluator(name: PrimName): (...args: never[]) => unknown {
  const { params, result, eval: evaluate } = primOf(name);
  const call = evaluate as (...args: unknown[]) => unknown;
  if (!params.includes("pred") && result !== "pred") return evaluate;
  return (...args: unknown[]) => {
    const value = call(...args.map((a, i) => (params[i] === "pred" ? a !== 0 : a)));
    return result === "pred" ? Number(value) : value;
  };
}
