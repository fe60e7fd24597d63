import type { Instruction } from "../instruction.ts";
import type { IrFunction, Register } from "../module.ts";
import { readsOf, writesAlways, writesOf } from "./accesses.ts";
import { BitSet } from "./bit-set.ts";
import type { FlowBlock, FlowGraph } from "./flow-graph.ts";

/** The registers whose value a lane may still read. What lanes at other places need is not part of it. */
export interface Liveness {
  /** The live registers at the beginning of a block. The set must not be changed. */
  liveIn(block: number): BitSet;
  /** The live registers after the last instruction of a block, as a new set. */
  liveOut(block: number): BitSet;
  /** Registers of which lanes read or write the values of other lanes, and those that all lanes share. */
  readonly acrossLanes: ReadonlySet<number>;
  /** The registers that a block reads or writes, each once. */
  touchedIn(block: number): readonly number[];
  /**
   * Goes through a block backwards. `visit` is shown the registers that are live after each instruction, in one set
   * that changes from step to step.
   */
  walk(block: number, visit: (instruction: number, liveAfter: BitSet) => void): void;
}

/** The code that liveness is computed for: a function, or what a pass has made of one. */
export interface FlowCode {
  readonly instructions: readonly Instruction[];
  readonly registers: readonly Register[];
}

/** The registers with the results of a function, which are read after lanes have left it. */
export const resultsOf = ({ returns }: Pick<IrFunction, "returns">): number[] =>
  returns.flatMap(({ storage }) => (storage.kind === "register" ? [...storage.registers] : []));

/** `liveAtEnd`: the registers that are read after a lane has returned. */
export function livenessOf(code: FlowCode, graph: FlowGraph, liveAtEnd: readonly number[]): Liveness {
  const { instructions, registers } = code;
  const { blocks } = graph;
  const { everywhere, exposures } = exposuresOf(blocks, code);
  const least = new BitSet(registers.length);
  for (const r of everywhere) least.add(r);
  const atEnd = least.copy();
  for (const r of liveAtEnd) atEnd.add(r);

  const ins = blocks.map(() => least);
  const liveOut = (block: number): BitSet => {
    let set: BitSet | null = null;
    const { successors } = blocks[block]!;
    for (let i = 0; i < successors.length; i++) {
      const s = successors[i]!;
      const live = s < blocks.length ? ins[s]! : endsInReturn(blocks[block]!, instructions) ? atEnd : least;
      if (set === null) set = live.copy();
      else set.union(live);
    }
    return set ?? least.copy();
  };
  solve(blocks, exposures, ins, liveOut);
  return {
    liveIn: (block) => ins[block]!,
    liveOut,
    acrossLanes: everywhere,
    touchedIn: (block) => exposures[block]!.touches,
    walk: (block, visit) => {
      const live = liveOut(block);
      const { start: first, end } = blocks[block]!;
      let instruction: Instruction;
      const kill = (r: number): void => {
        if (writesAlways(instruction, registers[r]!.home) && !everywhere.has(r)) live.delete(r);
      };
      const visitor = { register: (r: number): void => live.add(r) };
      for (let i = end - 1; i >= first; i--) {
        visit(i, live);
        instruction = instructions[i]!;
        writesOf(instruction, kill);
        readsOf(instruction, visitor);
      }
    },
  };
}

/** The registers that a block reads before it writes them, and the others that it writes in all lanes. */
interface Exposure {
  /** All registers that it reads or writes. */
  readonly touches: number[];
  readonly reads: number[];
  kills: number[];
}

/** The exposure of each block, and the registers that are live everywhere because lanes read the values of others. */
function exposuresOf(
  blocks: readonly FlowBlock[],
  { instructions, registers }: FlowCode,
): { readonly everywhere: ReadonlySet<number>; readonly exposures: readonly Exposure[] } {
  const everywhere = new Set<number>();
  for (let r = 0; r < registers.length; r++) if (registers[r]!.home?.lanes === null) everywhere.add(r);
  // By register, the last block that touched it, and the last that read or killed it: what follows in a block does not
  // matter.
  const touched = new Int32Array(registers.length).fill(-1);
  const decided = new Int32Array(registers.length).fill(-1);
  const exposures: Exposure[] = [];
  let block = 0;
  let instruction: Instruction;
  const touch = (r: number): void => {
    if (touched[r] === block) return;
    touched[r] = block;
    exposures[block]!.touches.push(r);
  };
  const visitor = {
    register: (r: number): void => {
      touch(r);
      if (decided[r] === block) return;
      decided[r] = block;
      exposures[block]!.reads.push(r);
    },
    acrossLanes: (r: number): void => {
      everywhere.add(r);
    },
  };
  const write = (r: number): void => {
    // Lanes at other places get values that they have not written.
    if (instruction.lanes?.noMask === true) everywhere.add(r);
    touch(r);
    if (decided[r] === block || !writesAlways(instruction, registers[r]!.home)) return;
    decided[r] = block;
    exposures[block]!.kills.push(r);
  };
  for (const { start, end } of blocks) {
    exposures.push({ touches: [], reads: [], kills: [] });
    for (let i = start; i < end; i++) {
      instruction = instructions[i]!;
      readsOf(instruction, visitor);
      writesOf(instruction, write);
    }
    block++;
  }
  // Registers that are live everywhere are never killed.
  if (everywhere.size > 0) for (const e of exposures) e.kills = e.kills.filter((r) => !everywhere.has(r));
  return { everywhere, exposures };
}

/** Whether lanes that leave the function in a block return. If they end instead, nothing is read any more. */
function endsInReturn({ end }: FlowBlock, instructions: readonly Instruction[]): boolean {
  const { kind } = instructions[end - 1]!.op;
  return kind !== "exit" && kind !== "trap";
}

/** Goes through the blocks from last to first until nothing changes: one round more than the depth of loops. */
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
      for (let i = 0; i < kills.length; i++) live.delete(kills[i]!);
      for (let i = 0; i < reads.length; i++) live.add(reads[i]!);
      if (live.equals(ins[block]!)) continue;
      ins[block] = live;
      const { predecessors } = blocks[block]!;
      for (let i = 0; i < predecessors.length; i++) {
        const p = predecessors[i]!;
        stale[p] = 1;
        if (p >= block) again = true;
      }
    }
  }
}
