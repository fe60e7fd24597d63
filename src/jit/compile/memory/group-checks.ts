import type { Access } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import {
  type AccessGroup,
  type ByteRange,
  bytesOf,
  type GroupMember,
  groupsOfElements,
} from "../analysis/access/access-groups.ts";
import { LaneForms } from "../analysis/access/lane-forms.ts";
import { type LanePattern, LanePatterns } from "../analysis/access/lane-patterns.ts";
import { type AccessPlace, StraightAddresses } from "../analysis/access/straight-addresses.ts";
import { LaneArithmetic } from "../analysis/values/lane-arithmetic.ts";
import { ValueRanges } from "../analysis/values/value-ranges.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Mask } from "../lanes/mask.ts";
import { both } from "../lanes/scalar.ts";
import { type Value, vectorOf } from "../lanes/value.ts";
import type { FunctionContext } from "../module/function-context.ts";
import { bentRun, straightRun } from "./bent-runs.ts";
import {
  BoundsCheck,
  type ByteOffsets,
  type CheckResult,
  type ExpectedObject,
  type FallbackCheck,
  laneByLane,
  margin,
} from "./bounds-check.ts";
import { maskWithin } from "./bounds-functions.ts";
import { unlessRun } from "./checked-access.ts";
import type { ExpectedObjects } from "./expected-objects.ts";
import { GranuleCheck } from "./granule-check.ts";
import { type KeptCheck, keepCheck, type VerifiedGroup } from "./kept-check.ts";
import { PatternPlaces } from "./pattern-places.ts";
import { runsInRows } from "./row-offsets.ts";

/** Makes the bounds checks of groups of accesses, each against the objects that the group is expected to find. */
export class GroupChecks {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  readonly #objects: ExpectedObjects;
  readonly #targets = new Map<AccessGroup, readonly ExpectedObject[]>();
  readonly #records = new Map<AccessGroup, number>();
  readonly #granules: GranuleCheck;
  readonly #arithmetic: LaneArithmetic;
  readonly #ranges: ValueRanges;
  readonly #patterns: LanePatterns;
  readonly #places: PatternPlaces;
  readonly #forms: LaneForms | null;
  readonly #straight: StraightAddresses;
  /** By group, its instructions. */
  readonly #instructions = new Map<AccessGroup, number[]>();
  /** Groups all of whose accesses move single elements, which may be next to each other. */
  readonly #mayRun: ReadonlySet<AccessGroup>;

  constructor(
    chunk: Chunk,
    context: FunctionContext,
    objects: ExpectedObjects,
    members: ReadonlyMap<number, GroupMember>,
  ) {
    this.#chunk = chunk;
    this.#context = context;
    this.#objects = objects;
    this.#granules = new GranuleCheck(chunk, context);
    this.#arithmetic = new LaneArithmetic(chunk.analysis);
    this.#ranges = new ValueRanges(chunk.analysis, context.unit.shape.block);
    const { facts, shape } = context.unit;
    const knownBlock = shape.full && !shape.scalar ? shape.block : null;
    this.#patterns = new LanePatterns(chunk.analysis.code, knownBlock, facts.bindings, 4 * shape.quads);
    this.#places = new PatternPlaces(chunk, context, this.#patterns);
    const { analysis, invariants } = chunk;
    this.#forms = invariants === null || shape.scalar ? null : new LaneForms(analysis, invariants, shape);
    this.#straight = new StraightAddresses(analysis, invariants);
    for (const [index, { group }] of members) {
      const known = this.#instructions.get(group);
      if (known === undefined) this.#instructions.set(group, [index]);
      else known.push(index);
      if (!this.#targets.has(group)) this.#expect(group);
    }
    this.#mayRun = groupsOfElements(chunk.analysis.code.instructions, members);
  }

  /** The objects that a group may find, the most likely first. */
  targetsOf(group: AccessGroup): readonly ExpectedObject[] {
    return this.#targets.get(group)!;
  }

  /** Notes the expected objects of a group, and declares what its checks need. */
  #expect(group: AccessGroup): void {
    const targets = this.#objects.of(group);
    this.#targets.set(group, targets);
    const { base } = group.address;
    targets.forEach((target, i) => {
      this.#check(group, target, targets.slice(i + 1)).declareNeeds(base);
    });
  }

  /** Whether each lane accesses bytes of its own, so that a check costs as much as the access. */
  isScattered({ address, access }: AccessGroup): boolean {
    return !this.#isRegular(address.base) || this.isPerLane(access);
  }

