import type { Instruction } from "../instruction.ts";
import type { Register } from "../module.ts";
import { readsOf, writesAlways, writesOf } from "./accesses.ts";
import { BitSet } from "./bit-set.ts";
import type { FlowBlock, FlowGraph } from "./flow-graph.ts";

/** Which registers hold a value that a lane may still read. Lane by lane: what others at other places need is not part of it. */
export interface Liveness {
  /** Where a block begins: not to be changed. */
  liveIn(block: number): BitSet;
  /** Behind the block's last instruction: a set of its own. */
  liveOut(block: number): BitSet;
  /** Registers of which lanes read what others have, or have written for them, and those that all lanes share. */
  readonly acrossLanes: ReadonlySet<number>;
  /**
   * Goes through a block backwards: `visit` sees the registers that are live behind each instruction, in one set that
   * changes with the steps.
   */
  walk(block: number, visit: (instruction: number, liveBehind: BitSet) => void): void;
}

/** What liveness is asked of: a function, or what one has been turned into. */
export interface FlowCode {
  readonly instructions: readonly Instruction[];
  readonly registers: readonly Register[];
}

/** `liveAtEnd`: the registers that are read when a lane has returned. */
export function livenessOf(code: FlowCode, graph: FlowGraph, liveAtEnd: readonly number[]): Liveness {
  const { instructions, registers } = code;
  const { blocks } = graph;
  // What others have is read whatever way those lanes took: such registers count as live everywhere.
  const everywhere = acrossLanes(code);
  const least = new BitSet(registers.length);
  for (const r of everywhere) least.add(r);
  const atEnd = least.copy();
  for (const r of liveAtEnd) atEnd.add(r);

  const ins = blocks.map(() => least);
  const liveOut = (block: number): BitSet => {
    let set: BitSet | null = null;
    for (const s of blocks[block]!.successors) {
      const live = s < blocks.length ? ins[s]! : endsInReturn(blocks[block]!, instructions) ? atEnd : least;
      if (set === null) set = live.copy();
      else set.union(live);
    }
    return set ?? least.copy();
  };
  solve(
    blocks,
    blocks.map((b) => exposureOf(b, code, everywhere)),
    ins,
    liveOut,
  );
  return {
    liveIn: (block) => ins[block]!,
    liveOut,
    acrossLanes: everywhere,
    walk: (block, visit) => {
      const live = liveOut(block);
      const { start: first, end } = blocks[block]!;
      for (let i = end - 1; i >= first; i--) {
        visit(i, live);
        const instruction = instructions[i]!;
        writesOf(instruction, (r) => {
          if (writesAlways(instruction, registers[r]!.home) && !everywhere.has(r)) live.delete(r);
        });
        readsOf(instruction, { register: (r) => live.add(r) });
      }
    },
  };
}

/** Of a block: the registers that it reads before it writes them, and those others that it writes in all lanes. */
interface Exposure {
  readonly reads: readonly number[];
  readonly kills: readonly number[];
}

/** `everywhere`: registers that nothing kills. */
function exposureOf(
  { start, end }: FlowBlock,
  { instructions, registers }: FlowCode,
  everywhere: ReadonlySet<number>,
): Exposure {
  const reads = new Set<number>();
  const kills = new Set<number>();
  const register = (r: number): void => {
    if (!kills.has(r)) reads.add(r);
  };
  for (let i = start; i < end; i++) {
    const instruction = instructions[i]!;
    readsOf(instruction, { register });
    writesOf(instruction, (r) => {
      if (!reads.has(r) && !everywhere.has(r) && writesAlways(instruction, registers[r]!.home)) kills.add(r);
    });
  }
  return { reads: [...reads], kills: [...kills] };
}

function acrossLanes({ instructions, registers }: FlowCode): ReadonlySet<number> {
  const found = new Set(registers.flatMap(({ home }, r) => (home?.lanes === null ? [r] : [])));
  const visitor = { register: () => {}, acrossLanes: (r: number) => found.add(r) };
  for (const instruction of instructions) {
    readsOf(instruction, visitor);
    // Lanes that are elsewhere find there what they have not written.
    if (instruction.lanes?.noMask === true) writesOf(instruction, (r) => found.add(r));
  }
  return found;
}

/** Whether lanes that leave the function in a block return; else they have ended, and nothing is read any more. */
function endsInReturn({ end }: FlowBlock, instructions: readonly Instruction[]): boolean {
  const { kind } = instructions[end - 1]!.op;
  return kind !== "exit" && kind !== "trap";
}

/** Goes through the blocks from the last to the first, until nothing changes: one round more than loops are nested. */
function solve(
  blocks: readonly FlowBlock[],
  exposures: readonly Exposure[],
  ins: BitSet[],
  liveOut: (block: number) => BitSet,
): void {
  const stale = new Uint8Array(blocks.length).fill(1);
  for (let again = true; again; ) {
    again = false;
    for (let block = blocks.length - 1; block >= 0; block--) {
      if (stale[block] === 0) continue;
      stale[block] = 0;
      const live = liveOut(block);
      const { reads, kills } = exposures[block]!;
      for (const r of kills) live.delete(r);
      for (const r of reads) live.add(r);
      if (live.equals(ins[block]!)) continue;
      ins[block] = live;
      for (const p of blocks[block]!.predecessors) {
        stale[p] = 1;
        if (p >= block) again = true;
      }
    }
  }
}
