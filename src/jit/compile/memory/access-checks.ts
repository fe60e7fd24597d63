import type { Access } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { type AccessGroup, accessGroups, type GroupMember } from "../analysis/access/access-groups.ts";
import type { RestartablePrefix } from "../analysis/access/restartable-prefix.ts";
import { type WideLoadPart, wideLoadsOf } from "../analysis/access/wide-loads.ts";
import { LaneArithmetic } from "../analysis/values/lane-arithmetic.ts";
import { ValueRanges } from "../analysis/values/value-ranges.ts";
import type { Chunk } from "../emit/chunk.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import type { Mask } from "../lanes/mask.ts";
import { both, i64, splitImmediate } from "../lanes/scalar.ts";
import type { Value } from "../lanes/value.ts";
import type { FunctionContext } from "../module/function-context.ts";
import { AddressLookup } from "./address-lookup.ts";
import { AddressSteps } from "./address-steps.ts";
import { activeWithin } from "./bounds-functions.ts";
import {
  type CheckResult,
  type ByteOffsets,
  BoundsCheck,
  type FallbackCheck,
  type ExpectedObject,
  laneByLane,
} from "./bounds-check.ts";
import type { CheckedAccess, OffsetFinder } from "./checked-access.ts";
import type { ExpectedObjects } from "./expected-objects.ts";
import { GranuleCheck } from "./granule-check.ts";
import { hoistLoopChecks, type HoistedLoopChecks } from "./loop-bounds-checks.ts";

/** A group of accesses, and the object that they are expected to find. */
export interface Expected {
  readonly group: AccessGroup;
  readonly target: ExpectedObject;
}

/** The fewest accesses for which a block is worth a second version without checks. */
const minForVersions = 4;

type GroupSet = Pick<ReadonlySet<AccessGroup>, "has">;

const noGroups: GroupSet = { has: (): boolean => false };

const allGroups: GroupSet = { has: (): boolean => true };

/** The result of a group's check, in locals. */
interface VerifiedGroup extends Omit<CheckedAccess, "release" | "wideLoad"> {
  readonly locals: readonly number[];
  /** Accesses of the group that are still to be written. */
  left: number;
}

/**
 * Finds the bytes of memory that instructions access: by a bounds check made once for a group of accesses, or by
 * looking up each lane's address.
 */
export class AccessChecks {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  /** The objects that accesses are expected to find. */
  readonly objects: ExpectedObjects;
  readonly #members: ReadonlyMap<number, GroupMember>;
  readonly #wideLoads: ReadonlyMap<number, WideLoadPart>;
  readonly #targets = new Map<AccessGroup, readonly ExpectedObject[]>();
  readonly #verified = new Map<AccessGroup, VerifiedGroup>();
  readonly #records = new Map<AccessGroup, number>();
  /** Groups whose checks have passed in the version being written; set by `#writeAssuming` alone. */
  #assumed: GroupSet = noGroups;
  readonly #lookup: AddressLookup;
  readonly #granules: GranuleCheck;
  readonly #arithmetic: LaneArithmetic;
  readonly #ranges: ValueRanges;

