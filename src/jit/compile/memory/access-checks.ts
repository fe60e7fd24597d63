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
import { both, i64, splitPlace } from "../lanes/scalar.ts";
import type { FunctionContext } from "../module/function-context.ts";
import { AddressLookup } from "./address-lookup.ts";
import { AddressSteps } from "./address-steps.ts";
import {
  activeWithin,
  type CheckResult,
  type LaneBytes,
  BoundsCheck,
  type Rescue,
  type ExpectedObject,
} from "./bounds-check.ts";
import type { CheckedAccess } from "./checked-access.ts";
import type { ExpectedObjects } from "./expected-objects.ts";
import { hoistLoopChecks, type HoistedLoopChecks } from "./loop-bounds-checks.ts";

/** What a group of accesses will probably find. */
export interface Expected {
  readonly group: AccessGroup;
  readonly target: ExpectedObject;
}

/** Accesses of a block that make a version without checks worth its size. */
const minForVersions = 4;

const noGroups = { has: (): boolean => false };

const allGroups = { has: (): boolean => true };

/** What has been found out about a group: in locals. */
interface VerifiedGroup extends Omit<CheckedAccess, "release" | "strip"> {
  readonly locals: readonly number[];
  left: number;
}

/** Finds where instructions access memory: by a check that is made once for a group, or lane by lane. */
export class AccessChecks {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  /** What accesses will probably find. */
  readonly objects: ExpectedObjects;
  readonly #members: ReadonlyMap<number, GroupMember>;
  readonly #strips: ReadonlyMap<number, WideLoadPart>;
  readonly #targets = new Map<AccessGroup, ExpectedObject | null>();
  readonly #verified = new Map<AccessGroup, VerifiedGroup>();
  readonly #records = new Map<AccessGroup, number>();
  /** Groups whose checks the version being written may take for passed; switched by `#writeAssuming` alone. */
  #assumed: Pick<ReadonlySet<AccessGroup>, "has"> = noGroups;
  readonly #search: AddressLookup;
  readonly #computed: LaneArithmetic;
  readonly #ranges: ValueRanges;

