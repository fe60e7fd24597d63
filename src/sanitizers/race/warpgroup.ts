import type { OpOf } from "../../ir/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import type { AccessEvent, InstructionEvent, LaneEvent, Observer, RangeEvent } from "../../machine/events.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { locate } from "../../machine/faults/locate.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Activation, Cta, Warp } from "../../machine/state/launch-state.ts";
import { type SourceRange, Sources } from "./warpgroup/sources.ts";
import { type ProductRegisters, registerUsesOf, type Touched } from "../../ir/flow/warpgroup-registers.ts";

/** A product that a warp has issued. */
interface Product {
  readonly site: Site;
  /** Products with the same name may follow each other without a fence. */
  readonly shape: string;
  /** The fences that the warp had executed before. */
  readonly fences: number;
  isCommitted: boolean;
  isComplete: boolean;
  /** What it reads of the block's shared memory. */
  readonly sources: SourceRange[];
}

/** What is known of a register that products use. */
interface RegisterState {
  /** The last product that writes it, and the last one that reads it as a part of A. */
  written: Product | null;
  read: Product | null;
  /** The last access by an instruction that is no product, and the fences before it. */
  access: { readonly site: Site; readonly writes: boolean; readonly fences: number } | null;
}

/** A warp's products in flight. */
class WarpProducts {
  fences = 0;
  open: Product[] = [];
  groups: Product[][] = [];
  readonly reported = new Set<Site>();
  readonly #registers = new WeakMap<Activation, Map<number, RegisterState>>();

  stateOf(x: Activation, register: number): RegisterState {
    let ofActivation = this.#registers.get(x);
    if (ofActivation === undefined) this.#registers.set(x, (ofActivation = new Map()));
    let state = ofActivation.get(register);
    if (state === undefined) ofActivation.set(register, (state = { written: null, read: null, access: null }));
    return state;
  }

  /** A copy is in the state of the original. */
  copy(x: Activation, to: number, from: number): void {
    Object.assign(this.stateOf(x, to), this.stateOf(x, from));
  }

  /** Another call begins with the same activation. */
  forget(x: Activation): void {
    this.#registers.delete(x);
  }
}

const inFlight = (product: Product | null): product is Product => product !== null && !product.isComplete;

/**
 * Reports misuse of registers that asynchronous products of warpgroups use (sections 9.7.15.5.2 and 9.7.15.7). From
 * `wgmma.mma_async` to the wait for its group nobody may access the accumulators, or write registers of A; and a
 * `wgmma.fence` must come between other accesses to the registers and a product. The machine performs products where
 * they are issued; on a GPU they take effect at some time before the wait, and until then nobody may write the shared
 * memory that they read. One observer watches one launch.
 */
export class WarpgroupRegisters implements Observer {
  readonly #warps = new WeakMap<Warp, WarpProducts>();
  readonly #sources = new WeakMap<Cta, Sources>();
  readonly #watches: "all" | "memory";

  /** `watches`: registers and the memory that products read, or that alone. */
  constructor(watches: "all" | "memory" = "all") {
    this.#watches = watches;
  }