  constructor(chunk: Chunk, context: FunctionContext, objects: ExpectedObjects) {
    this.#chunk = chunk;
    this.#context = context;
    this.objects = objects;
    this.#lookup = new AddressLookup(chunk, context, (index) => this.#recordOf(this.#members.get(index)!.group));
    this.#granules = new GranuleCheck(chunk, context);
    this.#arithmetic = new LaneArithmetic(chunk.analysis);
    this.#ranges = new ValueRanges(chunk.analysis);
    this.#members = accessGroups(chunk.analysis.code, objects.variableNear);
    this.#wideLoads = wideLoadsOf(chunk.analysis.code, this.#members);
    for (const { group } of this.#members.values()) if (!this.#targets.has(group)) this.#expect(group);
  }

  /** Notes the expected objects of a group, and declares what its checks need. */
  #expect(group: AccessGroup): void {
    const targets = this.objects.of(group);
    this.#targets.set(group, targets);
    const { base } = group.address;
    targets.forEach((target, i) => {
      const others = i === 0 ? targets.slice(1) : [];
      new BoundsCheck(this.#chunk, group.range, target, others).declareNeeds(base);
    });
  }

  /** The group of an access and its expected object; null if the object is unknown, or differs from lane to lane. */
  expected(index: number): Expected | null {
    const { group } = this.#members.get(index)!;
    const target = this.#targets.get(group)![0];
    return target === undefined || this.#isPerLane(group.access) ? null : { group, target };
  }

  /** Writes code that relies on no check made before it, and on whose checks nothing after it relies. */
  apart(write: () => void): void {
    this.#verified.clear();
    write();
    this.#verified.clear();
  }

  /** Checks an access. `active`: the lanes of the block; `mask`: those that access memory. */
  check(index: number, active: Mask, mask: Mask): CheckedAccess {
    const { group, at } = this.#members.get(index)!;
    let known = this.#verified.get(group);
    if (known === undefined) {
      known = this.#verify(group, group.count > 1 ? active : mask);
      this.#verified.set(group, known);
    }
    const { locals, left: _, ...found } = known;
    const isEach = found.offsets.kind === "each" && !found.mayAdjoin && !this.#isPerLane(group.access);
    const wideLoad = isEach ? (this.#wideLoads.get(index) ?? null) : null;
    const ok = this.#assumed.has(group) ? wasm.i32(1) : known.ok;
    const release = (): void => {
      known.left--;
      if (known.left === 0) for (const local of locals) this.#chunk.writer.release(local);
    };
    return { ...found, ok, immediate: found.immediate + at, wideLoad, release };
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
      if (group === undefined || !group.isEarly || this.#isScattered(group)) continue;
      groups.add(group);
      count++;
    }
    if (count < minForVersions) {
      write();
      return;
    }
    const checks: Wasm[] = [];
    for (const group of groups) {
      const verified = this.#verify(group, active);
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
      if (this.#verified.has(group) || this.#isScattered(group) || !isReady(group.address.base, index)) continue;
      const known = this.#verify(group, null);
      checks.push(known.ok);
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
        const known = this.#verify(group, null);
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
      const target = group === undefined || this.#isPerLane(group.access) ? null : this.#targets.get(group)![0];
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
        const kept = this.#keep({ ok: wasm.i32(1), offsets, fallback: null }, target, Number.POSITIVE_INFINITY);
        this.#verified.set(group, { ...kept, inactiveMayAccess: true, mayAdjoin: false, fallback: null });
        steps.add(kept.offsets, step, kept.locals);
      }
    };
    this.#writeAssuming(groups, () => write(start, () => steps.advance()));
    this.#verified.clear();
    steps.release();
  }

  /** Writes a version of code in which the checks of some groups have passed. */
  #writeAssuming(groups: GroupSet, write: () => void): void {
    const outer = this.#assumed;
    this.#assumed = groups;
    write();
    this.#assumed = outer;
  }

  /** Whether each lane accesses bytes of its own, so that a check costs as much as the access. */
  #isScattered({ address, access }: AccessGroup): boolean {
    return !this.#isRegular(address.base) || this.#isPerLane(access);
  }

  /** Whether the addresses of all lanes follow from the first lane's. */
  #isRegular(base: Expr): boolean {
    const shape = this.#chunk.analysis.shape(base);
    return shape.kind !== "vector" && (shape.kind !== "indexed" || shape.stride !== null);
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