  /** The bytes of a group that a check is about: nothing is to be tested of addresses that are aligned in any case. */
  #rangeOf({ address, range }: AccessGroup): ByteRange {
    const { align } = this.#ranges.of(address.base);
    return align % range.align === 0 && range.offset % range.align === 0 ? { ...range, align: 1 } : range;
  }

  #check(group: AccessGroup, target: ExpectedObject, others: readonly ExpectedObject[] = []): BoundsCheck {
    return new BoundsCheck(this.#chunk, this.#rangeOf(group), target, others);
  }

  /** Whether the addresses of all lanes follow from the first lane's. */
  #isRegular(base: Expr): boolean {
    const shape = this.#chunk.analysis.shape(base);
    return shape.kind === "uniform" || shape.kind === "affine" || (shape.kind === "indexed" && shape.stride !== null);
  }

  recordOf(group: AccessGroup): number {
    let record = this.#records.get(group);
    if (record === undefined) this.#records.set(group, (record = this.#context.unit.records++));
    return record;
  }

  /** The object that a group has found last. */
  #recorded(group: AccessGroup) {
    const isInStacks = group.access.space === "local" && this.#context.hasOwnStacks;
    const record = this.recordOf(group);
    return isInStacks ? this.#objects.recordedInStacks(record) : this.#objects.recorded(record);
  }

  /**
   * Checks a group for the lanes of a mask. `place`: the access for which it is checked, if its addresses may be bent.
   */
  verify(group: AccessGroup, mask: Mask, place: AccessPlace | null = null): VerifiedGroup {
    const [known, ...others] = this.#targets.get(group)!;
    const recorded = known === undefined ? this.#recorded(group) : null;
    const isGranular = recorded !== null && this.#granules.suits(group);
    const isGlobal = isGranular && group.access.space === "global";
    const last = recorded === null ? null : isGlobal ? this.#granules.placed(recorded.object) : recorded.object;
    const target = known ?? { object: last!, baseDistance: null };
    const address = this.#chunk.value(group.address.base);
    const base = address.kind === "rows" ? vectorOf(address, this.#chunk.quads) : address;
    const pattern = this.#patternOf(group) ?? this.#globalRunsOf(group);
    const places = isGranular ? null : this.#knownPlaces(group, target, pattern);
    const isRegular = isGranular || pattern !== null || places !== null;
    const run = isRegular ? null : this.#runOf(group, target, base, mask, place);
    const locals = [...(recorded?.locals ?? []), ...(run?.locals ?? [])];
    const write = (): VerifiedGroup =>
      this.#verifyEach(group, { targets: [target, ...others], isGranular, locals, pattern, places }, base, mask);
    if (run === null) return write();
    let found: VerifiedGroup | null = null;
    const each = this.#chunk.writer.cut(() => {
      found = write();
    });
    const isLater = place !== null && group.count === 1;
    if (!isLater) unlessRun(this.#chunk.writer, run.ok, each);
    return { ...found!, run: { ...run, each: isLater ? each : null } };
  }

  /** Whether the addresses of a group have been clamped, or go around, but may follow each other. */
  isBent(group: AccessGroup): boolean {
    const { access, address } = group;
    return (
      this.#mayRun.has(group) &&
      !this.isPerLane(access) &&
      this.#arithmetic.isBent(address.base) &&
      this.#patternOf(group) === null &&
      this.#targets.get(group)!.length > 0
    );
  }

  /** Tests whether addresses that have been clamped, or go around, follow each other, and are good; null for others. */
  #runOf(group: AccessGroup, target: ExpectedObject, base: Value, mask: Mask, place: AccessPlace | null) {
    const { access, address } = group;
    if (!this.#mayRun.has(group) || this.isPerLane(access) || !this.#arithmetic.isBent(address.base)) return null;
    if (this.#chunk.quads === 1) return null;
    const bytes = bytesOf(access);
    const straight = place === null ? null : this.#straight.of(address.base, place, bytes);
    const bent = straight === null ? bentRun(this.#chunk, base, bytes, mask) : straightRun(this.#chunk, straight);
    if (bent === null) return null;
    const { writer } = this.#chunk;
    writer.assign(bent.locals);
    const found = this.#check(group, { ...target, baseDistance: null }).of(bent.value, mask);
    const { fallback } = found;
    const others =
      mask === null || fallback?.inactiveMayAccess !== true ? null : this.#fallbackCondition(fallback, mask);
    const ok = others === null ? found.ok : wasm.if(found.ok, wasm.i32(1), others);
    const kept = this.keep({ ...found, ok: both(bent.holds, ok) }, target, group.count);
    return { ...kept, pattern: null, locals: [...kept.locals, ...bent.locals.map(({ local }) => local)] };
  }

  /** `locals`: what it releases besides its own. */
  #verifyEach(
    group: AccessGroup,
    parts: {
      readonly targets: readonly [ExpectedObject, ...ExpectedObject[]];
      readonly isGranular: boolean;
      readonly locals: readonly number[];
      readonly pattern: LanePattern | null;
      /** Where the lanes access memory, if that is known. */
      readonly places: CheckResult | null;
    },
    base: Value,
    mask: Mask,
  ): VerifiedGroup {
    const { pattern, places } = parts;
    let [target, ...others] = parts.targets;
    const { writer } = this.#chunk;
    if (places !== null) {
      const kept = this.keep(places, target, group.count);
      const plain = { inactiveMayAccess: true, mayAdjoin: false, pattern: null, run: null, fallback: null };
      return { ...kept, locals: [...kept.locals, ...parts.locals], ...plain };
    }
    let found = this.#check(group, target, others).of(base, mask);
    // Where addresses are known, so is that they are not in an object.
    while (isNever(found.ok) && others.length > 0) {
      [target, ...others] = others as [ExpectedObject, ...ExpectedObject[]];
      found = this.#check(group, target, others).of(base, mask);
    }
    const own = this.isPerLane(group.access) ? { ...found, offsets: laneByLane(found.offsets) } : found;
    const checked = this.#isBounded(group, [target, ...others], mask) ? { ...own, ok: wasm.i32(1) } : own;
    const kept = this.keep(checked, target, group.count);
    // Where each lane has an address of its own, all objects are one check.
    if (base.kind !== "vector") this.#checkOthers(group, others, kept.ok, base, mask);
    const locals = [...kept.locals, ...parts.locals];
    const inactiveMayAccess = checked.fallback?.inactiveMayAccess ?? true;
    const { access, address } = group;
    const mayAdjoin = !this.isPerLane(access) && this.#arithmetic.mayAdjoin(address.base, bytesOf(access));
    const fallback =
      mask === null || checked.fallback === null ? null : this.#fallbackCondition(checked.fallback, mask);
    const verified = { ...kept, locals, inactiveMayAccess, mayAdjoin, pattern, run: null };
    if (parts.isGranular && base.kind === "vector") {
      const holds = this.#granules.write(this.#rangeOf(group), { ok: kept.ok, base, last: target.object }, mask);
      if (group.access.space === "generic")
        this.#placeInGlobal(group, target, { offsets: kept.offsets, holds }, base, mask);
      return { ...verified, locals: [...locals, holds], inactiveMayAccess: false, fallback: wasm.local("i32", holds) };
    }
    if (group.count === 1 || fallback === null || kept.ok.kind !== "local") return { ...verified, fallback };
    const holdsForActive = writer.cleared("i32");
    writer.value(wasm.op("i32.eqz", kept.ok));
    writer.expect(false);
    writer.if(() => writer.assign([{ local: holdsForActive, value: fallback }]));
    return { ...verified, locals: [...locals, holdsForActive], fallback: wasm.local("i32", holdsForActive) };
  }

  /** Where all lanes are in allocations, their offsets are those of global memory, and not of the object found last. */
  #placeInGlobal(
    group: AccessGroup,
    { object }: ExpectedObject,
    { offsets, holds }: { readonly offsets: ByteOffsets; readonly holds: number },
    base: Value,
    mask: Mask,
  ): void {
    if (offsets.kind !== "each") throw new Error("lanes that are looked up one by one have offsets of their own");
    const target = { object: this.#granules.placed(object), baseDistance: null };
    const found = laneByLane(this.#check(group, target).of(base, mask).offsets);
    if (found.kind !== "each") throw new Error("vectors of addresses have offsets of their own");
    const { writer } = this.#chunk;
    writer.get(holds);
    writer.if(() => {
      writer.assign(
        offsets.quads.flatMap((to, q) => (to.kind === "local" ? [{ local: to.local, value: found.quads[q]! }] : [])),
      );
    });
  }

  /** If a check has failed, makes it for other objects that a group may find: they have the same offsets. */
  #checkOthers(group: AccessGroup, others: readonly ExpectedObject[], ok: Wasm, base: Value, mask: Mask): void {
    const { writer } = this.#chunk;
    if (ok.kind !== "local") return;
    for (const target of others) {
      writer.value(wasm.op("i32.eqz", ok));
      writer.expect(false);
      writer.if(() => {
        const value = this.#check(group, target).of(base, mask).ok;
        writer.assign([{ local: ok.local, value }]);
      });
    }
  }

  /**
   * Whether no address that the lanes can have misses the expected objects, so that no check is needed. The address of
   * the first lane is in range in any case, since it is computed as if that were active. Those of others that are not
   * active follow from it, and must not be far beyond.
   */
  #isBounded(group: AccessGroup, targets: readonly [ExpectedObject, ...ExpectedObject[]], mask: Mask): boolean {
    const { address, range } = group;
    const [{ object }] = targets;
    const { from, bytes } = object;
    if (from.kind !== "const" || bytes.kind !== "const") return false;
    if (this.#isRegular(address.base)) {
      if (object.lane !== undefined) return false;
      if (mask !== null && this.#spanOf(address.base) + range.size > margin) return false;
    }
    if (range.offset % range.align !== 0) return false;
    if (this.#hasPatterns(group) && this.#places.areWithin(group, targets, this.#instructions.get(group)!)) return true;
    const [start, end] = [Number(from.value), Number(from.value) + Number(bytes.value)];
    const { min, max, align } = this.#ranges.of(address.base);
    if (align % range.align === 0 && min + range.offset >= start && max + range.offset + range.size <= end) return true;
    return isInShared(group) && this.#places.areWithin(group, targets, null);
  }

  /** The offsets of a group that follow from thread numbers, and from what all lanes share; null for others. */
  #knownPlaces(group: AccessGroup, target: ExpectedObject, pattern: LanePattern | null): CheckResult | null {
    if (!this.#hasPatterns(group)) return null;
    const instructions = this.#instructions.get(group)!;
    if (pattern === null) return this.#places.counted(group, instructions, target);
    const offsets = this.#places.of(group, instructions, target, pattern);
    return offsets === null ? null : { ok: wasm.i32(1), offsets, fallback: null };
  }

  /** Whether the addresses of a group may have a pattern: each lane has its own, and they are in shared memory. */
  #hasPatterns(group: AccessGroup): boolean {
    return isInShared(group) && !this.#isRegular(group.address.base);
  }

  #patternOf(group: AccessGroup): LanePattern | null {
    const shape = this.#chunk.analysis.shape(group.address.base);
    if (shape.kind === "indexed" || !this.#hasPatterns(group)) return null;
    return this.#patterns.of(group.address.base, this.#chunk.lanes);
  }

  /** The pattern of words in one object of global memory, where those of each quad follow each other. */
  #globalRunsOf(group: AccessGroup): LanePattern | null {
    const { address, access } = group;
    const shape = this.#chunk.analysis.shape(address.base);
    if (shape.kind !== "indexed" || shape.stride !== null || access.space !== "global") return null;
    if (!this.#mayRun.has(group) || this.#targets.get(group)!.length !== 1) return null;
    return runsInRows(shape, access, this.#chunk.lanes) ?? this.#forms?.runsOf(address.base, bytesOf(access)) ?? null;
  }

  /** Bytes from the address of the first lane to that of the last, where they are regular. */
  #spanOf(base: Expr): number {
    const shape = this.#chunk.analysis.shape(base);
    const between = this.#chunk.lanes - 1;
    if (shape.kind === "affine") return Math.abs(shape.stride) * between;
    return shape.kind === "indexed" && shape.stride !== null ? Math.abs(shape.stride * shape.scale) * between : 0;
  }

  /** Whether the same address is another byte of memory in each lane, as in the lanes' stacks. */
  isPerLane({ space }: Access): boolean {
    return this.#chunk.lanes > 1 && this.#context.hasOwnStacks && (space === "local" || space === "generic");
  }

  /** Moves the result of a check into locals. */
  keep(found: CheckResult, { object }: ExpectedObject, count: number): KeptCheck {
    return keepCheck(this.#chunk.writer, this.#context.context, found, object, count);
  }

  #fallbackCondition({ condition, distance, stride, room }: FallbackCheck, mask: readonly Wasm[]): Wasm {
    return both(condition, maskWithin(mask, distance, stride, room));
  }
}

const isNever = (ok: Wasm): boolean => ok.kind === "const" && ok.value === 0;

const isInShared = ({ address, access: { space } }: AccessGroup): boolean =>
  space === "shared" && address.base.ty === "i32";
