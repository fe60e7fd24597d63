import { lowestLane } from "../../ir/lane-mask.ts";
import type { OpOf } from "../../ir/index.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { FailedLanes } from "../../machine/faults/failed-lanes.ts";
import { Fault } from "../../machine/faults/fault.ts";
import { readElement, type Views, writeElement } from "../../machine/memory/views.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { Site } from "../../machine/state/code.ts";
import { completeFor, PendingEffects } from "../../machine/state/pending-effects.ts";
import { arriveOnce, isValid, noteTransactions, raisePending } from "../../program/units/mbarrier.ts";
import { bitsOf } from "../../semantics/bind.ts";
import type { Expr, Value } from "../../semantics/index.ts";
import { patternOf } from "../../semantics/pattern.ts";
import type { Decoding } from "../compile/decoding.ts";
import type { Run } from "../compile/expr-compiler.ts";
import { LastExtent } from "../compile/last-extent.ts";
import type { Slot } from "../compile/register-file.ts";
import { type MemoryInstruction, SlowPath } from "./memory-access.ts";

/** A lane that executes an instruction. */
interface Asker {
  readonly x: Activation;
  readonly site: Site;
  readonly lane: number;
}

/** The bytes of memory where an mbarrier is. */
interface Mbarrier {
  readonly views: Views;
  readonly at: number;
}

/** Arrives at an mbarrier once what the lane has begun so far has taken effect. */
function arriveLater({ what, raises }: NonNullable<OpOf<"atomic">["tracks"]>, asker: Asker, mbarrier: Mbarrier): void {
  const { x, lane } = asker;
  const { warp } = x;
  const effects = warp.cta.units.of(PendingEffects);
  // Fences and barriers of threads order operations on tensor memory, too.
  const after = what === "tensor" ? effects.pending("tensor", null) : effects.pending("copies", { warp, lane });
  if (raises) raisePending(mbarrier);
  effects.issue({
    ...{ warp, lane, completion: "mbarrier", mbarriers: [mbarrier], after },
    read: () => {},
    perform: () => arriveOnce(asker, mbarrier),
  });
}

/**
 * Lanes of an instruction that wait for phases of mbarriers in vain. When all lanes have looked, asynchronous
 * operations that the mbarriers count take effect: the next wait sees them, in all lanes alike, and so do observers of
 * it.
 */
class VainWaits {
  readonly #site: Site;
  #found: { readonly lane: number; readonly mbarrier: Mbarrier; readonly word: bigint }[] = [];

  constructor(site: Site) {
    this.#site = site;
  }

  add(lane: number, mbarrier: Mbarrier, word: bigint): void {
    this.#found.push({ lane, mbarrier, word });
  }

  end({ warp }: Activation): void {
    const found = this.#found;
    if (found.length === 0) return;
    this.#found = [];
    let any = false;
    for (const { mbarrier } of found) if (completeFor(warp.cta, mbarrier.views, mbarrier.at)) any = true;
    if (any) return;
    for (const { lane } of found) warp.polled |= 1 << lane;
    const last = found.at(-1)!;
    warp.pollSite = this.#site;
    warp.pollWord = last.word;
    warp.pollPlace = last.mbarrier;
  }
}

type AtomicOp = Pick<OpOf<"atomic">, "combine" | "results" | "problem" | "tracks">;

/** Read-modify-write, lane by lane in lane order. */
export function makeAtomic(d: Decoding, memory: MemoryInstruction, op: AtomicOp, to: readonly (Slot | null)[]): Run {
  const { access, address, prepare } = memory;
  const { update, end } = laneUpdate(d, memory, op, to);
  const { slot } = address;
  const extent = new LastExtent(slot === null ? 0 : address.offset, accessBytes(access));
  const slow = new SlowPath(memory, "atomic", extent);
  const wide = slot?.class === "b64";
  return (x, mask) => {
    prepare(x, mask);
    x.warp.watched = true;
    const known = !address.inFrame && extent.refresh(x);
    const { i32 } = x;
    // Lanes keep their order: from the first one that is not within the last extent on, all take the slow path.
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const low = slot === null ? address.offset : i32[wide ? 2 * (slot.base + lane) : slot.base + lane]!;
      const high = slot === null ? address.high : wide ? i32[2 * (slot.base + lane) + 1]! : 0;
      const r = (low - extent.from) >>> 0;
      const at = (r + extent.at + lane * extent.stride) >>> 0;
      if (!known || r > extent.span || high !== extent.high || (at & (access.align - 1)) !== 0) {
        slow.run(x, m, update);
        break;
      }
      update(x, extent.views, at, lane);
    }
    end(x);
  };
}

