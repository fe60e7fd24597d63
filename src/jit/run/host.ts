import { eachLane, lowestLane } from "../../ir/lane-mask.ts";
import { type FileCallOp, wordBytesOf } from "../../ir/calls.ts";
import { accessesOf, type CallTarget, clusterQuestions, failingOp, fragmentOf, windows } from "../../ir/index.ts";
import { accessFault } from "../../machine/faults/access-fault.ts";
import { FailedLanes } from "../../machine/faults/failed-lanes.ts";
import { Fault, type FaultPlace } from "../../machine/faults/fault.ts";
import { locate, type Place } from "../../machine/faults/locate.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Grid } from "../../machine/state/launch-state.ts";
import { checkSizes, fileCallee, indirectCallProblem } from "../../program/call-targets.ts";
import { indexOutOfRange, notAligned, trapFault } from "../../program/instruction-faults.ts";
import { productIn } from "../../program/exact-product.ts";
import { multiply, productWords } from "../../program/matrix-product.ts";
import type { Program } from "../../program/program.ts";
import { restoreStack, stackOverflow, stackPointer, takePiece } from "../../program/stack.ts";
import type { CompiledKernel, HostSite } from "../abi/compiled-kernel.ts";
import { recordBytes } from "../abi/context-layout.ts";
import { CallStack, type HostedProgram } from "./call-stack.ts";
import { HostBarriers } from "./host-barriers.ts";
import { imageWordsAt } from "../abi/image-words.ts";
import { ImageDescriptions } from "./host-images.ts";
import { HostLevels } from "./host-levels.ts";
import { HostUnits } from "./host-units.ts";
import { HostSurfaces } from "./host-surfaces.ts";
import type { LaunchClusters } from "./launch-clusters.ts";
import { HostWarpWaits } from "./host-warp-waits.ts";
import { inSlm, oneLaneOf } from "./work-item-lookup.ts";

const fragmentWords = new Int32Array(productWords);

/** Which record an instruction has, and what may be noted there. */
type Recording = Required<Pick<HostSite, "record" | "lasting">>;

/** The host's side of the functions that compiled kernels import: see `hostImports`. */
export class Host {
  /** Chooses levels of textures. */
  readonly levels: HostLevels;
  readonly #grid: Grid;
  readonly #images = new ImageDescriptions();
  readonly #kernel: CompiledKernel;
  readonly #stack: CallStack;
  readonly #program: Program;
  /** The contexts in which there are records. */
  readonly #contexts = new Set<number>();
  readonly #constants: number;
  readonly #surfaces: HostSurfaces;
  /** The byte files of hardware threads, by where they lie in memory. */
  readonly #files = new Map<number, DataView>();
  readonly #warpWaits: HostWarpWaits;
  readonly #barriers: HostBarriers;
  readonly #clusters: LaunchClusters | null;
  readonly #units: HostUnits;

