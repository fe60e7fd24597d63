import { OptimisticLoads } from "../../../ir/flow/index.ts";
import { accessesOf, type Instruction, type IrFunction, type MemoryAccess } from "../../../ir/index.ts";
import { hasCopies } from "./copies.ts";
import { type FrameCell, frameCellOf, hasFrame } from "./frames.ts";
import { GlobalRoots, HiddenParams } from "./hidden-params.ts";
import { needsObservers, unitsStore } from "./observed.ts";
import type { PointerRoot } from "./pointer-roots.ts";
import { type CellBytes, type Plane, type SharedShadow, sharedShadowFor } from "./shadow-plan.ts";
import { SharedCells } from "./shared-cells.ts";
import { isSharedSpace, isWatched } from "./spaces.ts";
import { type IsGlobal, threadsOf, type WatchChoices } from "./watch-choices.ts";

/** What the code that watches a kernel and the functions that it calls has in common. */
export class WatchedProgram {
  readonly choices: WatchChoices;
  readonly kernel: IrFunction;
  readonly hidden: HiddenParams;
  /** Whether accesses are noted in cells. */
  readonly notes: boolean;
  readonly hasBarriers: boolean;
  /** Whether a thread has the number of barriers that it has passed in a word of shared memory, for its functions. */
  readonly keepsIntervals: boolean;
  /** Whether functions may pass barriers, so that the number may be another one after a call. */
  readonly passesBarriersInCalls: boolean;
  /** Whether a thread may end in a function, and what the kernel has found would be lost. */
  readonly exitsInCalls: boolean;
  /** The cells of global and of shared memory; null where they are not accessed. */
  readonly globalCell: CellBytes | null;
  readonly sharedCells: SharedCells | null;
  readonly shared: SharedShadow | null;
  /** What the addresses of a function's accesses are computed from; null where all may lie anywhere. */
  readonly rootsOf: (ir: IrFunction) => GlobalRoots | null;
  /** Whether the sanitizers themselves watch shared memory: what happens there is shown to them. */
  readonly isObserved: boolean;
  /** Whether units of the machine may write global memory. */
  readonly unitsStore: boolean;
  /** What the kernel's own accesses may reach in global memory, and may write; null where that is not known. */
  readonly accessed: readonly PointerRoot[] | null;
  readonly written: readonly PointerRoot[] | null;
  /** What asynchronous copies read in global memory, if these are watched. */
  readonly copied: readonly PointerRoot[];
  /** Whether asynchronous copies matter, and whether woven code watches their destinations. */
  readonly hasCopies: boolean;
  readonly watchesCopies: boolean;
  /** Whether generic addresses may be those of variables of frames. */
  readonly hasFrames: boolean;
  /** The cells of these variables; null where it does not matter whether they have been written. */
  readonly frameCell: FrameCell | null;
  /** How many bits of a time in shared memory count how often a warp has met (`bar.warp.sync`). */
  readonly meetingBits: number;
  readonly #optimistic = new OptimisticLoads();
  /** The strong accesses to shared and to other memory. */
  readonly #strong: { readonly shared: StrongAccesses; readonly others: StrongAccesses };
  readonly #sites = new Map<IrFunction, number>();

  /** `functions`: the kernel, and what it may call. */
  constructor(functions: readonly IrFunction[], choices: WatchChoices, isGlobal: IsGlobal) {
    const [kernel, ...called] = functions;
    const { sanitizers, sharedBytes, block } = choices;
    this.choices = choices;
    this.kernel = kernel!;
    this.hidden = new HiddenParams(kernel!);
    this.hasBarriers = functions.some(hasBarrier);
    const asks = sanitizers.has("race") || sanitizers.has("init");
    this.isObserved = asks && functions.some(needsObservers);
    this.unitsStore = functions.some(unitsStore);
    // The words at barriers lie where a stray access could find them, unless it misses its cells.
    const hasWords = this.hasBarriers && sanitizers.has("sync");
    this.notes = sanitizers.has("race") || sanitizers.has("init") || hasWords;
    this.keepsIntervals = this.hasBarriers && this.notes && called.length > 0;
    this.passesBarriersInCalls = called.some(hasBarrier);
    this.exitsInCalls = called.some(({ instructions }) => instructions.some(({ op }) => op.kind === "exit"));
    this.hasCopies = sanitizers.has("race") && functions.some(hasCopies);
    this.watchesCopies = this.hasCopies && !this.isObserved;
    const meets = called.length === 0 && !this.isObserved && kernel!.instructions.some(isMeeting);
    this.meetingBits = !meets ? 0 : this.hasBarriers ? 6 : 16;
    this.hasFrames = functions.some(hasFrame);
    this.frameCell = sanitizers.has("init") && this.hasFrames ? frameCellOf(functions) : null;
    this.globalCell = this.notes ? cellBytesOf(functions, false) : null;
    const sharedCell = this.notes && !this.isObserved ? cellBytesOf(functions, true) : null;
    this.sharedCells =
      sharedCell === null ? null : new SharedCells(functions, sharedCell, this.watchesCopies, choices.sharedExtentOf);
    this.shared =
      sharedCell === null && !hasWords && !this.keepsIntervals
        ? null
        : sharedShadowFor(sharedBytes, sharedCell, {
            threads: this.keepsIntervals ? threadsOf(block) : 0,
            hasCopies: this.watchesCopies,
          });
    const roots = new Map(functions.map((ir) => [ir, new GlobalRoots(ir, isGlobal)]));
    const rootsWhere = (holds: Parameters<GlobalRoots["all"]>[0]): readonly PointerRoot[] =>
      [...roots.values()].flatMap((of) => of.all(holds));
    const areKnown = rootsWhere(() => true).every(({ kind }) => kind !== "anything");
    this.rootsOf = (ir) => (areKnown ? roots.get(ir)! : null);
    // Stores to any other memory miss their cells.
    const isKnown = areKnown && (this.globalCell !== null || this.isObserved);
    this.accessed = isKnown ? rootsWhere(() => true) : null;
    this.written = isKnown ? rootsWhere(({ effect }) => effect !== "load") : null;
    this.copied = this.hasCopies ? rootsWhere(({ effect }, op) => op.kind === "copy" && effect === "load") : [];
    const strong = functions.flatMap(({ instructions }) =>
      instructions.flatMap(({ op }) => accessesOf(op).filter(isOfStrong)),
    );
    this.#strong = { shared: strongAccesses(strong, true), others: strongAccesses(strong, false) };
    let site = 0;
    for (const ir of functions) {
      this.#sites.set(ir, site);
      site += ir.instructions.length;
    }
  }