interface LaneUpdate {
  /** Reads, combines and writes for one lane; `at` is the byte of the first element. */
  readonly update: (x: Activation, views: Views, at: number, lane: number) => void;
  /** All lanes have executed the instruction. Throws the fault of those that have failed, if there are any. */
  readonly end: (x: Activation) => void;
}

function laneUpdate(d: Decoding, memory: MemoryInstruction, op: AtomicOp, to: readonly (Slot | null)[]): LaneUpdate {
  const { combine } = op;
  const { access } = memory;
  const bytes = access.bits / 8;
  const laneValue = (e: Expr) => {
    const expr = bitsOf(d.operands.bind(e));
    return { ty: expr.ty, value: d.program.compiler.lane(d.code.context, expr, d.operands.lanes) };
  };
  const elements = combine.map(laneValue);
  const results = op.results?.map(laneValue) ?? null;
  const problem = op.problem === undefined ? null : laneValue(op.problem.number).value;
  const returned: (number | bigint)[] = [];
  let failed: FailedLanes | null = null;
  // Of an mbarrier: whether the instruction waits for a phase.
  const isMbarrier = op.problem !== undefined;
  const waits = isMbarrier && op.results?.[0]?.ty === "pred";
  const vain = new VainWaits(memory.site);
  const old: Value[] = combine.map(() => (access.bits === 64 ? 0n : 0));
  const fresh: (number | bigint)[] = combine.map(() => 0);
  const update = (x: Activation, views: Views, at: number, lane: number): void => {
    for (let e = 0; e < elements.length; e++) old[e] = readElement(views, at + e * bytes, access.bits, access.signed);
    for (let e = 0; e < elements.length; e++) {
      const { ty, value } = elements[e]!;
      fresh[e] = patternOf(ty, value(x, lane, old));
    }
    const number = problem === null ? 0 : (problem(x, lane, old) as number);
    if (number !== 0) {
      const { code, message } = op.problem!.reports[number - 1]!;
      failed ??= new FailedLanes();
      failed.add(new Fault(code, message, { site: memory.site, activation: x, lanes: 1 << lane }));
      return;
    }
    if (op.tracks !== undefined && x.warp.cta.units.late) {
      arriveLater(op.tracks, { x, site: memory.site, lane }, { views, at });
      return;
    }
    results?.forEach(({ ty, value }, e) => {
      returned[e] = patternOf(ty, value(x, lane, old));
    });
    // Compilers invalidate mbarriers that still count operations for which they do not wait.
    if (isMbarrier && isValid(old[0] as bigint) && !isValid(BigInt(fresh[0]!))) completeFor(x.warp.cta, views, at);
    if (isMbarrier && fresh[0] !== old[0]) {
      x.warp.cta.signalled = true;
      noteTransactions(x.warp.cta, memory.site, { views, at }, [old[0] as bigint, BigInt(fresh[0]!)]);
    }
    for (let e = 0; e < elements.length; e++) {
      writeElement(views, at + e * bytes, access.bits, fresh[e]!);
      const slot = to[e];
      if (!slot) continue;
      const value = results === null ? (old[e]! as number | bigint) : returned[e]!;
      if (slot.class === "b64") x.i64[slot.base + lane] = BigInt(value);
      else if (slot.class === "pred") {
        x.i32[slot.base] = (x.i32[slot.base]! & ~(1 << lane)) | ((Number(value) & 1) << lane);
      } else x.i32[slot.base + lane] = Number(value) & (slot.bits < 32 ? 2 ** slot.bits - 1 : -1);
    }
    if (!waits) return;
    if (Number(returned[0]) !== 0) x.warp.passesTurn = true;
    else vain.add(lane, { views, at }, old[0] as bigint);
  };
  const end = (x: Activation): void => {
    const all = failed;
    failed = null;
    all?.end();
    vain.end(x);
  };
  return { update, end };
}
