import type { LoadedFunction } from "../../interpreter/compile/loaded-function.ts";
import { Activation } from "../../machine/state/activation.ts";
import type { Site } from "../../machine/state/code.ts";
import { Cta } from "../../machine/state/cta.ts";
import type { Grid } from "../../machine/state/grid.ts";
import type { Warp } from "../../machine/state/warp.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import { callEntry, type HeaderWord } from "../abi/context-layout.ts";
import type { CompiledFunctions } from "../compile/plan/callables.ts";

/** The parts of an activation that `alloca` changes. */
type Taken = Pick<Activation, "tops" | "pieces" | "top" | "cost">;

/** The activations that run in a context, as objects of the machine: for reports, and to find where variables lie. */
export class CallStack {
  readonly #grid: Grid;
  readonly #kernel: CompiledKernel;
  readonly #callables: CompiledFunctions;
  readonly #sites = new Map<number, Site>();
  readonly #slot: number;
  /** What lanes have taken of their stacks, by entry of the shadow stack. */
  readonly #taken = new Map<number, Taken>();
  #cta: Cta | null = null;

  /** `slot`: that of the blocks in the contexts that it is asked about. */
  constructor(grid: Grid, kernel: CompiledKernel, callables: CompiledFunctions, slot: number) {
    this.#slot = slot;
    this.#grid = grid;
    this.#kernel = kernel;
    this.#callables = callables;
  }

  /** The kernel's code in the interpreter. */
  get kernel(): LoadedFunction {
    return this.#callables.named(this.#kernel.name)!.code;
  }

  /** The instruction with a site number: the same object for the same number. */
  site(number: number): Site {
    let site = this.#sites.get(number);
    if (site === undefined) {
      const { function: f, instruction: index } = this.#kernel.sites[number]!;
      const { ir, code } = this.#callables.list[f]!;
      this.#sites.set(number, (site = { code, index, instruction: ir.instructions[index]! }));
    }
    return site;
  }

  /** The activation that calls the launcher, with its callers. Where frames lie follows from the calls. */
  innermost(context: number): Activation {
    const { layout } = this.#kernel;
    const { i32 } = this.#grid.memory.views;
    const warp = this.warpOf(context);
    const first = context + layout.calls;
    const last = i32[(context + layout.words.entry) >>> 2]! >>> 0;
    const kernel = this.#callables.named(this.#kernel.name)!;
    let x = new Activation(kernel.code);
    x.warp = warp;
    x.live = -1;
    x.top = x.code.frame.size;
    x.cost = x.code.stackCost;
    if (kernel.allocates) Object.assign(x, this.#taken.get(first));
    for (let at = first + layout.callBytes; at <= last; at += layout.callBytes) {
      const callee = this.#callables.list[i32[(at + callEntry.callee) >>> 2]!]!;
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
  noteStack(context: number, { tops, pieces, top, cost }: Activation): void {
    const { words } = this.#kernel.layout;
    const { i32 } = this.#grid.memory.views;
    i32[(context + words.stackTop) >>> 2] = top;
    i32[(context + words.stackCost) >>> 2] = cost;
    this.#taken.set(this.#entryOf(context), { tops, pieces, top, cost });
  }

  #entryOf(context: number): number {
    return this.#grid.memory.views.i32[(context + this.#kernel.layout.words.entry) >>> 2]! >>> 0;
  }

  /** The block of threads that runs in a context. */
  block(context: number): Cta {
    this.#cta ??= new Cta(this.#grid, 0, this.#slot);
    const [gx, gy] = this.#grid.dimensions;
    const blockIndex = this.#word(context, "blockIndex");
    this.#cta.ticket = blockIndex;
    this.#cta.id = [blockIndex % gx, Math.floor(blockIndex / gx) % gy, Math.floor(blockIndex / (gx * gy))];
    return this.#cta;
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
    const warp = this.block(context).warps[Math.floor(thread / (shape.width ?? 32))]!;
    warp.stack.views = views;
    warp.stack.stride = stackStride;
    warp.stack.origin = word("stacks") - (thread & 31) * stackStride;
    return warp;
  }
}

/** The activation of a function that another activation has called. */
function called(caller: Activation, code: Activation["code"], site: Site): Activation {
  const { frame, ir } = code;
  const { op } = site.instruction;
  const unsized = ir.params.findIndex((p) => p.type.unsized);
  const arg = op.kind === "call" && unsized >= 0 ? op.args[unsized] : undefined;
  const x = new Activation(code);
  x.warp = caller.warp;
  x.live = -1;
  x.caller = caller;
  x.callSite = site;
  x.depth = caller.depth + 1;
  x.unsizedBytes = arg?.kind === "frame" ? arg.size : 0;
  x.base = Math.ceil(caller.top / frame.align) * frame.align;
  x.top = x.base + frame.size + Math.ceil(x.unsizedBytes / 16) * 16;
  x.cost = caller.cost + code.stackCost + x.unsizedBytes;
  return x;
}
