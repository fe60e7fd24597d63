import type { Access } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { type AccessGroup, accessGroups, type GroupMember } from "../analysis/access/access-groups.ts";
import { type AssembledWord, assembledWordsOf } from "../analysis/access/assembled-words.ts";
import type { RestartablePrefix } from "../analysis/access/restartable-prefix.ts";
import { type WideLoad, type WideLoadPart, wideLoadsOf } from "../analysis/access/wide-loads.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Mask } from "../lanes/mask.ts";
import { both } from "../lanes/scalar.ts";
import type { FunctionContext } from "../module/function-context.ts";
import { AddressLookup } from "./address-lookup.ts";
import { AddressSteps } from "./address-steps.ts";
import type { ExpectedObject } from "./bounds-check.ts";
import { type CheckedAccess, isAlwaysGood, type OffsetFinder } from "./checked-access.ts";
import type { ExpectedObjects } from "./expected-objects.ts";
import { GroupChecks } from "./group-checks.ts";
import type { VerifiedGroup } from "./kept-check.ts";
import { hoistLoopChecks, type HoistedLoopChecks } from "./loop-bounds-checks.ts";
import { everyQuadIsApart } from "./spaced-loads.ts";

/** A group of accesses, and the object that they are expected to find. */
export interface Expected {
  readonly group: AccessGroup;
  readonly target: ExpectedObject;
}

/** The fewest accesses for which a block is worth a second version without checks. */
const minForVersions = 4;

/** The fewest accesses that may be runs for which a block of converged lanes has two versions. */
const fewestRuns = 2;

/** Bytes of a vector. */
const vectorBytes = 16;

/**
 * Whether a wide load costs less than its parts do. Where a quad's lanes lie so near that few vectors have all of their
 * words, it does not, unless parts are narrow: more would be held in registers.
 */
const isBetterWide = (
  { offsets, mayAdjoin }: Pick<VerifiedGroup, "offsets" | "mayAdjoin">,
  { wide }: WideLoadPart,
): boolean => {
  if (offsets.kind === "pattern") return everyQuadIsApart(offsets.distances);
  if (offsets.kind !== "run") return offsets.kind === "each" && !mayAdjoin;
  const { stride } = offsets;
  const distance = Math.abs(stride);
  if (!wide.hasNarrow) return wide.words === 4 && distance >= vectorBytes;
  const isOneVector = stride > 0 && (wide.words === 1 ? stride <= 12 : stride === 4 * wide.words);
  return isOneVector || distance >= vectorBytes;
};

type GroupSet = Pick<ReadonlySet<AccessGroup>, "has">;

const noGroups: GroupSet = { has: (): boolean => false };

const allGroups: GroupSet = { has: (): boolean => true };

/**
 * Finds the bytes of memory that instructions access: by a bounds check made once for a group of accesses, or by
 * looking up each lane's address.
 */
export class AccessChecks {
  readonly #chunk: Chunk;
  /** The objects that accesses are expected to find. */
  readonly objects: ExpectedObjects;
  readonly #members: ReadonlyMap<number, GroupMember>;
  readonly wideLoads: ReadonlyMap<number, WideLoadPart>;
  readonly assembledWords: ReadonlyMap<number, AssembledWord>;
  /** The wide loads of which numbers of 64 bits are put together. */
  readonly #ofLongNumbers: ReadonlySet<WideLoad>;
  readonly #groups: GroupChecks;
  readonly #verified = new Map<AccessGroup, VerifiedGroup>();
  /** Groups whose checks have passed in the version being written; set by `#writeAssuming` alone. */
  #assumed: GroupSet = noGroups;
  /** Those of them whose addresses are known to follow each other: the check that has passed was that of the run. */
  #assumedRuns: GroupSet = noGroups;
  readonly #lookup: AddressLookup;

