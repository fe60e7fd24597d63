import type { CallFrame, Cta, Grid, Warp } from "../../machine/state/launch-state.ts";
import { kernelFrame } from "../../machine/state/call-frame.ts";
import type { ProgramFunction, Site } from "../../machine/state/code.ts";
import { GridBlock } from "../../machine/state/cta.ts";
import { nthBlock } from "../../program/clusters.ts";
import type { Program } from "../../program/program.ts";
import { costWith, frameEnd, frameStart } from "../../program/stack.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import { callEntry, type HeaderWord } from "../abi/context-layout.ts";
import { type LoadedFunction, loadedFunctionsOf } from "../abi/loaded-functions.ts";
import type { LaunchClusters } from "./launch-clusters.ts";
import type { ShownLaunch } from "./shown-launch.ts";

/** The parts of an activation that `alloca` changes. */
type Taken = Pick<CallFrame, "pointers" | "pieces" | "top" | "cost">;

/** A program, as those know it that answer for its blocks. */
export interface HostedProgram {
  readonly program: Program;
  /** The functions in which the kernel's sites are; null: those of the program as they were loaded. */
  readonly functions: readonly LoadedFunction[] | null;
  /** The byte of memory where its constants lie. */
  readonly constants: number;
  /** Shows sanitizers what happens; null where nobody watches. */
  readonly shown?: ShownLaunch | null;
}

/** The activations that run in a context, as objects of the machine: for reports, and to find where variables lie. */
export class CallStack {
  readonly #grid: Grid;
  readonly #kernel: CompiledKernel;
  readonly #hosted: HostedProgram;
  readonly #sites = new Map<number, Site>();
  readonly #slot: number;
  /** What lanes have taken of their stacks, by entry of the shadow stack. */
  readonly #taken = new Map<number, Taken>();
  #cta: GridBlock | null = null;
  /** Which block it is, in the order in which blocks begin; or -1. */
  #index = -1;
  readonly #clusters: LaunchClusters | null;

  /** `slot`: that of the blocks in the contexts that it is asked about. */
  constructor(
    grid: Grid,
    kernel: CompiledKernel,
    hosted: HostedProgram,
    slot: number,
    clusters: LaunchClusters | null,
  ) {
    this.#clusters = clusters;
    this.#slot = slot;
    this.#grid = grid;
    this.#kernel = kernel;
    this.#hosted = hosted;
  }

  /** The kernel's code as it was loaded. */
  get kernel(): ProgramFunction {
    return this.#hosted.program.functionNamed(this.#kernel.name)!;
  }

  /** Found when they are asked for: most kernels run without them. */
  get #functions(): readonly LoadedFunction[] {
    return this.#hosted.functions ?? loadedFunctionsOf(this.#hosted.program).list;
  }

  /** The instruction with a site number: the same object for the same number. */
  site(number: number): Site {
    let site = this.#sites.get(number);
    if (site === undefined) {
      const { function: f, instruction: index } = this.#kernel.sites[number]!;
      const { asLoaded, code } = this.#functions[f]!;
      this.#sites.set(number, (site = { code, index, instruction: asLoaded.instructions[index]! }));
    }
    return site;
  }

  /** The activation that calls the launcher, with its callers. Where frames lie follows from the calls. */
  innermost(context: number): CallFrame {
    const { layout } = this.#kernel;
    const { i32 } = this.#grid.memory.views;
    const warp = this.warpOf(context);
    const first = context + layout.calls;
    const last = i32[(context + layout.words.entry) >>> 2]! >>> 0;
    const kernel = this.#functions.find(({ code }) => code === this.kernel)!;
    let x = kernelFrame(kernel.code, warp);
    if (kernel.allocates) Object.assign(x, this.#taken.get(first));
    for (let at = first + layout.callBytes; at <= last; at += layout.callBytes) {
      const callee = this.#functions[i32[(at + callEntry.callee) >>> 2]!]!;
      x = called(x, callee.code, this.site(i32[(at + callEntry.site) >>> 2]!));
      if (callee.allocates) Object.assign(x, this.#taken.get(at));
    }
    return x;
  }

  /** Notes that the activation that calls the launcher has just begun. */
  open(context: number): void {
    this.#taken.delete(this.#entryOf(context));
  }

  /** Notes what lanes have taken of their stacks in the activation that calls the launcher. */
  noteStack(context: number, { pointers, pieces, top, cost }: CallFrame): void {
    const { words } = this.#kernel.layout;
    const { i32 } = this.#grid.memory.views;
    i32[(context + words.stackTop) >>> 2] = top;
    i32[(context + words.stackCost) >>> 2] = cost;
    this.#taken.set(this.#entryOf(context), { pointers, pieces, top, cost });
  }

  #entryOf(context: number): number {
    return this.#grid.memory.views.i32[(context + this.#kernel.layout.words.entry) >>> 2]! >>> 0;
  }

  /** The block of threads that runs in a context. */
  block(context: number): Cta {
    this.#cta ??= new GridBlock(this.#grid, this.#hosted.shown?.sharedBytes ?? 0, this.#slot);
    const index = this.indexOf(context);
    if (index === this.#index) return this.#cta;
    const { dimensions, cluster } = this.#grid;
    this.#index = index;
    this.#cta.place(this.#kernel.shape.clustered ? nthBlock(dimensions, cluster.dimensions, index) : index);
    this.#cta.units.reset();
    if (this.#clusters !== null) this.#cta.cluster = this.#clusters.of(index);
    return this.#cta;
  }

  /** Which block runs in a context, in the order in which blocks begin. */
  indexOf(context: number): number {
    return this.#word(context, "blockIndex") >>> 0;
  }

  #word(context: number, name: HeaderWord): number {
    return this.#grid.memory.views.i32[(context + this.#kernel.layout.words[name]) >>> 2]!;
  }

  /** The warp, or hardware thread, of the chunk that runs. */
  warpOf(context: number): Warp {
    const { stackStride, shape } = this.#kernel;
    const { views } = this.#grid.memory;
    const word = (name: HeaderWord): number => this.#word(context, name);
    const thread = word("first");
    const width = shape.width ?? this.#grid.threads?.width ?? 32;
    const warp = this.block(context).warps[Math.floor(thread / width)]!;
    warp.stack.views = views;
    warp.stack.stride = stackStride;
    warp.stack.origin = word("stacks") - (thread % width) * stackStride;
    return warp;
  }
}

/** The activation of a function that another activation has called. */
function called(caller: CallFrame, code: ProgramFunction, site: Site): CallFrame {
  const { ir } = code;
  const { op } = site.instruction;
  const unsized = ir.params.findIndex((p) => p.type.unsized);
  const arg = op.kind === "call" && unsized >= 0 ? op.args[unsized] : undefined;
  const unsizedBytes = arg?.kind === "frame" ? arg.size : 0;
  const base = frameStart(caller, code);
  return {
    code,
    warp: caller.warp,
    caller,
    callSite: site,
    depth: caller.depth + 1,
    base,
    unsizedBytes,
    top: frameEnd(base, code, unsizedBytes),
    cost: costWith(caller, code, unsizedBytes),
    pointers: null,
    pieces: null,
  };
}
