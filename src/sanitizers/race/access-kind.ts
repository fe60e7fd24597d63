import type { Access, Op } from "../../ir/index.ts";
import type { Site } from "../../machine/code.ts";

export type MemoryOp = Extract<Op, { kind: "load" | "store" | "atomic" }>;

/** How an instruction accesses memory, as the memory model of chapter 8 sees it. */
export class AccessKind {
  readonly site: Site;
  readonly effect: MemoryOp["kind"];
  readonly access: Access;
  /** Section 8.4: relaxed, volatile, acquire and release operations, and atomic ones. */
  readonly strong: boolean;
  /** Its scope reaches beyond the block; there is one device, and so `.gpu` and `.sys` are the same. */
  readonly wide: boolean;
  readonly acquires: boolean;
  readonly releases: boolean;
  /** It reads in a way that a fence behind it can make an acquire pattern of (8.8: `red` does not). */
  readonly observes: boolean;
  /** Counts the kinds of a launch, from 0. */
  readonly index: number;

  constructor(site: Site, { kind, access }: MemoryOp, index: number) {
    this.index = index;
    const { order, scope } = access;
    this.site = site;
    this.effect = kind;
    this.access = access;
    this.strong = kind === "atomic" || order !== "weak";
    this.wide = scope !== "cta" && scope !== "cluster";
    this.acquires = order === "acquire" || order === "acq_rel";
    this.releases = order === "release" || order === "acq_rel";
    this.observes = this.strong && (kind === "load" || (kind === "atomic" && site.instruction.dst.length > 0));
  }
}
