import type { Instruction } from "../instruction.ts";
import type { Register } from "../module.ts";
import { readsOf, writesAlways, writesOf } from "./accesses.ts";
import { BitSet } from "./bit-set.ts";
import type { FlowBlock, FlowGraph } from "./flow-graph.ts";

/** Which registers hold a value that a lane may still read. Lane by lane: what others at other places need is not part of it. */
export interface Liveness {
  /** Where a block begins; each call makes a set of its own. */
  liveIn(block: number): BitSet;
  /** Behind the block's last instruction. */
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
  const local = blocks.map((b) => exposureOf(b, code));
  const numbering = numberCrossing(local, liveAtEnd, registers.length);
  // What others have is read whatever way those lanes took: such registers count as live everywhere.
  const everywhere = acrossLanes(code);
  const ins = solve(blocks, local, numbering, endSets(blocks, instructions, liveAtEnd));

  const expand = (into: BitSet, compact: BitSet): void =>
    compact.forEach((i) => {
      into.add(numbering.registers[i]!);
    });
  const start = (): BitSet => {
    const set = new BitSet(registers.length);
    for (const r of everywhere) set.add(r);
    return set;
  };
  const liveOut = (block: number): BitSet => {
    const set = start();
    for (const s of blocks[block]!.successors) {
      if (s < blocks.length) expand(set, ins[s]!);
      else if (endsInReturn(blocks[block]!, instructions)) for (const r of liveAtEnd) set.add(r);
    }
    return set;
  };
  return {
    liveIn: (block) => {
      const set = start();
      expand(set, ins[block]!);
      return set;
    },
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

/** Of a block: the registers that it reads before it writes them, and those that it writes in all lanes. */
interface Exposure {
  readonly reads: readonly number[];
  readonly kills: ReadonlySet<number>;
}

function exposureOf({ start, end }: FlowBlock, { instructions, registers }: FlowCode): Exposure {
  const reads = new Set<number>();
  const kills = new Set<number>();
  const register = (r: number): void => {
    if (!kills.has(r)) reads.add(r);
  };
  for (let i = start; i < end; i++) {
    const instruction = instructions[i]!;
    readsOf(instruction, { register });
    writesOf(instruction, (r) => {
      if (writesAlways(instruction, registers[r]!.home)) kills.add(r);
    });
  }
  return { reads: [...reads], kills };
}

/** Registers that are live across an edge get consecutive numbers; most live within one block only. */
interface Numbering {
  readonly registers: readonly number[];
  /** By register, its number or -1. */
  readonly numbers: Int32Array;
}

function numberCrossing(local: readonly Exposure[], liveAtEnd: readonly number[], count: number): Numbering {
  const numbers = new Int32Array(count).fill(-1);
  const registers: number[] = [];
  const add = (r: number): void => {
    if (numbers[r]! < 0) numbers[r] = registers.push(r) - 1;
  };
  for (const { reads } of local) reads.forEach(add);
  liveAtEnd.forEach(add);
  return { registers, numbers };
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

/** By block, what is live behind it because lanes return there. */
const endSets = (
  blocks: readonly FlowBlock[],
  instructions: readonly Instruction[],
  liveAtEnd: readonly number[],
): readonly (readonly number[])[] =>
  blocks.map((b) => (b.successors.includes(blocks.length) && endsInReturn(b, instructions) ? liveAtEnd : []));

/** Goes through the blocks from the last to the first, until nothing changes: one round more than loops are nested. */
function solve(
  blocks: readonly FlowBlock[],
  local: readonly Exposure[],
  { registers, numbers }: Numbering,
  ends: readonly (readonly number[])[],
): readonly BitSet[] {
  const ins = blocks.map(() => new BitSet(registers.length));
  const stale = new Uint8Array(blocks.length).fill(1);
  const live = new BitSet(registers.length);
  const update = (block: number): boolean => {
    live.clear();
    for (const r of ends[block]!) live.add(numbers[r]!);
    for (const s of blocks[block]!.successors) if (s < blocks.length) live.union(ins[s]!);
    const { reads, kills } = local[block]!;
    for (const r of kills) if (numbers[r]! >= 0) live.delete(numbers[r]!);
    for (const r of reads) live.add(numbers[r]!);
    return ins[block]!.union(live);
  };
  for (let again = true; again; ) {
    again = false;
    for (let block = blocks.length - 1; block >= 0; block--) {
      if (stale[block] === 0) continue;
      stale[block] = 0;
      if (!update(block)) continue;
      for (const p of blocks[block]!.predecessors) {
        stale[p] = 1;
        if (p >= block) again = true;
      }
    }
  }
  return ins;
}