  /** `slot`: that of the blocks for which it answers; `clusters`: null where blocks take no notice of each other. */
  constructor(
    grid: Grid,
    kernel: CompiledKernel,
    hosted: HostedProgram,
    slot: number,
    clusters: LaunchClusters | null,
  ) {
    const { program } = hosted;
    this.#clusters = clusters;
    this.#program = program;
    this.#grid = grid;
    this.#kernel = kernel;
    this.#stack = new CallStack(grid, kernel, hosted, slot, clusters);
    this.#constants = hosted.constants;
    this.#surfaces = new HostSurfaces(grid, kernel, (context, place) => this.#byteOf(context, place));
    this.levels = new HostLevels(grid, kernel, (number) => this.#stack.site(number));
    this.#units = new HostUnits(grid, kernel, (context, place) => this.#byteOf(context, place), hosted.shown ?? null);
    this.#barriers = new HostBarriers(grid, kernel, this.#stack);
    this.#warpWaits = new HostWarpWaits(grid, kernel, program.bindings, this.#stack);
  }

  /** Fills the byte file, at a byte of memory, of the hardware thread that is about to begin. */
  startThread(context: number, at: number): void {
    const { cta, index, lanes, tid } = this.#stack.warpOf(context);
    const { buffer } = this.#grid.memory.views.u8;
    let file = this.#files.get(at);
    if (file?.buffer !== buffer) this.#files.set(at, (file = new DataView(buffer, at, this.#kernel.fileBytes)));
    const serial = cta.ticket * cta.warps.length + index;
    this.#grid.threads!.start(file, { group: cta.id, index, serial, slot: cta.slot, lanes, localIds: tid });
  }

  /** Notes in a site's record where the surface with an index lies. */
  findSurface(context: number, number: number, index: number, mask: number): void {
    const { record } = this.#kernel.sites[number]!;
    const at = { context, site: this.#stack.site(number), x: this.#stack.innermost(context), mask };
    this.#surfaces.find({ ...at, record: record!, index });
  }

  /** Lanes have arrived at a warp-wide operation, whose operands they have left in memory. */
  arriveAtWarpWait(context: number, site: number, lanes: number): void {
    this.#warpWaits.arrive(context, site, lanes);
  }

  /** Lanes have exited for which others may have waited. */
  settle(context: number): void {
    this.#warpWaits.settle(context);
  }

  /** A chunk arrives at a counted barrier. Returns whether it passes. */
  arrive(context: number, site: number, id: number, count: number, lanes: number, votes: number): 0 | 1 {
    return this.#barriers.arrive(context, site, id, count, lanes, votes);
  }

  /** Lanes ask about their cluster. Returns those for which the answer is yes. */
  askCluster(context: number, number: number, question: number, lanes: number): number {
    const first = this.#firstLane(context);
    const at = { site: this.#stack.site(number), activation: this.#stack.innermost(context), lanes: lanes << first };
    const block = { n: this.#stack.indexOf(context), context };
    return this.#clusters!.ask(clusterQuestions[question]!, block, at) >>> first;
  }

  /** No chunk of a block runs: those at barriers may be released. */
  settleBarriers(context: number, yielded: boolean): void {
    this.#barriers.settle(context, yielded);
  }

  /** Ends the launch: all threads of a block that are left wait for each other. */
  deadlock(context: number): never {
    throw this.#warpWaits.deadlock(context);
  }

  /**
   * Finds the bytes of memory that the addresses in a context mean, for the lanes of a mask. An access that is not
   * allowed ends the launch, with all lanes that fail alike.
   */
  translate(context: number, number: number, mask: number): void {
    const { addresses, places, values } = this.#kernel.layout;
    const { i32 } = this.#grid.memory.views;
    const { lanes } = this.#kernel;
    this.#contexts.add(context);
    const { record, lasting = 0, element = 0, part = null, surface } = this.#kernel.sites[number]!;
    const site = this.#stack.site(number);
    const { op } = site.instruction;
    const [made] = accessesOf(op);
    if (made === undefined) throw new Error(`${op.kind} has no address`);
    const { effect, access } = part ?? made;
    const x = this.#stack.innermost(context);
    const first = this.#firstLane(context);
    if (made.place.kind === "surface") {
      const lookup = { first, record: record!, element, surface: surface ?? null };
      const found = this.#surfaces.translate({ context, site, x, mask, ...lookup });
      if (found !== null) this.#remember(context, { record: lookup.record, lasting: 0 }, found.place, found.high);
      return;
    }
    const isSlm = this.#grid.threads !== null && access.space === "shared";
    const failed = new FailedLanes();
    let last: Place | null = null;
    let high = 0;
    for (let lane = 0; lane < lanes; lane++) {
      const at = (context + places + 4 * lane) >>> 2;
      i32[at] = context + values;
      if ((mask & (1 << lane)) === 0) continue;
      const from = (context + addresses + 8 * lane) >>> 2;
      const asked: AddressParts = { low: i32[from]! >>> 0, high: i32[from + 1]! >>> 0 };
      const address = isSlm ? inSlm(asked) : asked;
      const inWarp = first + lane;
      const place = locate(x, inWarp, address);
      const fault = accessFault({ x, lane: inWarp, site, effect, access, address, place });
      if (fault !== null) failed.add(fault);
      else {
        i32[at] = this.#byteOf(context, place!) + (address.low - place!.start);
        last = place;
        high = address.high;
      }
    }
    failed.end(oneLaneOf(site));
    if (last !== null) this.#remember(context, { record, lasting }, last, high);
  }

  /** Ends the launch: an instruction has failed in some lanes of a chunk. */
  fault(context: number, number: number, lanes: number): never {
    const { layout } = this.#kernel;
    const { i32 } = this.#grid.memory.views;
    const site = this.#stack.site(number);
    const at = { site, activation: this.#stack.innermost(context), lanes: lanes << this.#firstLane(context) };
    const op = failingOp(site.instruction.op);
    switch (op?.kind) {
      case "trap":
        throw trapFault(op, at);
      case "branch-indexed": {
        const lowest = lowestLane(lanes);
        throw indexOutOfRange(i32[(context + layout.values + 4 * lowest) >>> 2]!, op.targets.length, at);
      }
      case "call":
        return this.#badTargets(context, op.target, at);
      case "file-call":
        return this.#badFileCall(context, op, site, at);
      case "atomic": {
        const reportOf = (lane: number) => op.problem!.reports[i32[(context + layout.values + 4 * lane) >>> 2]! - 1]!;
        const { code, message } = reportOf(lowestLane(lanes));
        let same = 0;
        eachLane(lanes, (lane) => {
          if (reportOf(lane).code === code) same |= 1 << lane;
        });
        throw new Fault(code, message, { ...at, lanes: same << this.#firstLane(context) });
      }
      case "warp":
        throw notAligned(at);
      // Accesses fail where their address is looked up.
      case "load":
      case "store":
      case "copy":
      case "alloca":
      // Misuse of a cluster's barrier is found where lanes arrive and wait.
      case "cluster-barrier":
      case "cluster-poll":
      // So do units of the machine.
      case "unit":
      // Launches that reach such a barrier are given up, or refused before they begin.
      case "barrier":
      case "subroutine-call":
      case "unsupported":
      case undefined:
        throw new Error(`${site.instruction.op.kind} does not fail here`);
    }
  }

  /** Multiplies the matrices in a warp's registers. */
  multiply(context: number, number: number): void {
    const { op } = this.#stack.site(number).instruction;
    if (op.kind !== "warp" || op.warp.op !== "multiply") throw new Error(`${op.kind} multiplies no matrices`);
    const start = (context + this.#kernel.layout.fragments) >>> 2;
    const product = productIn(this.#grid, op.warp.product);
    multiply(product, this.#grid.memory.views.i32.subarray(start, start + productWords), fragmentWords);
    const d = fragmentOf(op.warp.product, "d");
    this.#grid.memory.views.i32.set(fragmentWords.subarray(0, d.registers * d.registerBits), start);
  }

  /** Lets a unit of the machine act for lanes of a chunk. */
  performUnit(context: number, number: number, lanes: number): void {
    const first = this.#firstLane(context);
    const [site, x] = [this.#stack.site(number), this.#stack.innermost(context)];
    this.#units.perform({ context, x, site, lanes: lanes << first, first });
  }

  /** Describes a texture for compiled code. Returns the form of its texels, or 0 if it is for `performUnit`. */
  findImage(context: number, handle: AddressParts, fetch: number, level: number): number {
    const { layout, lanes } = this.#kernel;
    const { images, views } = this.#grid.memory;
    const at = (context + layout.fragments + imageWordsAt(lanes)) >>> 2;
    return this.#images.put(images, handle, { fetch, level }, views.i32, at);
  }

  /** A block ends. */
  endUnits(context: number): void {
    this.#units.end(this.#stack.block(context));
  }

  /** Ends the launch: lanes have called a function for which their stacks have no room. */
  stackOverflow(context: number, lanes: number): never {
    const { layout } = this.#kernel;
    const first = this.#grid.memory.views.i32[(context + layout.words.first) >>> 2]!;
    const { caller, callSite } = this.#stack.innermost(context);
    throw stackOverflow({ site: callSite!, activation: caller!, lanes: lanes << (first & 31) });
  }

  /** Does what a function without a body does, lane by lane. */
  external(context: number, number: number, lanes: number): void {
    const { layout, lanes: width } = this.#kernel;
    const { memory } = this.#grid;
    const site = this.#stack.site(number);
    const { op } = site.instruction;
    if (op.kind !== "call" || op.target.kind !== "direct") throw new Error(`${op.kind} has no such function`);
    const run = this.#program.externals.get(op.target.function)!;
    const x = this.#stack.innermost(context);
    const { epoch } = memory;
    const failed = new FailedLanes();
    eachLane(lanes, (lane) => {
      const args = op.args
        .flatMap(wordBytesOf)
        .map((_, i) => BigInt.asUintN(64, memory.views.i64[(context + layout.args + 8 * (i * width + lane)) >>> 3]!));
      failed.try(() => {
        const value = run({ x, lane, site, args, functions: this.#program.functions, onStore: null });
        memory.views.i64[(context + layout.values + 8 * lane) >>> 3] = value;
      });
    });
    failed.end();
    // Allocations may be gone that records know.
    if (memory.epoch === epoch) return;
    for (const other of this.#contexts) memory.views.u8.fill(0, other + layout.sites, other + layout.addresses);
  }

  /** An activation begins in which lanes may take more of their stacks. */
  openStack(context: number): void {
    this.#stack.open(context);
  }

  /** Lanes take some of their stacks, or give it back. */
  stack(context: number, number: number, lanes: number): void {
    const { layout } = this.#kernel;
    const { i32, i64 } = this.#grid.memory.views;
    const site = this.#stack.site(number);
    const { op } = site.instruction;
    const x = this.#stack.innermost(context);
    eachLane(lanes, (lane) => {
      const operand = (context + layout.addresses + 8 * lane) >>> 3;
      const result = (context + layout.values + 8 * lane) >>> 3;
      if (op.kind === "alloca") {
        const bytes = Number(BigInt.asUintN(64, i64[operand]!));
        i64[result] = BigInt(takePiece(x, { site, lane, bytes, align: op.align }));
      } else if (op.kind === "stack-save") i64[result] = BigInt(stackPointer(x, lane));
      else restoreStack(x, lane, i32[operand * 2]! >>> 0);
    });
    this.#stack.noteStack(context, x);
  }

  /**
   * Ends the launch: the addresses that lanes call are wrong. Reports the first problem, with all lanes that have it.
   */
  #badTargets(context: number, target: CallTarget, at: FaultPlace): never {
    const { layout } = this.#kernel;
    const { i32 } = this.#grid.memory.views;
    if (target.kind === "direct") throw new Error(`${target.function} has no address here`);
    const first = this.#firstLane(context);
    const failed = new FailedLanes();
    for (let m = at.lanes; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const from = (context + layout.addresses + 8 * (lane - first)) >>> 2;
      const address = { low: i32[from]! >>> 0, high: i32[from + 1]! >>> 0 };
      const problem = indirectCallProblem(this.#program, target, { activation: at.activation, lane, address });
      if (problem !== null) failed.add(new Fault(...problem, { ...at, lanes: m & -m }));
    }
    failed.end();
    throw new Error("a function was called by an address that nothing in the program takes");
  }

  /** Ends the launch: a call of vISA is wrong. */
  #badFileCall(context: number, op: FileCallOp, site: Site, at: FaultPlace): never {
    const { layout } = this.#kernel;
    const { i32 } = this.#grid.memory.views;
    const addressIn = (lane: number): AddressParts => {
      const from = (context + layout.addresses + 8 * lane) >>> 2;
      return { low: i32[from]! >>> 0, high: i32[from + 1]! >>> 0 };
    };
    const rule = site.instruction.lanes;
    const asked = rule?.uniform === true ? 1 << rule.first : at.lanes;
    const { target } = op;
    const callee =
      target.kind === "direct"
        ? this.#program.functionNamed(target.function)!
        : fileCallee(this.#program, addressIn, asked, at);
    checkSizes(op, callee, at);
    throw new Error("a function was called by an address that nothing in the program takes");
  }

  /** The lane of its warp that is the first of the chunk. */
  #firstLane(context: number): number {
    const { layout, shape } = this.#kernel;
    const width = this.#grid.threads?.width ?? 32;
    return shape.width === null ? this.#grid.memory.views.i32[(context + layout.words.first) >>> 2]! % width : 0;
  }

  /** A time, later than all that have been returned. */
  clock(): bigint {
    return this.#grid.clock();
  }

  /** The byte of memory at which a place begins. */
  #byteOf(context: number, place: Place): number {
    const { layout } = this.#kernel;
    switch (place.kind) {
      case "global":
        return place.at;
      case "shared":
        return (place.owner === null ? context : this.#clusters!.contextOf(place.owner)) + layout.shared + place.at;
      case "const":
        return this.#constants + (place.start - windows.const.start);
      case "kernel-param":
        return context + layout.params + (place.start - windows["kernel-param"].start);
      case "frame":
      case "stack":
        return place.at;
    }
  }

  /** Writes the record in which the instruction looks the next time before it calls. */
  #remember(context: number, { record, lasting }: Recording, place: Place, high: number): void {
    // In other clusters the address means another block, and the block may exit.
    if (record === null || place.owner !== null) return;
    const { i32 } = this.#grid.memory.views;
    const { sites, stackSites } = this.#kernel.layout;
    const isStack = place.kind === "frame" || place.kind === "stack";
    // Other variables exist in some activations alone, or may be elsewhere in the next.
    if (isStack && place.end > windows.local.start + lasting) return;
    const at = (context + (isStack ? stackSites : sites) + record * recordBytes) >>> 2;
    i32[at] = place.start;
    i32[at + 1] = high;
    i32[at + 2] = place.end - place.start;
    i32[at + 3] = this.#byteOf(context, place) - place.start;
  }
}
