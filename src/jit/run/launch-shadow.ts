import { windows } from "../../ir/index.ts";
import type { LaunchRequest, LaunchShadow, ShadowRange } from "../../machine/launch.ts";
import type { Allocation } from "../../machine/memory/allocation.ts";
import type { Extent } from "../../machine/memory/extent.ts";
import type { Program } from "../../program/program.ts";
import type { PointerRoot } from "../compile/watch/pointer-roots.ts";
import type { HiddenParam, Plane, SharedShadow, ShadowPlan } from "../compile/watch/shadow-plan.ts";
import type { Shadows } from "./shadows.ts";

/** The addresses of shadows: far from all others, and so far from each other that no index leads to another one. */
const shadowAddress = (index: number): bigint => 0x0100_0000_0000_0000n + (BigInt(index) << 36n);

/** What lies in a block's shared memory: what the launch gives the kernel, and then the shadow of that, if any. */
export function sharedExtentsOf(program: Program, sharedBytes: number, shadow: SharedShadow | null): readonly Extent[] {
  const { extents, dynamicStart, dynamicName } = program.shared;
  const given = { name: dynamicName, start: dynamicStart, end: dynamicStart + sharedBytes };
  return [...extents, given, ...(shadow === null ? [] : [shadow.words, shadow.copied, shadow.writer, shadow.reader])];
}

/** Where a variable lies in a block's shared memory, of which there are some bytes; null if none has the name. */
export function sharedExtentIn({ variables }: Program, name: string, sharedBytes: number): Extent | null {
  const found = variables.get(name);
  if (found?.variable.space !== "shared") return null;
  const { variable, address: start } = found;
  return { name, start, end: variable.dynamicShared ? windows.shared.start + sharedBytes : start + variable.size };
}

/** Bytes of the shared memory of a block that has a shadow. */
export const sharedBytesWith = ({ reader }: SharedShadow): number =>
  Math.ceil((reader.end - windows.shared.start) / 256) * 256;

/** A launch with its shadow. */
export interface ShadowedLaunch {
  readonly request: LaunchRequest;
  /** The allocations that it may change; null where that is not known. */
  readonly changed: readonly Allocation[] | null;
  /** Those that its own accesses may reach, and may write, without those of units of the machine; null as above. */
  readonly own: OwnAccesses | null;
}

/** The allocations that code may read and write, or write, itself. */
export interface OwnAccesses {
  readonly accessed: ReadonlySet<Allocation>;
  readonly written: ReadonlySet<Allocation>;
}

/**
 * Gives a launch the memory and the parameters that watched code asks for. Returns a text if it cannot be watched: why.
 * `checksWritten`: whether it must be known what the host has written.
 */
export function withShadow(
  program: Program,
  shadows: Shadows,
  plan: ShadowPlan,
  request: LaunchRequest,
  checksWritten: boolean,
): ShadowedLaunch | string {
  const [gx, gy, gz] = request.grid;
  const [bx, by, bz] = request.block;
  const first = shadows.numbersFor(gx * gy * gz * bx * by * bz);
  if (first === null) return "too many threads";
  const given = new LaunchRanges(program, shadows, plan, request.params);
  const params = new Uint8Array(
    plan.hidden.reduce((end, { offset }) => Math.max(end, offset + 8), request.params.length),
  );
  params.set(request.params);
  const view = new DataView(params.buffer);
  for (const hidden of plan.hidden) {
    const { kind, offset } = hidden;
    if (kind === "alarm") {
      view.setBigUint64(offset, given.addressOfAlarm(offset), true);
      continue;
    }
    if (kind === "firstNumber") {
      view.setUint32(offset, first, true);
      continue;
    }
    const memory = given.memoryOf(hidden.root);
    if (checksWritten && memory?.isUnwritten === true) return "memory that the host has not written";
    const value = given.valueOf(hidden, memory);
    if (value === null) return "too much memory";
    view.setBigUint64(offset, BigInt.asUintN(64, value), true);
  }
  const ownBytes = program.shared.dynamicStart - windows.shared.start;
  const shadow: LaunchShadow = {
    sharedBytes: (plan.shared === null ? ownBytes : sharedBytesWith(plan.shared)) + request.sharedBytes,
    sharedExtents: sharedExtentsOf(program, request.sharedBytes, plan.shared),
    ranges: given.ranges,
  };
  const allocationsOf = (roots: readonly PointerRoot[]): ReadonlySet<Allocation> =>
    new Set(roots.flatMap((root) => (root.kind === "anything" ? [] : (given.allocationOf(root) ?? []))));
  const written = plan.written && allocationsOf(plan.written);
  const mayDisturb = (root: PointerRoot): boolean =>
    root.kind === "anything" || written === null || written.has(given.allocationOf(root)!);
  if (plan.copied.some(mayDisturb)) return "copies of memory that the kernel may write";
  return {
    request: { ...request, params, shadow },
    changed: written === null || plan.unitsStore ? null : [...written],
    own: written && { written, accessed: allocationsOf(plan.accessed ?? []) },
  };
}

