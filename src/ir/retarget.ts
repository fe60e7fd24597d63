import type { Instruction, Op, OpOf } from "./instruction.ts";

type Targets = { readonly target: number } | { readonly targets: readonly number[] };

/** The kinds of operations that name other instructions of their function. */
type TargetedKind = { [K in Op["kind"]]: OpOf<K> extends Targets ? K : never }[Op["kind"]];

type Move = (target: number) => number;

const moves: { readonly [K in TargetedKind]: (op: OpOf<K>, to: Move) => OpOf<K> } = {
  branch: (op, to) => ({ ...op, target: to(op.target) }),
  "branch-indexed": (op, to) => ({ ...op, targets: op.targets.map(to) }),
  "subroutine-call": (op, to) => (op.registers === undefined ? { ...op, target: to(op.target) } : op),
};

const isTargeted = (op: Op): op is OpOf<TargetedKind> => op.kind in moves;

/** The operation with each place in the function to which it may go replaced. */
export function retargetedOp(op: Op, to: Move): Op {
  if (!isTargeted(op)) return op;
  const move = moves[op.kind] as (op: Op, to: Move) => Op;
  return move(op, to);
}

/** The instruction with each place in the function to which it may go replaced. */
export function retargeted(instruction: Instruction, to: Move): Instruction {
  const op = retargetedOp(instruction.op, to);
  return op === instruction.op ? instruction : { ...instruction, op };
}
