import { lanesOfMove, tensorCell, type TensorMove, type UnitOpOf } from "../../../ir/index.ts";
import { PendingEffects } from "../../../machine/state/pending-effects.ts";
import { isLate, issueUncounted } from "../effect.ts";
import type { UnitCall } from "../unit-call.ts";
import { checkCells, sameWord } from "./access.ts";
import { blocksOf, type TensorBlock } from "./blocks.ts";
import { tensorFault } from "./fault.ts";
import { reduceWords } from "./reduce.ts";
import { type TensorAddress, tensorAddress, tensorColumns } from "./tensor-memory.ts";

const warpLanes = 32;

/** The columns of a part of a move, from its first on. */
function columnsOf({ shape, registers, packed }: TensorMove): number {
  let last = 0;
  for (let lane = 0; lane < warpLanes; lane++) last = Math.max(last, tensorCell(shape, registers - 1, lane)[1]);
  return (last + 1) * (packed ? 2 : 1);
}

/**
 * Checks that a warp may access what a move reaches: its own quarter of the lanes (section 9.7.16.8.1), and columns
 * that are allocated. Returns the words of tensor memory.
 *
 * @throws Fault if it may not
 */
function check(
  call: UnitCall,
  effect: "load" | "store",
  move: TensorMove,
  { lane, column }: TensorAddress,
): Int32Array {
  const lanes = lanesOfMove(move.shape);
  const quarter = call.x.warp.index & 3;
  const first = warpLanes * quarter;
  if (lane < first || lane + lanes > first + warpLanes || lane % 16 !== 0) {
    const message = `the access begins at lane ${lane} of tensor memory, and takes ${lanes} lanes`;
    throw tensorFault(call, "tcgen05-out-of-bounds", message, {
      help: `warp ${call.x.warp.index} can access lanes ${first} to ${first + warpLanes - 1}`,
    });
  }
  const columns = columnsOf(move);
  const [block] = blocksOf(call, false) as [TensorBlock];
  checkCells(call, { block, what: "what is accessed", effect }, { lane, lanes, column, columns });
  if (move.shape === "16x32bx2") {
    const what = "the second part of what is accessed";
    checkCells(call, { block, what, effect }, { lane, lanes, column: column + move.split, columns });
  }
  return block.memory.words;
}

/** Calls back with each register of each lane, and the index of its word; with `packed`, of the first of two. */
function eachWord(
  move: TensorMove,
  { lane: row, column }: TensorAddress,
  act: (register: number, lane: number, at: number) => void,
): void {
  const { shape, registers, packed, split } = move;
  for (let lane = 0; lane < warpLanes; lane++) {
    const from = column + (lane >= 16 && shape === "16x32bx2" ? split : 0);
    for (let register = 0; register < registers; register++) {
      const [r, c] = tensorCell(shape, register, lane);
      act(register, lane, (row + r) * tensorColumns + from + (packed ? 2 * c : c));
    }
  }
}

/** Loads registers of a warp, and combines those of a lane if asked. */
export function loadTensor({ move, reduction }: UnitOpOf<"tensor-load">, call: UnitCall): void {
  const address = tensorAddress(sameWord(call, 0, "addresses"));
  const words = check(call, "load", move, address);
  const to = isLate(call) ? call.kept() : call;
  issueUncounted(call, "loads", () => {
    const loaded: number[][] = [];
    eachWord(move, address, (register, lane, at) => {
      const word = move.packed ? (words[at]! & 0xffff) | (words[at + 1]! << 16) : words[at]!;
      to.give(register, lane, word);
      if (reduction !== null) (loaded[lane] ??= []).push(word);
    });
    if (reduction === null) return;
    for (const [lane, own] of loaded.entries()) to.give(move.registers, lane, reduceWords(reduction, own));
  });
}

/** Stores registers of a warp, with the values that they have where the instruction is issued. */
export function storeTensor({ move }: UnitOpOf<"tensor-store">, call: UnitCall): void {
  const address = tensorAddress(sameWord(call, 0, "addresses"));
  const words = check(call, "store", move, address);
  const values = new Int32Array(move.registers * warpLanes);
  call.words(1, move.registers, values);
  issueUncounted(call, "stores", () =>
    eachWord(move, address, (register, lane, at) => {
      const word = values[register * warpLanes + lane]!;
      if (!move.packed) words[at] = word;
      else {
        words[at] = word & 0xffff;
        words[at + 1] = word >>> 16;
      }
    }),
  );
}

/** The warp waits for its loads or stores. */
export const waitForTensor = ({ of }: UnitOpOf<"tensor-wait">, { x }: UnitCall): void =>
  x.warp.cta.units.existing(PendingEffects)?.completeOf(of, x.warp);