  /** The planes of global memory that are used. */
  get planes(): readonly Plane[] {
    return this.hasBarriers ? ["writer", "writtenIn", "reader", "readIn"] : ["writer", "reader"];
  }

  /** A number for an instruction among those of all functions. */
  siteOf(ir: IrFunction, index: number): number {
    return this.#sites.get(ir)! + index;
  }

  /** Whether all strong accesses to a space are morally strong with each other. */
  areOrdered(isShared: boolean): boolean {
    return this.#strong[isShared ? "shared" : "others"].areOrdered;
  }

  /**
   * Whether an access of an instruction is morally strong with all strong ones to its space that are so. A load with
   * which a compare-and-swap loop begins counts as such: it does not race with atomic operations.
   */
  isStrong(ir: IrFunction, instruction: Instruction, made: Made): boolean {
    const { isOrdered, areOrdered, areAtomic } = this.#strong[isSharedSpace(made.access.space) ? "shared" : "others"];
    if (isOfStrong(made)) return isOrdered(made);
    return made.effect === "load" && areOrdered && areAtomic && this.#optimistic.has(ir, instruction);
  }
}

/** The strong accesses to a space. */
interface StrongAccesses {
  /** Whether one of them is morally strong with all others of which this is so. */
  readonly isOrdered: (made: Made) => boolean;
  readonly areOrdered: boolean;
  /** Whether what they write is written by atomic operations. */
  readonly areAtomic: boolean;
}

/** Only those to elements of one size are morally strong (8.7), and, between blocks, if their scope reaches there. */
function strongAccesses(strong: readonly Made[], isShared: boolean): StrongAccesses {
  const own = strong.filter((made) => isIn(made, isShared));
  const haveOneSize = new Set(own.map(({ access }) => access.bits)).size <= 1;
  const isOrdered = ({ access: { scope } }: Made): boolean =>
    haveOneSize && (isShared || (scope !== "cta" && scope !== "cluster"));
  return { isOrdered, areOrdered: own.every(isOrdered), areAtomic: own.every(({ effect }) => effect !== "store") };
}

type Made = Pick<MemoryAccess, "effect" | "access">;

/** Section 8.4. */
const isOfStrong = ({ effect, access: { order } }: Made): boolean => effect === "atomic" || order !== "weak";

const isIn = ({ access }: Pick<Made, "access">, isShared: boolean): boolean =>
  isWatched(access) && isSharedSpace(access.space) === isShared;

const hasBarrier = ({ instructions }: IrFunction): boolean => instructions.some(({ op }) => op.kind === "barrier");

/** Whether all lanes of a warp meet at an instruction, and what they have done is ordered. */
export const isMeeting = ({ op, guard }: Instruction): boolean =>
  guard === null && op.kind === "warp" && op.warp.op === "sync" && op.mask?.kind === "const" && op.mask.value === -1;

/** The narrowest access to memory of a space; null where there is none. */
function cellBytesOf(functions: readonly IrFunction[], isShared: boolean): CellBytes | null {
  let narrowest: number | null = null;
  for (const { op } of functions.flatMap(({ instructions }) => instructions)) {
    for (const { access } of accessesOf(op)) {
      if (isIn({ access }, isShared)) narrowest = Math.min(narrowest ?? 4, access.bits / 8);
    }
  }
  return narrowest as CellBytes | null;
}