  #recordOf(group: AccessGroup): number {
    let record = this.#records.get(group);
    if (record === undefined) this.#records.set(group, (record = this.#context.unit.records++));
    return record;
  }

  #verify(group: AccessGroup, mask: Mask): VerifiedGroup {
    const { writer } = this.#chunk;
    const [known, ...others] = this.#targets.get(group)!;
    const recorded = known === undefined ? this.objects.recorded(this.#recordOf(group)) : null;
    const isGranular = recorded !== null && this.#granules.suits(group);
    const target = known ?? { object: this.#granules.placed(recorded!.object, isGranular), baseDistance: null };
    const base = this.#chunk.value(group.address.base);
    const found = new BoundsCheck(this.#chunk, group.range, target, others).of(base, mask);
    const own = this.#isPerLane(group.access) ? { ...found, offsets: laneByLane(found.offsets) } : found;
    const checked = this.#isBounded(group, target) ? { ...own, ok: wasm.i32(1) } : own;
    const kept = this.#keep(checked, target, group.count);
    // Where each lane has an address of its own, all objects are one check.
    if (base.kind !== "vector") this.#checkOthers(group, others, kept.ok, base, mask);
    const locals = [...kept.locals, ...(recorded?.locals ?? [])];
    const inactiveMayAccess = checked.fallback?.inactiveMayAccess ?? true;
    const mayAdjoin = !this.#isPerLane(group.access) && this.#arithmetic.is(group.address.base);
    const fallback =
      mask === null || checked.fallback === null ? null : this.#fallbackCondition(checked.fallback, mask);
    const verified = { ...kept, locals, inactiveMayAccess, mayAdjoin };
    if (isGranular && base.kind === "vector") {
      const holds = this.#granules.write(group.range, { ok: kept.ok, base, last: target.object }, mask);
      const fallback = wasm.local("i32", holds);
      return { ...verified, locals: [...locals, holds], inactiveMayAccess: false, fallback };
    }
    if (group.count === 1 || fallback === null || kept.ok.kind !== "local") return { ...verified, fallback };
    const holdsForActive = writer.local("i32");
    writer.value(wasm.op("i32.eqz", kept.ok));
    writer.expect(false);
    writer.if(() => writer.assign([{ local: holdsForActive, value: fallback }]));
    return { ...verified, locals: [...locals, holdsForActive], fallback: wasm.local("i32", holdsForActive) };
  }

  /** If a check has failed, makes it for other objects that a group may find: they have the same offsets. */
  #checkOthers(group: AccessGroup, others: readonly ExpectedObject[], ok: Wasm, base: Value, mask: Mask): void {
    const { writer } = this.#chunk;
    if (ok.kind !== "local") return;
    for (const target of others) {
      writer.value(wasm.op("i32.eqz", ok));
      writer.expect(false);
      writer.if(() => {
        const value = new BoundsCheck(this.#chunk, group.range, target).of(base, mask).ok;
        writer.assign([{ local: ok.local, value }]);
      });
    }
  }

  /** Whether no address that the lanes can have misses the expected object, so that no check is needed. */
  #isBounded({ address, range }: AccessGroup, { object }: ExpectedObject): boolean {
    const { from, bytes } = object;
    if (from.kind !== "const" || bytes.kind !== "const" || this.#isRegular(address.base)) return false;
    const { min, max, align } = this.#ranges.of(address.base);
    const [start, end] = [Number(from.value), Number(from.value) + Number(bytes.value)];
    const isAligned = align % range.align === 0 && range.offset % range.align === 0;
    return isAligned && min + range.offset >= start && max + range.offset + range.size <= end;
  }

  /** Whether the same address is another byte of memory in each lane, as in the lanes' stacks. */
  #isPerLane({ space }: Access): boolean {
    return space === "local" || (space === "generic" && this.#context.hasStacks);
  }

  /** Moves the result of a check into locals. */
  #keep(
    { ok, offsets }: CheckResult,
    { object }: ExpectedObject,
    count: number,
  ): Omit<VerifiedGroup, "fallback" | "inactiveMayAccess" | "mayAdjoin"> {
    const { writer } = this.#chunk;
    const assignments: { readonly local: number; readonly value: Wasm }[] = [];
    const kept = (value: Wasm): Wasm => {
      if (value.kind === "const") return value;
      const local = writer.local(value.ty);
      assignments.push({ local, value });
      return wasm.local(value.ty, local);
    };
    const keptOk = kept(ok);
    let immediate = 0;
    let keptOffsets: ByteOffsets;
    if (offsets.kind === "each") keptOffsets = { kind: "each", quads: offsets.quads.map(kept) };
    else {
      // With a constant `delta` the constant part of the sum is not split off: without it the offset of an inactive
      // lane may be below 0, and adding an immediate does not wrap.
      const split = object.delta.kind === "const" ? { at: offsets.at, immediate: 0 } : splitImmediate(offsets.at);
      ({ immediate } = split);
      keptOffsets = { ...offsets, at: kept(split.at) };
    }
    writer.assign(assignments);
    return { ok: keptOk, offsets: keptOffsets, immediate, locals: assignments.map((a) => a.local), left: count };
  }

  #fallbackCondition({ condition, distance, stride, room }: FallbackCheck, mask: readonly Wasm[]): Wasm {
    return both(condition, wasm.call(activeWithin, laneBits(mask), distance, i64(stride), room));
  }
}
