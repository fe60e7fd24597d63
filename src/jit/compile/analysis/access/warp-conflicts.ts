import { accessesOf } from "../../../../ir/op-traits.ts";
import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import { AddressSums, sumText, threadNumbers } from "./address-sums.ts";

/**
 * What lanes of a warp find of each other's plain accesses between two barriers. `loads`: a lane may load what another
 * has stored, or overwrite what another loads, in memory that they share: programs that know of no other schedule rely
 * on the lanes of a warp going together. `stores`: only the last of several stores, or what is loaded before it is
 * overwritten in global memory, may depend on it. `none`: nothing that the code shows.
 */
export type WarpConflicts = "none" | "stores" | "loads";

/** Kernels with more instructions are not examined. */
const maxInstructions = 20_000;

/** An access as far as it matters which others it meets. */
interface Touch {
  /** The variables and pointers from which its address is computed: none for any of shared memory. */
  readonly objects: ReadonlySet<string>;
  readonly isShared: boolean;
  readonly writes: boolean;
  /** The address: bytes from one thread to the next in x, y and z, a constant, and the rest as a text. */
  readonly steps: readonly number[];
  readonly constant: number;
  readonly rest: string;
  /** Whether the rest may differ from lane to lane. */
  readonly varies: boolean;
  readonly bytes: number;
}

/** Finds what lanes of a warp find of each other's accesses, in blocks of some shape. */
export function warpConflictsOf(ir: IrFunction, block: Dim3): WarpConflicts {
  const { instructions } = ir;
  if (instructions.length > maxInstructions) return "stores";
  const sums = new AddressSums(ir);
  const touches = new Map<number, readonly Touch[]>();
  instructions.forEach((instruction, i) => {
    const found = touchesOf(instruction, sums);
    if (found.length > 0) touches.set(i, found);
  });
  if (![...touches.values()].some((list) => list.some((t) => t.writes))) return "none";
  return conflictsBetween(ir, touches, new Meetings(block));
}

function touchesOf(instruction: Instruction, sums: AddressSums): readonly Touch[] {
  return accessesOf(instruction.op).flatMap(({ effect, access: { space, bits, count }, place }) => {
    if (effect === "atomic" || place.kind !== "address") return [];
    const sum = sums.of(place.address);
    const objects = sums.variablesOf(sum);
    const isShared = space === "shared";
    // Pointers of unknown origin do not count: each load through one would be a conflict.
    if (!isShared && ((space !== "global" && space !== "generic") || objects.size === 0)) return [];
    const rest = new Map([...sum].filter(([term]) => term !== "" && !threadNumbers.includes(term)));
    return [
      {
        objects,
        isShared,
        writes: effect === "store",
        steps: threadNumbers.map((name) => Number(sum.get(name) ?? 0n)),
        constant: Number(sum.get("") ?? 0n),
        rest: sumText(rest),
        varies: sums.varies(rest),
        bytes: (bits / 8) * count,
      },
    ];
  });
}

/** Lanes of a warp. */
const warpLanes = 32;

/** Which accesses of different lanes of a warp may have a byte in common. */
class Meetings {
  /** By lane of the first warp, and of the last that is not like it: the thread's numbers. */
  readonly #threads: readonly (readonly number[])[];
  readonly #known = new Map<string, boolean>();

  constructor([x, y, z]: Dim3) {
    const lanes = Math.min(warpLanes, x * y * z);
    this.#threads = Array.from({ length: lanes }, (_, t) => [t % x, Math.floor(t / x) % y, Math.floor(t / (x * y))]);
  }

  mayMeet(a: Touch, b: Touch): boolean {
    if (a.objects.size > 0 && b.objects.size > 0 && ![...a.objects].some((object) => b.objects.has(object)))
      return false;
    if (a.isShared !== b.isShared) return false;
    if (a.rest !== b.rest || a.varies) return true;
    const key = `${a.steps.join()} ${b.steps.join()} ${b.constant - a.constant} ${a.bytes} ${b.bytes}`;
    let known = this.#known.get(key);
    if (known === undefined) this.#known.set(key, (known = this.#overlap(a, b)));
    return known;
  }

  #overlap(a: Touch, b: Touch): boolean {
    const startsOf = ({ steps, constant }: Touch): readonly number[] =>
      this.#threads.map((numbers) => numbers.reduce((at, n, i) => at + n * steps[i]!, constant));
    const others = startsOf(b);
    return startsOf(a).some((from, i) =>
      others.some((start, j) => i !== j && from < start + b.bytes && start < from + a.bytes),
    );
  }
}

/** What has been accessed since a barrier: accesses that differ in anything, by a key. */
type Since = Map<string, Touch>;

function conflictsBetween(
  ir: IrFunction,
  touches: ReadonlyMap<number, readonly Touch[]>,
  meetings: Meetings,
): WarpConflicts {
  const { blocks } = flowGraphOf(ir.instructions);
  const ins: Since[] = blocks.map(() => new Map());
  const todo = new Set(blocks.map(({ index }) => index));
  let worst: WarpConflicts = "none";
  for (const block of todo) {
    todo.delete(block);
    const { start, end, successors } = blocks[block]!;
    const since = new Map(ins[block]!);
    for (let i = start; i < end; i++) {
      if (ir.instructions[i]!.op.kind === "barrier") since.clear();
      for (const touch of touches.get(i) ?? []) {
        const found = conflictWith(since, touch, meetings);
        if (found === "loads") return found;
        if (found === "stores") worst = found;
        since.set(keyOf(touch), touch);
      }
    }
    for (const s of successors) if (s < blocks.length && merge(ins[s]!, since)) todo.add(s);
  }
  return worst;
}

/** What an access finds of earlier ones. */
function conflictWith(since: Since, touch: Touch, meetings: Meetings): WarpConflicts {
  let worst: WarpConflicts = "none";
  for (const other of since.values()) {
    // Whoever stores twice to global memory mostly stores elsewhere.
    if (!touch.writes && !other.writes) continue;
    if (touch.writes && other.writes && !touch.isShared) continue;
    if (!meetings.mayMeet(touch, other)) continue;
    if (!touch.writes || (touch.isShared && !other.writes)) return "loads";
    worst = "stores";
  }
  return worst;
}

const keyOf = ({ objects, writes, steps, constant, bytes, rest }: Touch): string =>
  `${writes} ${constant} ${bytes} ${steps.join()} ${rest} ${[...objects].join()}`;

/** Adds accesses to those that a block begins with; true if there were others before. */
function merge(into: Since, from: Since): boolean {
  const { size } = into;
  for (const [key, touch] of from) into.set(key, touch);
  return into.size > size;
}