  instruction(e: InstructionEvent): void {
    const { site, warp } = e;
    const { op } = site.instruction;
    if (op.kind === "order-products") {
      order(this.#of(warp), op, this.#sources.get(warp.cta));
      return;
    }
    if (this.#watches === "memory") {
      if (op.kind !== "unit" || op.unit.op !== "multiply-warpgroup") return;
      issue(this.#of(warp), e, { product: op.unit.product, accumulators: [], left: [] });
      return;
    }
    const uses = registerUsesOf(site.code.ir);
    if (!uses.any) return;
    const found = uses.products[site.index];
    if (found !== null && found !== undefined) issue(this.#of(warp), e, found);
    else touch(this.#of(warp), e, uses.touched(site.index));
  }

  enter({ warp, activation }: { readonly warp: Warp; readonly activation: Activation }): void {
    this.#warps.get(warp)?.forget(activation);
  }

  blockBegin(cta: Cta): void {
    for (const warp of cta.warps) this.#warps.delete(warp);
    this.#sources.delete(cta);
  }

  access(e: AccessEvent): void {
    const sources = this.#sources.get(e.warp.cta);
    if (e.effect === "load" || sources === undefined || sources.areNone) return;
    const bytes = accessBytes(e.access);
    let lanes = 0;
    let reader: Site | null = null;
    for (let m = e.mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const { addressWords: words } = e;
      const address = { low: words[2 * lane]! >>> 0, high: words[2 * lane + 1]! >>> 0 };
      const found = readerOf(sources, e, lane, address, bytes);
      if (found === null) continue;
      reader ??= found;
      lanes |= 1 << lane;
    }
    if (reader !== null) reportSource(this.#of(e.warp), { ...e, mask: lanes }, reader);
  }

  range(e: RangeEvent): void {
    const { warp, lane, address, effect } = e;
    const bytes = accessBytes(e.access);
    if (effect === "load") {
      const product = this.#of(warp).open.at(-1);
      if (product?.site === e.site) this.#read(e, product);
      return;
    }
    const sources = this.#sources.get(warp.cta);
    if (sources === undefined || sources.areNone) return;
    const reader = readerOf(sources, e, lane, address, bytes);
    if (reader !== null) reportSource(this.#of(warp), e, reader);
  }

  /** A product reads its matrices. */
  #read(e: RangeEvent, product: Product): void {
    const { cta } = e.warp;
    let sources = this.#sources.get(cta);
    if (sources === undefined) this.#sources.set(cta, (sources = new Sources(cta.shared.u8.length)));
    const range = rangeIn(e, e.lane, e.address, accessBytes(e.access));
    if (range === null) return;
    product.sources.push(range);
    sources.add(range, product.site);
  }

  #of(warp: Warp): WarpProducts {
    let found = this.#warps.get(warp);
    if (found === undefined) this.#warps.set(warp, (found = new WarpProducts()));
    return found;
  }
}

function order(of: WarpProducts, op: OpOf<"order-products">, sources: Sources | undefined): void {
  switch (op.step) {
    case "fence":
      of.fences++;
      return;
    case "commit":
      for (const product of of.open) product.isCommitted = true;
      of.groups.push(of.open);
      of.open = [];
      return;
    case "wait":
      while (of.groups.length > op.pending) {
        for (const product of of.groups.shift()!) {
          product.isComplete = true;
          for (const range of product.sources) sources?.remove(range);
        }
      }
  }
}

/** A product is issued. */
function issue(of: WarpProducts, e: LaneEvent, { product, accumulators, left }: ProductRegisters): void {
  const { n, k, d } = product.tile;
  const issued: Product = {
    site: e.site,
    shape: `m64n${n}k${k}.${d}`,
    fences: of.fences,
    isCommitted: false,
    isComplete: false,
    sources: [],
  };
  reportUnfenced(of, e, issued, { product, accumulators, left });
  for (const register of left) {
    const state = of.stateOf(e.activation, register);
    if (inFlight(state.written)) reportInFlight(of, e, register, state.written, "reads, as a part of A,");
    state.read = issued;
  }
  for (const register of accumulators) of.stateOf(e.activation, register).written = issued;
  of.open.push(issued);
}

function reportUnfenced(of: WarpProducts, e: LaneEvent, { fences, shape }: Product, uses: ProductRegisters): void {
  if (of.fences === 0) {
    report(of, e, "wgmma-missing-fence", "the warp's first wgmma.mma_async comes before any wgmma.fence", fenceHelp);
    return;
  }
  for (const register of [...uses.accumulators, ...uses.left]) {
    const { access, written } = of.stateOf(e.activation, register);
    const isAccumulator = uses.accumulators.includes(register);
    // What only reads a part of A cannot disturb it.
    if (access !== null && access.fences === fences && (isAccumulator || access.writes)) {
      const what = `uses ${nameOf(e, register)}, which line ${lineOf(access.site)} ${access.writes ? "writes" : "reads"}`;
      report(of, e, "wgmma-missing-fence", `wgmma.mma_async ${what}, without a wgmma.fence in between`, fenceHelp);
      return;
    }
    if (isAccumulator && inFlight(written) && written.shape !== shape && written.fences === fences) {
      const other = `the product at line ${lineOf(written.site)}, which has another shape (${written.shape})`;
      const message = `wgmma.mma_async accumulates in ${nameOf(e, register)} after ${other}, without a wgmma.fence in between`;
      report(of, e, "wgmma-missing-fence", message, fenceHelp);
      return;
    }
  }
}

const fenceHelp = "put wgmma.fence.sync.aligned between the accesses to the registers and the first wgmma.mma_async";

/** An instruction that is no product accesses registers that products use. */
function touch(of: WarpProducts, e: InstructionEvent, { reads, writes, copies }: Touched): void {
  const x = e.activation;
  const { site } = e;
  const renamed = new Set<number>();
  for (const [to, from] of copies) {
    if (!inFlight(of.stateOf(x, from).written)) continue;
    of.copy(x, to, from);
    renamed.add(to).add(from);
  }
  for (const register of reads) {
    if (renamed.has(register)) continue;
    const state = of.stateOf(x, register);
    if (inFlight(state.written)) reportInFlight(of, e, register, state.written, "reads");
    if (state.access?.fences !== of.fences || !state.access.writes)
      state.access = { site, writes: false, fences: of.fences };
  }
  for (const register of writes) {
    if (renamed.has(register)) continue;
    const state = of.stateOf(x, register);
    if (inFlight(state.written)) reportInFlight(of, e, register, state.written, "writes");
    else if (inFlight(state.read)) reportInFlight(of, e, register, state.read, "writes");
    state.access = { site, writes: true, fences: of.fences };
  }
}

function reportInFlight(of: WarpProducts, e: LaneEvent, register: number, product: Product, verb: string): void {
  const message = `${verb} ${nameOf(e, register)}, which a wgmma.mma_async may still be using (issued at line ${lineOf(product.site)})`;
  const help = product.isCommitted
    ? "wait for its group first: wgmma.wait_group.sync.aligned"
    : "close its group and wait for that first: wgmma.commit_group.sync.aligned, wgmma.wait_group.sync.aligned";
  report(of, e, "async-in-flight", message, help);
}

/** The bytes of the block's shared memory at an address, or null. */
function rangeIn(
  { activation, warp }: LaneEvent,
  lane: number,
  address: AddressParts,
  bytes: number,
): SourceRange | null {
  const place = locate(activation, lane, address);
  if (place?.kind !== "shared" || place.views !== warp.cta.shared) return null;
  const start = place.at + address.low - place.start;
  return { start, end: start + bytes };
}

function readerOf(sources: Sources, e: LaneEvent, lane: number, address: AddressParts, bytes: number): Site | null {
  const range = rangeIn(e, lane, address, bytes);
  return range && sources.reader(range);
}

function reportSource(of: WarpProducts, e: LaneEvent, reader: Site): void {
  const message = `writes shared memory that a wgmma.mma_async may still be reading (issued at line ${lineOf(reader)})`;
  const help =
    "the warps of the warpgroup must wait for its group first (wgmma.wait_group.sync.aligned), and then meet this one";
  report(of, e, "async-in-flight", message, help);
}

const nameOf = ({ activation }: LaneEvent, register: number): string =>
  `\`${activation.code.ir.registers[register]!.name}\``;

const lineOf = ({ code, instruction }: Site): number => code.ir.source.position(instruction.span.start).line;

/** Reports once for each instruction and warp. */
function report(of: WarpProducts, e: LaneEvent, code: string, message: string, help: string): void {
  const { warp, site, activation, mask } = e;
  if (of.reported.has(site)) return;
  of.reported.add(site);
  warp.cta.grid.reports.add({ code, severity: "error", message, help, site, activation, lanes: mask });
}