/** Memory that has a shadow. */
interface Shadowed {
  readonly start: number;
  readonly end: number;
  /** Whether some of it may never have been written. */
  readonly isUnwritten: boolean;
}

/** The shadows of the allocations to which a launch's parameters point. */
class LaunchRanges {
  readonly ranges = new Map<number, ShadowRange>();
  readonly #program: Program;
  readonly #shadows: Shadows;
  readonly #scale: number;
  readonly #params: Uint8Array;
  readonly #known = new Map<string, ShadowRange | null>();

  constructor(program: Program, shadows: Shadows, { globalCell }: ShadowPlan, params: Uint8Array) {
    this.#program = program;
    this.#shadows = shadows;
    this.#scale = 4 / globalCell;
    this.#params = params;
  }

  /** The memory to which what is computed from a root may belong; null where it points to none. */
  memoryOf(root: PointerRoot): Shadowed | null {
    if (root.kind === "anything") return this.#all;
    const found = this.allocationOf(root);
    return found === null ? null : { start: found.start, end: found.end, isUnwritten: found.unwritten !== undefined };
  }

  /** All allocations, with what lies between them. */
  get #all(): Shadowed | null {
    const used = this.#program.memory.allocations.filter(({ freed }) => !freed);
    const [first, last] = [used[0], used.at(-1)];
    if (first === undefined || last === undefined) return null;
    const isUnwritten = used.some(({ unwritten }) => unwritten !== undefined);
    return { start: first.start, end: last.end, isUnwritten };
  }

  /** The allocation in which a pointer lies; null where it lies in none. */
  allocationOf(root: Exclude<PointerRoot, { kind: "anything" }>): Allocation | null {
    const { addresses, memory, variables } = this.#program;
    if (root.kind === "variable") return memory.find(variables.get(root.name)!.address);
    if (root.offset + 8 > this.#params.length) return null;
    const { buffer, byteOffset } = this.#params;
    const view = new DataView(buffer, byteOffset);
    const found = addresses.classify({
      low: view.getUint32(root.offset, true),
      high: view.getUint32(root.offset + 4, true),
    });
    const allocation = found.kind === "global" ? memory.find(found.offset) : null;
    return allocation === null || allocation.freed ? null : allocation;
  }

  /** The value of a parameter; null where there is no room. */
  valueOf(hidden: Exclude<HiddenParam, { kind: "firstNumber" | "alarm" }>, memory: Shadowed | null): bigint | null {
    const start = memory === null ? 0n : this.#program.addresses.global(memory.start);
    if (hidden.kind === "start") return start;
    if (hidden.kind === "bytes") return memory === null ? 0n : BigInt(memory.end - memory.start);
    const range = this.#rangeOf(hidden.plane, memory);
    if (range === null) return null;
    this.ranges.set(hidden.offset, range);
    return range.address - start * BigInt(this.#scale);
  }

  /** Returns the address of the word that raises the alarm. */
  addressOfAlarm(offset: number): bigint {
    const range = { address: shadowAddress(-1), bytes: 4, at: this.#shadows.alarmAt };
    this.ranges.set(offset, range);
    return range.address;
  }

  #rangeOf(plane: Plane, memory: Shadowed | null): ShadowRange | null {
    const key = `${plane} ${memory?.start}`;
    let range = this.#known.get(key);
    if (range === undefined) {
      const address = shadowAddress(this.#known.size);
      const bytes = memory === null ? 0 : Math.ceil((memory.end - memory.start) / 4) * 4 * this.#scale;
      const at = bytes === 0 ? 0 : this.#shadows.take(plane, bytes);
      range = at === null ? null : { address, bytes, at };
      this.#known.set(key, range);
    }
    return range;
  }
}
