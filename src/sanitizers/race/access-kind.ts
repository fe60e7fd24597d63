import { type Access, accessesOf, makesMbarrier, type MemoryAccess, plainAccess } from "../../ir/index.ts";
import type { Site } from "../../machine/state/code.ts";

/** What a call of `free` does to each byte. */
const freeing = plainAccess("global", 8);

/** An access that the instruction alone does not tell: that of a unit of the machine. */
export type MadeAccess = Pick<MemoryAccess, "effect" | "access">;

/** One access of an instruction, as the memory model of chapter 8 sees it. */
export class AccessKind {
  readonly site: Site;
  /** `free` is like a store to all of an allocation: it must not be accessed any more. */
  readonly effect: MemoryAccess["effect"] | "free";
  readonly access: Access;
  /** Section 8.4: relaxed, volatile, acquire and release operations, and atomic ones. */
  readonly strong: boolean;
  /**
   * Its scope reaches beyond the block; there is one device, and so `.gpu` and `.sys` are the same, and `.cluster`
   * counts as these. So does an operation on an mbarrier whatever its scope: arrivals at those of other blocks often
   * have none written, and the default is `.cta`.
   */
  readonly wide: boolean;
  readonly acquires: boolean;
  readonly releases: boolean;
  /** It can form an acquire pattern with a fence after it (8.8; `red` cannot). */
  readonly observes: boolean;
  /** `mbarrier.init` */
  readonly makesMbarrier: boolean;
  /** It is an operation on an mbarrier; and one that asks whether a phase is complete. */
  readonly isOfMbarrier: boolean;
  readonly asksForPhase: boolean;
  /** Its number among the accesses of a launch, from 0. */
  readonly index: number;

  /** `own`: the access; null for the instruction's own with this ordinal. A call of `free` has none. */
  constructor(site: Site, ordinal: number, index: number, own: MadeAccess | null = null) {
    const { op, dst } = site.instruction;
    const made = own ?? accessesOf(op)[ordinal];
    const access = made?.access ?? freeing;
    const effect = made?.effect ?? "free";
    const { order, scope } = access;
    this.index = index;
    this.site = site;
    this.effect = effect;
    this.access = access;
    this.makesMbarrier = makesMbarrier(op);
    this.isOfMbarrier = own !== null ? order === "release" : op.kind === "atomic" && op.problem !== undefined;
    this.asksForPhase = own === null && op.kind === "atomic" && this.isOfMbarrier && op.results?.[0]?.ty === "pred";
    this.strong = (effect === "atomic" && !this.makesMbarrier) || order !== "weak";
    this.wide = scope !== "cta" || (op.kind === "atomic" && op.problem !== undefined);
    this.acquires = order === "acquire" || order === "acq_rel";
    this.releases = order === "release" || order === "acq_rel";
    this.observes = this.strong && (effect === "load" || (effect === "atomic" && dst.length > 0));
  }
}
