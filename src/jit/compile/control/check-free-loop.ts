import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import type { Guard } from "../../../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { anyOf } from "../lanes/mask-bits.ts";

/** The end of a loop that is one block. */
export interface BackEdge {
  /** Leaves on the stack whether all lanes go around again. */
  readonly goesOn: () => void;
  /** What is done before they do. */
  readonly copy: () => void;
  /** Back to where the block begins. */
  readonly again: () => void;
}

/** A loop that is one block. */
interface SelfLoop extends BackEdge {
  /** For how many rounds (i32) it is known that all goes well; computed where the block begins. */
  readonly rounds: Wasm;
  /** Writes what is for such rounds: `find` comes before the first one, `moveOn` between two. */
  readonly assuming: (write: (find: () => void, moveOn: () => void) => void) => void;
  /** Writes the block's instructions for such a round. */
  readonly round: () => void;
}

/** Where there is nothing to look ahead to, that is not found out again for so many rounds. */
const retryAfter = 16;

/**
 * Writes a block that goes around by itself while nothing can go wrong; `otherwise`: as it is written where that is not known. What
 * comes behind it is for the lanes that have been through it once more, of which some may leave.
 */
export function writeCheckFreeLoop(
  w: FunctionWriter,
  { rounds, assuming, round, goesOn, copy, again }: SelfLoop,
  otherwise: () => void,
): void {
  // Below 0: rounds that are not looked at.
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
  const goAround = (): void =>
    assuming((find, moveOn) => {
      find();
      w.loop((next) => {
        round();
        goesOn();
        w.expect(true);
        w.if(() => {
          copy();
          moveOn();
          w.value(wasm.op("i32.sub", left, wasm.i32(1)));
          w.tee(local);
          w.brIf(next);
          again();
        });
      });
    });
  w.if(goAround, otherwise);
}

/** Whether a block is a loop by itself. */
export function isSelfLoop({ analysis, file }: Chunk, { index, end }: FlowBlock): boolean {
  const { instructions, graph } = analysis.code;
  const { op, guard, lanes } = instructions[end - 1]!;
  if (op.kind !== "branch" || guard === null || guard.collapse !== undefined || lanes !== undefined) return false;
  return graph.blockAt(op.target) === index && file === null;
}

/** Whether a guard holds in all lanes that are in a block: 0 or 1. */
export function takesBackEdge(chunk: Chunk, block: number, guard: Guard): Wasm {
  const mask = chunk.guardMask(guard);
  if (mask === null) return chunk.guardScalar(guard);
  const others = mask.map((part) => wasm.op("v128.not", part));
  return wasm.op("i32.eqz", anyOf(chunk.maskOf(block, others)!));
}
