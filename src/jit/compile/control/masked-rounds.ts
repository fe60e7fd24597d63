import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import type { ConvergedBranch } from "./block-end.ts";
import type { IfConversion } from "./if-conversion.ts";

/** How the branch at the end of a loop of one block is decided for all lanes. */
interface LoopEnd {
  /** 1 only if all lanes go on, or none does; null if that takes a test of each lane. */
  readonly all: Wasm | null;
  readonly none: Wasm | null;
  /** Evaluates the condition in each lane; then `mask` has the lanes that go on. */
  readonly evaluate: () => void;
  readonly mask: readonly Wasm[];
  /** All lanes go on. */
  readonly take: () => void;
}

/** Whether converged lanes stay together when a loop of one block ends for some of them before others. */
export const hasMaskedRounds = ({ block, to, path }: ConvergedBranch, conversion: IfConversion): boolean =>
  to === block.index && path.has(to + 1) && conversion.isLoop(block);

/**
 * Writes the end of such a loop. Where lanes diverge, those that go on make their further rounds with masks, and the
 * others wait for them: all of them are converged after the loop.
 */
export function writeMaskedRounds(
  chunk: Chunk,
  conversion: IfConversion,
  { block, copies }: ConvergedBranch,
  { all, none, evaluate, mask, take }: LoopEnd,
): void {
  const { writer } = chunk;
  const after = writer.begin("block");
  const repeat = (): void => {
    const { copy, copyOthers } = copies(false);
    conversion.writeRounds(block, mask, () => {
      copyOthers();
      copy();
    });
    writer.br(after);
  };
  const takeIf = (condition: Wasm): void => {
    writer.value(condition);
    writer.expect(true);
    writer.if(take);
  };
  if (all === null || none === null) {
    evaluate();
    writer.value(anyOf(mask));
    writer.if(() => {
      takeIf(wasm.op("i32.eqz", anyOf(mask.map((lanes) => wasm.op("v128.not", lanes)))));
      repeat();
    });
  } else {
    takeIf(all);
    writer.value(wasm.op("i32.eqz", none));
    writer.if(() => {
      evaluate();
      // That not all lanes leave is not known from the test of all of them.
      writer.value(anyOf(mask));
      writer.if(repeat);
    });
  }
  copies(true).copyOthers();
  writer.end();
}
