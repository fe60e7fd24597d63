import type { Access, Op } from "../../ir/index.ts";
import type { Site } from "../../machine/code.ts";

type Memory = Extract<Op, { kind: "load" | "store" | "atomic" }>;

/** How an instruction accesses memory, as the memory model of chapter 8 sees it. */
export class AccessKind {
  readonly site: Site;
  readonly effect: Memory["kind"];
  readonly access: Access;
  /** Section 8.4: relaxed, volatile, acquire and release operations, and atomic ones. */
  readonly strong: boolean;
  /** Its scope reaches beyond the block; there is one device, and so `.gpu` and `.sys` are the same. */
  readonly wide: boolean;
  readonly acquires: boolean;
  readonly releases: boolean;
  /** It reads in a way that a fence behind it can make an acquire pattern of (8.8: `red` does not). */
  readonly observes: boolean;
  /** Its number among the stamps, while the time is that. */
  stamp = 0;
  time = -1;

  constructor(site: Site, { kind, access }: Memory) {
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

/**
 * Which instruction accessed a place and when, as one number: there is a new one for an instruction when time has gone on.
 * 0 is none.
 */
export class Stamps {
  /** By number. */
  readonly times: number[] = [0];
  /** By number less 1. */
  readonly #kinds: AccessKind[] = [];
  readonly #bySite = new Map<Site, AccessKind>();

  /** `site`: a load, a store or an atomic operation. */
  kindOf(site: Site): AccessKind {
    let kind = this.#bySite.get(site);
    if (kind === undefined) this.#bySite.set(site, (kind = new AccessKind(site, site.instruction.op as Memory)));
    return kind;
  }

  kindAt(stamp: number): AccessKind {
    return this.#kinds[stamp - 1]!;
  }

  stamp(kind: AccessKind, time: number): number {
    if (kind.time === time) return kind.stamp;
    kind.time = time;
    this.times.push(time);
    return (kind.stamp = this.#kinds.push(kind));
  }
}