  constructor(chunk: Chunk, context: FunctionContext, objects: ExpectedObjects) {
    this.#chunk = chunk;
    this.objects = objects;
    this.#members = accessGroups(chunk.analysis.code, objects.variableNear);
    this.wideLoads = wideLoadsOf(chunk.analysis.code, this.#members);
    this.assembledWords = assembledWordsOf(chunk.analysis.code, this.wideLoads);
    const long = [...this.assembledWords.values()].filter(({ bytes }) => bytes.length === 8);
    this.#ofLongNumbers = new Set(long.map(({ words }) => words[0]!.wide));
    this.#groups = new GroupChecks(chunk, context, objects, this.#members);
    this.#lookup = new AddressLookup(chunk, context, (index) => this.#groups.recordOf(this.#members.get(index)!.group));
  }

  /** The group of an access and its expected object; null if the object is unknown, or differs from lane to lane. */
  expected(index: number): Expected | null {
    const { group } = this.#members.get(index)!;
    const target = this.#groups.targetsOf(group)[0];
    return target === undefined || this.#groups.isPerLane(group.access) ? null : { group, target };
  }

  /** Writes code that relies on no check made before it, and on whose checks nothing after it relies. */
  apart(write: () => void): void {
    this.#verified.clear();
    write();
    this.#verified.clear();
  }

  /** Whether nothing is tested for an access, as that has been done. */
  isChecked(index: number): boolean {
    const group = this.#members.get(index)?.group;
    const known = group && this.#verified.get(group);
    if (known === undefined) return false;
    return isAlwaysGood({ ok: this.#assumed.has(group!) ? wasm.i32(1) : known.ok, run: known.run });
  }

  /** Checks an access. `active`: the lanes of the block; `mask`: those that access memory. */
  check(index: number, active: Mask, mask: Mask): CheckedAccess {
    const { group, at } = this.#members.get(index)!;
    let known = this.#verified.get(group);
    if (known === undefined) {
      known = this.#groups.verify(group, group.count > 1 ? active : mask, { instruction: index });
      this.#verified.set(group, known);
    }
    const { locals, left: _, ...found } = known;
    const part = this.#groups.isPerLane(group.access) ? undefined : this.wideLoads.get(index);
    const isBetter = (one: WideLoadPart): boolean =>
      found.offsets.kind === "one" ? this.#ofLongNumbers.has(one.wide) : isBetterWide(found, one);
    const wideLoad = part !== undefined && isBetter(part) ? part : null;
    const ok = this.#assumed.has(group) ? wasm.i32(1) : known.ok;
    const release = (): void => {
      known.left--;
      if (known.left > 0) return;
      for (const local of locals) this.#chunk.writer.release(local);
      found.run?.each?.release();
    };
    const runOk = this.#assumedRuns.has(group) ? wasm.i32(1) : found.run?.ok;
    const run = found.run === null ? null : { ...found.run, ok: runOk!, immediate: found.run.immediate + at };
    return { ...found, ok, run, immediate: found.immediate + at, wideLoad, release };
  }

  /**
   * Makes all checks that are possible at the start of a block, and writes two versions of the block: one that relies
   * on them, and one that does not. `write` writes the instructions. A block with too few accesses is written once.
   */
  inVersions(start: number, end: number, active: Mask, write: () => void): void {
    const groups = new Set<AccessGroup>();
    let count = 0;
    for (let i = start; i < end; i++) {
      const group = this.#members.get(i)?.group;
      if (group === undefined || !group.isEarly || this.#groups.isScattered(group)) continue;
      groups.add(group);
      count++;
    }
    if (count < minForVersions) {
      write();
      return;
    }
    const checks: Wasm[] = [];
    for (const group of groups) {
      const verified = this.#groups.verify(group, active);
      // Both versions release it.
      verified.left *= 2;
      this.#verified.set(group, verified);
      if (verified.ok.kind !== "const") checks.push(verified.ok);
      else if (verified.ok.value === 0) groups.delete(group);
    }
    const { writer } = this.#chunk;
    const forget = (): void => {
      for (const group of this.#verified.keys()) if (!groups.has(group)) this.#verified.delete(group);
    };
    writer.value(checks.length === 0 ? wasm.i32(1) : checks.reduce(both));
    writer.expect(true);
    writer.if(
      () => {
        this.#writeAssuming(groups, write);
        forget();
      },
      () => {
        write();
        forget();
      },
    );
  }

  /**
   * Checks the accesses of a restartable prefix before the block's first instruction. `otherwise` is written for the
   * case that any check fails.
   */
  checkPrefix({ accesses, isReady }: RestartablePrefix, otherwise: () => void): void {
    const checks: Wasm[] = [];
    for (const index of accesses) {
      const { group } = this.#members.get(index)!;
      if (this.#verified.has(group) || this.#groups.isScattered(group) || !isReady(group.address.base, index)) continue;
      const known = this.#groups.verify(group, null);
      checks.push(known.run === null ? known.ok : wasm.op("i32.or", known.run.ok, known.ok));
      this.#verified.set(group, { ...known, ok: wasm.i32(1), fallback: null });
    }
    const all = checks.reduce(both, wasm.i32(1));
    if (all.kind === "const" && all.value === 1) return;
    const { writer } = this.#chunk;
    writer.value(wasm.op("i32.eqz", all));
    writer.expect(false);
    writer.if(otherwise);
  }

  /**
   * Writes a block for some of the lanes, after the instructions of its restartable prefix: where all checks hold that
   * are possible beforehand, a version without tests, in which lanes outside the mask load like the others; else one
   * with all of them.
   */
  forSome({ accesses, isReady }: RestartablePrefix, mask: Mask, write: () => void): void {
    const groups = new Set<AccessGroup>();
    const checks: Wasm[] = [];
    for (const index of accesses) {
      const { group } = this.#members.get(index)!;
      if (this.#verified.has(group) || !isReady(group.address.base, index)) continue;
      if (this.#groups.isScattered(group) && !this.#groups.isBent(group)) continue;
      const verified = this.#groups.verify(group, mask, { instruction: index, isReady });
      this.#verified.set(group, verified);
      const ok = verified.run?.ok ?? verified.ok;
      if (ok.kind !== "const") checks.push(ok);
      if (ok.kind !== "const" || ok.value === 1) groups.add(group);
    }
    if (checks.length === 0) {
      write();
      return;
    }
    // Both versions release it.
    for (const group of this.#verified.keys()) this.#verified.get(group)!.left *= 2;
    const before = new Map(this.#verified);
    const { writer } = this.#chunk;
    writer.value(checks.reduce(both));
    writer.expect(true);
    writer.if(
      () => this.#writeAssuming(groups, write, groups),
      () => {
        this.#verified.clear();
        for (const [group, verified] of before) this.#verified.set(group, verified);
        write();
      },
    );
  }

  /**
   * Writes a block for all lanes of a chunk, in two versions where several of its accesses may be runs. Where all are
   * tested beforehand, there are no branches between them, over which V8 would keep what has been loaded in its stack.
   */
  inRuns(prefix: RestartablePrefix, write: () => void): void {
    const groups = new Set<AccessGroup>();
    for (const index of prefix.accesses) {
      const { group } = this.#members.get(index)!;
      if (!this.#verified.has(group) && this.#groups.isBent(group) && prefix.isReady(group.address.base, index)) {
        groups.add(group);
      }
    }
    if (groups.size < fewestRuns) write();
    else this.forSome(prefix, null, write);
  }

  /**
   * Writes code for successive chunks of a row, whose accesses have been checked beforehand. `start`, given to `write`,
   * computes the byte offsets of linear accesses at the start of a row; `advance` moves them on to the next chunk.
   */
  writeRow(accesses: readonly number[], write: (start: () => void, advance: () => void) => void): void {
    const { writer, lanes } = this.#chunk;
    const steps = new AddressSteps(writer);
    const start = (): void => {
      this.#chunk.begin();
      for (const index of accesses) {
        const { group } = this.#members.get(index)!;
        if (this.#verified.has(group)) continue;
        const known = this.#groups.verify(group, null);
        this.#verified.set(group, { ...known, left: Number.POSITIVE_INFINITY });
        const { offsets, locals } = known;
        steps.add(offsets, wasm.i32(offsets.kind === "run" ? offsets.stride * lanes : 0), locals);
      }
    };
    this.#writeAssuming(allGroups, () => write(start, () => steps.advance()));
    this.#verified.clear();
    steps.release();
  }

  /**
   * The checks of a loop of one block that can be hoisted before it, and the number of rounds for which they hold; null
   * if there are none.
   */
  hoistChecks(start: number, end: number, active: Mask): HoistedLoopChecks | null {
    const groups = new Map<AccessGroup, { readonly index: number; readonly target: ExpectedObject }>();
    for (let index = start; index < end; index++) {
      const group = this.#members.get(index)?.group;
      const target =
        group === undefined || this.#groups.isPerLane(group.access) ? null : this.#groups.targetsOf(group)[0];
      if (target != null && !groups.has(group!)) groups.set(group!, { index, target });
    }
    return hoistLoopChecks(this.#chunk, start, end, active, groups);
  }

  /**
   * Writes rounds of a loop without the hoisted checks. `start`, given to `write`, computes the byte offsets for the
   * first round; `advance` moves them on to the next.
   */
  writeCheckFree({ groups }: HoistedLoopChecks, write: (start: () => void, advance: () => void) => void): void {
    const steps = new AddressSteps(this.#chunk.writer);
    const start = (): void => {
      for (const [group, { target, offsets, step }] of groups) {
        if (offsets.kind === "each") continue;
        const kept = this.#groups.keep({ ok: wasm.i32(1), offsets, fallback: null }, target, Number.POSITIVE_INFINITY);
        this.#verified.set(group, {
          ...kept,
          inactiveMayAccess: true,
          mayAdjoin: false,
          pattern: null,
          run: null,
          fallback: null,
        });
        steps.add(kept.offsets, step, kept.locals);
      }
    };
    this.#writeAssuming(groups, () => write(start, () => steps.advance()));
    this.#verified.clear();
    steps.release();
  }

  /** Writes a version of code in which the checks of some groups have passed. `runs`: also those of runs. */
  #writeAssuming(groups: GroupSet, write: () => void, runs: GroupSet = noGroups): void {
    const [outer, outerRuns] = [this.#assumed, this.#assumedRuns];
    this.#assumed = groups;
    this.#assumedRuns = runs;
    write();
    this.#assumed = outer;
    this.#assumedRuns = outerRuns;
  }

  /**
   * Looks up the byte offsets of the lanes of a mask, which are left in the context; ends the launch if an address is
   * bad.
   */
  lookUp(index: number, access: Access, address: Expr, mask: Mask): void {
    this.#lookup.lookUp(index, access, address, mask);
  }

  /** The lookup of one element of an access to a surface. */
  ofElement(element: number): OffsetFinder {
    return {
      lookUp: (index, _access, address, mask) => this.#lookup.lookUpElement(index, element, address, mask),
      loadFirstOffset: (mask, into) => this.loadFirstOffset(mask, into),
      loadOffsets: (into) => this.loadOffsets(into),
    };
  }

  /** Loads the looked-up offset of the first lane of a mask into a local. */
  loadFirstOffset(mask: Mask, into: number): void {
    this.#lookup.loadFirstOffset(mask, into);
  }

  /** Loads all looked-up offsets, into a local for each quad. */
  loadOffsets(into: readonly number[]): void {
    this.#lookup.loadOffsets(into);
  }
}
