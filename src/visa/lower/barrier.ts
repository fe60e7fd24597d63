import { type Expr, kit as k } from "../../semantics/index.ts";
import type { MemoryAction } from "../isa/memory-action.ts";
import type { Instruction } from "../tree.ts";
import type { LowerContext, Lowered } from "./context.ts";
import { has, once, vectorOf } from "../instruction-operands.ts";
import { source } from "./operands.ts";

const modes = { sync: "sync", signal: "arrive", wait: "wait" } as const;

/**
 * The group's barrier is number 0. A named barrier is complete when all its producers and all its consumers have
 * signalled; a thread that is both signals for both, so it arrives twice.
 */
export function lowerBarrier(
  context: LowerContext,
  instruction: Instruction,
  { phase }: Extract<MemoryAction, { kind: "barrier" }>,
): readonly Lowered[] {
  const number = (name: string): Expr => source(context, vectorOf(instruction, name), once).expr;
  const barrier = (count: Expr | null): Lowered => ({
    op: {
      kind: "barrier",
      mode: modes[phase],
      id: has(instruction, "id") ? number("id") : k.i32(0),
      count,
      aligned: false,
      reduce: null,
    },
    dst: [],
  });
  if (has(instruction, "threads")) {
    const arrival = barrier(k.shl(number("threads"), k.i32(1)));
    return [arrival, arrival];
  }
  if (!has(instruction, "type")) return [barrier(null)];
  const type = vectorOf(instruction, "type");
  if (type.kind !== "immediate") {
    const reason = "the thread's role at the barrier is known only at run time";
    return [{ op: { kind: "unsupported", what: instruction.row.mnemonic, reason }, dst: [] }];
  }
  const arrival = barrier(k.add(number("producers"), number("consumers")));
  return type.bits === 0n ? [arrival, arrival] : [arrival];
}
