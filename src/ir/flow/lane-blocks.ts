import { type Expr, kit } from "../../semantics/index.ts";
import type { Instruction, Op } from "../instruction.ts";
import { byteOf } from "../region.ts";
import { type Holder, slotAt } from "./file-holders.ts";
import type { HolderRegisters } from "./holder-registers.ts";
import { laneMapOf, type LaneOperands, type Rewriting } from "./lane-operands.ts";
import { laneNumber } from "./lane-tables.ts";

type Access = Extract<Op, { kind: "load" | "store" }>;

/** Elements of a holder, from one on. */
interface Elements {
  readonly holder: Holder;
  readonly first: number;
  readonly count: number;
}

/**
 * A block that is loaded or stored for the thread, as an access of each lane to its own elements, for each row of them;
 * null for any other instruction.
 */
export function laneBlocks(
  rewriting: Rewriting,
  width: number,
  registers: HolderRegisters,
  operands: LaneOperands,
): readonly Instruction[] | null {
  const { instruction, rule, before } = rewriting;
  const { op, guard } = instruction;
  if ((op.kind !== "load" && op.kind !== "store") || !rule.noMask || rule.count !== 1 || guard !== null) return null;
  const elements = elementsOf(instruction, rule.first, registers);
  if (elements === null || elements.count < 2) return null;
  const { holder, first, count } = elements;
  const all = Array.from({ length: width }, (_, l) => l);
  const lanes = laneMapOf(
    all,
    all.map(() => rule.first),
  );
  const place: Instruction = { ...instruction, op: { ...op, kind: "load" } as Op, dst: [] };
  const located = operands.of(rewriting, place, lanes, () => null);
  if (located === null || located.op.kind !== "load") return null;
  const size = op.access.bits / 8;
  const made: Instruction[] = [];
  for (let row = Math.floor(first / width); row * width < first + count; row++) {
    const from = Math.max(first, row * width);
    const end = Math.min(first + count, (row + 1) * width);
    const index = kit.add(laneNumber(width), kit.i32(row * width - first));
    const access = { ...op.access, count: 1, align: Math.min(op.access.align, size) };
    const at = moved(located.op, kit.mul(index, kit.i32(size)));
    const register = registers.ofElement(holder, row * width);
    const value: Expr = { kind: "reg", ty: holder.bits === 64 ? "i64" : "i32", reg: register };
    made.push({
      ...operands.forAll(rewriting),
      lanes: { first: from - row * width, count: end - from, noMask: true, uniform: false },
      op:
        op.kind === "load"
          ? { kind: "load", access, place: at }
          : { kind: "store", access, place: at, values: [value] },
      dst: op.kind === "load" ? [register] : [],
    });
  }
  return [...before, ...made];
}

function moved({ place }: Extract<Op, { kind: "load" }>, bytes: Expr): Access["place"] {
  const after = (expr: Expr): Expr => kit.add(expr, expr.ty === "i64" ? kit.widen(bytes, true) : bytes);
  return place.kind === "address"
    ? { ...place, address: after(place.address) }
    : { ...place, offset: after(place.offset) };
}

/** The elements in rows that an instruction moves, one after the other. */
function elementsOf({ op, dst }: Instruction, lane: number, registers: HolderRegisters): Elements | null {
  if (op.kind !== "load" && op.kind !== "store") return null;
  const { bits } = op.access;
  const slots: { readonly holder: Holder; readonly element: number }[] = [];
  for (const moves of op.kind === "load" ? dst : op.values) {
    if (moves === null || typeof moves === "number" || moves.kind !== "region" || moves.bits !== bits) return null;
    const byte = byteOf(moves.region, bits, lane);
    const holder = registers.holderAt(byte);
    const slot = slotAt(holder, byte, bits);
    if (holder.kind !== "rows" || holder.bits !== bits || slot === null) return null;
    slots.push({ holder, element: slot.element });
  }
  const [first] = slots;
  const isOne = slots.every(({ holder, element }, i) => holder === first!.holder && element === first!.element + i);
  return first !== undefined && isOne ? { holder: first.holder, first: first.element, count: slots.length } : null;
}