  constructor(chunk: Chunk, context: FunctionContext, objects: ExpectedObjects) {
    this.#chunk = chunk;
    this.#context = context;
    this.objects = objects;
    this.#search = new AddressLookup(chunk, context, (index) => this.#recordOf(this.#members.get(index)!.group));
    this.#computed = new LaneArithmetic(chunk.analysis);
    this.#ranges = new ValueRanges(chunk.analysis);
    this.#members = accessGroups(chunk.analysis.code);
    this.#strips = wideLoadsOf(chunk.analysis.code, this.#members);
    for (const { group } of this.#members.values()) if (!this.#targets.has(group)) this.#expect(group);
  }

  /** Notes what a group of accesses will probably find, and declares what its check needs. */
  #expect(group: AccessGroup): void {
    const target = this.objects.of(group);
    this.#targets.set(group, target);
    if (target !== null) new BoundsCheck(this.#chunk, group.stretch, target).declareNeeds(group.address.base);
  }

  /** What an instruction accesses together with others, if that is known beforehand. */
  expected(index: number): Expected | null {
    const { group } = this.#members.get(index)!;
    const target = this.#targets.get(group)!;
    return target === null || this.#isOwn(group.access) ? null : { group, target };
  }

  /** What has been checked is to be checked again: the code is written once more, elsewhere. */
  forget(): void {
    this.#verified.clear();
  }

  /** `active`: the lanes of the block; `mask`: those that access memory. */
  locate(index: number, active: Mask, mask: Mask): CheckedAccess {
    const { group, at } = this.#members.get(index)!;
    let known = this.#verified.get(group);
    if (known === undefined) {
      known = this.#verify(group, group.count > 1 ? active : mask);
      this.#verified.set(group, known);
    }
    const { locals, left: _, ...found } = known;
    const isEach = found.places.kind === "each" && !found.mayAdjoin && !this.#isOwn(group.access);
    const strip = isEach ? (this.#strips.get(index) ?? null) : null;
    const ok = this.#assumed.has(group) ? wasm.i32(1) : known.ok;
    const release = (): void => {
      known.left--;
      if (known.left === 0) for (const local of locals) this.#chunk.writer.release(local);
    };
    return { ...found, ok, offset: found.offset + at, strip, release };
  }

  /**
   * Checks what can be checked where a block begins, for one version of the block that relies on all of it and one that does
   * not; `write` writes the instructions. A block that would gain too little is written once.
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
      // Both versions use it.
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

  /** Checks at once what a block accesses, before the first of it. `otherwise`: what is done where anything is not as expected. */
  checkAhead({ accesses, isReady }: RestartablePrefix, otherwise: () => void): void {
    const checks: Wasm[] = [];
    for (const index of accesses) {
      const { group } = this.#members.get(index)!;
      if (this.#verified.has(group) || this.#isScattered(group) || !isReady(group.address.base, index)) continue;
      const known = this.#verify(group, null);
      checks.push(known.ok);
      this.#verified.set(group, { ...known, ok: wasm.i32(1), rescue: null });
    }
    const all = checks.reduce(both, wasm.i32(1));
    if (all.kind === "const" && all.value === 1) return;
    const { writer } = this.#chunk;
    writer.value(wasm.op("i32.eqz", all));
    writer.expect(false);
    writer.if(otherwise);
  }

  /**
   * Writes code for chunks behind one another in a row. `begin` is told what finds the places of accesses whose addresses grow along the row,
   * where a row begins; `write` what moves them on.
   */
  alongRow(accesses: readonly number[], write: (find: () => void, moveOn: () => void) => void): void {
    const { writer, lanes } = this.#chunk;
    const walks = new AddressSteps(writer);
    const find = (): void => {
      this.#chunk.begin();
      for (const index of accesses) {
        const { group } = this.#members.get(index)!;
        if (this.#verified.has(group)) continue;
        const known = this.#verify(group, null);
        this.#verified.set(group, { ...known, left: Number.POSITIVE_INFINITY });
        const { places, locals } = known;
        walks.add(places, wasm.i32(places.kind === "run" ? places.stride * lanes : 0), locals);
      }
    };
    this.#writeAssuming(allGroups, () => write(find, () => walks.moveOn()));
    this.forget();
    walks.release();
  }

  /** For how many rounds of a loop that is one block its accesses are good; `assuming` writes code that relies on it. */
  roundsAhead(start: number, end: number, active: Mask): HoistedLoopChecks | null {
    const groups = new Map<AccessGroup, { readonly index: number; readonly target: ExpectedObject }>();
    for (let index = start; index < end; index++) {
      const group = this.#members.get(index)?.group;
      const target = group === undefined || this.#isOwn(group.access) ? null : this.#targets.get(group);
      if (target != null && !groups.has(group!)) groups.set(group!, { index, target });
    }
    return hoistLoopChecks(this.#chunk, start, end, active, groups);
  }

  /**
   * Writes rounds of a loop in which some groups are good. `write` is told what finds their places where the first one begins, and what moves
   * them on.
   */
  assuming({ groups }: HoistedLoopChecks, write: (find: () => void, moveOn: () => void) => void): void {
    const walks = new AddressSteps(this.#chunk.writer);
    const find = (): void => {
      for (const [group, { target, places, step }] of groups) {
        if (places.kind === "each") continue;
        const kept = this.#keep({ ok: wasm.i32(1), places, rescue: null }, target, Number.POSITIVE_INFINITY);
        this.#verified.set(group, { ...kept, isNear: true, mayAdjoin: false, rescue: null });
        walks.add(kept.places, step, kept.locals);
      }
    };
    this.#writeAssuming(groups, () => write(find, () => walks.moveOn()));
    this.forget();
    walks.release();
  }

  /** Writes a version of code in which the checks of some groups have passed. */
  #writeAssuming(groups: Pick<ReadonlySet<AccessGroup>, "has">, write: () => void): void {
    const outer = this.#assumed;
    this.#assumed = groups;
    write();
    this.#assumed = outer;
  }

  /** Whether each lane accesses another place, so that the check takes as long as the access. */
  #isScattered({ address, access }: AccessGroup): boolean {
    return !this.#isRegular(address.base) || this.#isOwn(access);
  }

  /** Whether lanes have addresses that follow from the first one's. */
  #isRegular(base: Expr): boolean {
    const shape = this.#chunk.analysis.shape(base);
    return shape.kind !== "vector" && (shape.kind !== "indexed" || shape.stride !== null);
  }

  /** Puts the places of the lanes of a mask into the context, or ends the launch. */
  find(index: number, access: Access, address: Expr, mask: Mask): void {
    this.#search.find(index, access, address, mask);
  }

  /** Of the places that have been found, into a local: that of the first lane of the mask. */
  loadPlace(mask: Mask, into: number): void {
    this.#search.loadPlace(mask, into);
  }

  /** All of them, into a local for each four lanes. */
  loadPlaces(into: readonly number[]): void {
    this.#search.loadPlaces(into);
  }

  #recordOf(group: AccessGroup): number {
    let record = this.#records.get(group);
    if (record === undefined) this.#records.set(group, (record = this.#context.unit.records++));
    return record;
  }

  #verify(group: AccessGroup, mask: Mask): VerifiedGroup {
    const { writer } = this.#chunk;
    const known = this.#targets.get(group)!;
    const recorded = known === null ? this.objects.recorded(this.#recordOf(group)) : null;
    const target = known ?? { reach: recorded!.reach, ahead: null };
    const found = new BoundsCheck(this.#chunk, group.stretch, target).of(this.#chunk.value(group.address.base), mask);
    const own = this.#isOwn(group.access) ? { ...found, places: laneByLane(found.places) } : found;
    const checked = this.#isBounded(group, target) ? { ...own, ok: wasm.i32(1) } : own;
    const kept = this.#keep(checked, target, group.count);
    const locals = [...kept.locals, ...(recorded?.locals ?? [])];
    const isNear = checked.rescue?.isNear ?? true;
    const mayAdjoin = !this.#isOwn(group.access) && this.#computed.is(group.address.base);
    const rescue = mask === null || checked.rescue === null ? null : this.#rescued(checked.rescue, mask);
    const verified = { ...kept, locals, isNear, mayAdjoin };
    if (group.count === 1 || rescue === null || kept.ok.kind !== "local") return { ...verified, rescue };
    const rescued = writer.local("i32");
    writer.value(wasm.op("i32.eqz", kept.ok));
    writer.expect(false);
    writer.if(() => writer.assign([{ local: rescued, value: rescue }]));
    return { ...verified, locals: [...locals, rescued], rescue: wasm.local("i32", rescued) };
  }

  /** Whether lanes that have an address of their own cannot miss what they are expected to find: nothing need be checked. */
  #isBounded({ address, stretch }: AccessGroup, { reach }: ExpectedObject): boolean {
    const { from, bytes } = reach;
    if (from.kind !== "const" || bytes.kind !== "const" || this.#isRegular(address.base)) return false;
    const { least, most, align } = this.#ranges.of(address.base);
    const [start, end] = [Number(from.value), Number(from.value) + Number(bytes.value)];
    const isAligned = align % stretch.align === 0 && stretch.offset % stretch.align === 0;
    return isAligned && least + stretch.offset >= start && most + stretch.offset + stretch.size <= end;
  }

  /** Whether one address may be another byte of memory for each lane. */
  #isOwn({ space }: Access): boolean {
    return space === "local" || (space === "generic" && this.#context.hasStacks);
  }

  /** What was checked, in locals. */
  #keep(
    { ok, places }: CheckResult,
    { reach }: ExpectedObject,
    count: number,
  ): Omit<VerifiedGroup, "rescue" | "isNear" | "mayAdjoin"> {
    const { writer } = this.#chunk;
    const assignments: { readonly local: number; readonly value: Wasm }[] = [];
    const kept = (value: Wasm): Wasm => {
      if (value.kind === "const") return value;
      const local = writer.local(value.ty);
      assignments.push({ local, value });
      return wasm.local(value.ty, local);
    };
    const good = kept(ok);
    let offset = 0;
    let there: LaneBytes;
    if (places.kind === "each") there = { kind: "each", quads: places.quads.map(kept) };
    else {
      // Below a place that is known an offset must not be: lanes that are not active may look at what is before it.
      const split = reach.delta.kind === "const" ? { at: places.at, offset: 0 } : splitPlace(places.at);
      ({ offset } = split);
      there = { ...places, at: kept(split.at) };
    }
    writer.assign(assignments);
    return { ok: good, places: there, offset, locals: assignments.map((a) => a.local), left: count };
  }

  #rescued({ condition, distance, stride, room }: Rescue, mask: readonly Wasm[]): Wasm {
    return both(condition, wasm.call(activeWithin, laneBits(mask), distance, i64(stride), room));
  }
}

/** One place as that of each lane. */
const laneByLane = (places: LaneBytes): LaneBytes =>
  places.kind === "one" ? { kind: "run", at: places.at, stride: 0 } : places;
