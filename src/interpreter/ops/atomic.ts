import { lowestLane } from "../../ir/lane-mask.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { readElement, type Views, writeElement } from "../../machine/memory/views.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import { bitsOf } from "../../semantics/bind.ts";
import type { Expr, Value } from "../../semantics/index.ts";
import { patternOf } from "../../semantics/pattern.ts";
import type { Decoding } from "../compile/decoding.ts";
import type { Run } from "../compile/expr-compiler.ts";
import { LastExtent } from "../compile/last-extent.ts";
import type { Slot } from "../compile/register-file.ts";
import { type MemoryInstruction, SlowPath } from "./memory-access.ts";

/** Read-modify-write, lane by lane in lane order. */
export function makeAtomic(
  d: Decoding,
  memory: MemoryInstruction,
  combine: readonly Expr[],
  to: readonly (Slot | null)[],
): Run {
  const { access, address, prepare } = memory;
  const bytes = access.bits / 8;
  const elements = combine.map((c) => {
    const expr = bitsOf(d.operands.bind(c));
    return { ty: expr.ty, value: d.program.compiler.lane(d.code.context, expr, d.operands.lanes) };
  });
  const old: Value[] = combine.map(() => (access.bits === 64 ? 0n : 0));
  const fresh: (number | bigint)[] = combine.map(() => 0);
  const update = (x: Activation, views: Views, at: number, lane: number): void => {
    for (let e = 0; e < elements.length; e++) old[e] = readElement(views, at + e * bytes, access.bits, access.signed);
    for (let e = 0; e < elements.length; e++) {
      const { ty, value } = elements[e]!;
      fresh[e] = patternOf(ty, value(x, lane, old));
    }
    for (let e = 0; e < elements.length; e++) {
      writeElement(views, at + e * bytes, access.bits, fresh[e]!);
      const slot = to[e];
      if (!slot) continue;
      if (slot.class === "b64") x.i64[slot.base + lane] = BigInt(old[e]! as number | bigint);
      else x.i32[slot.base + lane] = (old[e] as number) & (slot.bits < 32 ? 2 ** slot.bits - 1 : -1);
    }
  };
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
        return;
      }
      update(x, extent.views, at, lane);
    }
  };
}
