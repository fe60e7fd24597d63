import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import type { Guard } from "../../../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { anyOf } from "../lanes/mask-bits.ts";

/** The back edge of a loop that is one block. */
export interface BackEdge {
  /** Leaves on the stack whether all lanes take it. */
  readonly isTakenByAll: () => void;
  /** Writes the copies that belong to it. */
  readonly copy: () => void;
  /** Jumps to the beginning of the block. */
  readonly take: () => void;
}

/** A loop that is one block. */
interface SelfLoop extends BackEdge {
  /** The number of rounds (i32) for which hoisted checks hold, evaluated where the block begins. */
  readonly rounds: Wasm;
  /** Writes code that relies on these checks: `find` comes before the first such round, `advance` between two. */
  readonly assuming: (write: (find: () => void, advance: () => void) => void) => void;
  /** Writes the block's instructions for a round without checks. */
  readonly round: () => void;
}

/** The number of rounds after which hoisted checks are tried again where they held for no round. */
const retryAfter = 16;

/**
 * Writes a loop that is one block with an inner, check-free loop for the rounds that hoisted checks cover. `otherwise`
 * writes a round with its checks. The code after it is for lanes that have just made a round, and of which some may
 * leave the loop.
 */
export function writeCheckFreeLoop(
  w: FunctionWriter,
  { rounds, assuming, round, isTakenByAll, copy, take }: SelfLoop,
  otherwise: () => void,
): void {
  // Below 0: minus the rounds before the next try.
  const local = w.local("i32");
  const left = wasm.local("i32", local);
  w.value(wasm.op("i32.lt_u", wasm.op("i32.add", left, wasm.i32(retryAfter)), wasm.i32(retryAfter)));
  w.expect(false);
  w.if(
    () => w.assign([{ local, value: wasm.op("i32.add", left, wasm.i32(1)) }]),
    () => {
      w.assign([{ local, value: rounds }]);
      w.assign([{ local, value: wasm.select(left, left, wasm.i32(-retryAfter)) }]);
    },
  );
  w.value(wasm.op("i32.gt_s", left, wasm.i32(0)));
  w.expect(true);
  const checkFree = (): void =>
    assuming((find, advance) => {
      find();
      w.loop((next) => {
        round();
        isTakenByAll();
        w.expect(true);
        w.if(() => {
          copy();
          advance();
          w.value(wasm.op("i32.sub", left, wasm.i32(1)));
          w.tee(local);
          w.brIf(next);
          take();
        });
      });
    });
  w.if(checkFree, otherwise);
}

/** Whether a block is a loop by itself. */
export function isSelfLoop({ analysis, file }: Chunk, { index, end }: FlowBlock): boolean {
  const { instructions, graph } = analysis.code;
  const { op, guard, lanes } = instructions[end - 1]!;
  if (op.kind !== "branch" || guard === null || guard.collapse !== undefined || lanes !== undefined) return false;
  return graph.blockAt(op.target) === index && file === null;
}

/** Whether a guard holds in all lanes that are active in a block: 0 or 1. */
export function takesBackEdge(chunk: Chunk, block: number, guard: Guard): Wasm {
  const mask = chunk.guardMask(guard);
  if (mask === null) return chunk.guardScalar(guard);
  const others = mask.map((part) => wasm.op("v128.not", part));
  return wasm.op("i32.eqz", anyOf(chunk.maskOf(block, others)!));
}
