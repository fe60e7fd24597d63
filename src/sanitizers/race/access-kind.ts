import type { Access, Op } from "../../ir/index.ts";
import type { Site } from "../../machine/state/code.ts";

type MemoryOp = Extract<Op, { kind: "load" | "store" | "atomic" }>;

/** What a call of `free` does to each of the bytes. */
const freeing: Access = {
  space: "global",
  bits: 8,
  signed: false,
  count: 1,
  align: 1,
  volatile: false,
  order: "weak",
  scope: null,
};

/** How an instruction accesses memory, as the memory model of chapter 8 sees it. */
export class AccessKind {
  readonly site: Site;
  /** `free` is a store to all of an allocation: nobody may access it any more. */
  readonly effect: MemoryOp["kind"] | "free";
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

  /** `site`: a load, a store, an atomic operation or a call of `free`. */
  constructor(site: Site, index: number) {
    const { op } = site.instruction;
    const access = op.kind === "call" ? freeing : (op as MemoryOp).access;
    const kind = op.kind === "call" ? "free" : (op as MemoryOp).kind;
    const { order, scope } = access;
    this.index = index;
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
