import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { FlowBlock, FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import { resultsOf } from "../../../../ir/flow/liveness.ts";
import { type LoopRange, loopsOf } from "../../../../ir/flow/loops.ts";
import { controlOf, type Guard, type Op } from "../../../../ir/index.ts";
import { renaming } from "../../../../ir/rename-registers.ts";
import { BlockLines, type Line } from "./block-lines.ts";
import type { PreparedCode } from "./prepared-code.ts";

/** With more loops than this, copies and another analysis would take longer than they save. */
const maxLoops = 500;

/**
 * Loop-exit copies: where lanes may leave a loop at different times, gives registers that the loop changes other names
 * inside of it. Lanes copy their values when they leave; the lanes that stay need not preserve them for those that wait
 * outside, and what is the same in all lanes that still go around can be one scalar. Null where no loop gains by it, or
 * very many do.
 */
export function copyAtLoopExits(code: PreparedCode, isDivergent: (block: number) => boolean): PreparedCode | null {
  const loops: LoopRange[] = [];
  const collect = (loop: LoopRange): void => {
    loop.inner.forEach(collect);
    if (exitsOf(code.graph, loop).some(({ index }) => isDivergent(index))) loops.push(loop);
  };
  loopsOf(code.graph).forEach(collect);
  if (loops.length === 0 || loops.length > maxLoops) return null;
  const copying = new ExitCopying(code);
  for (const loop of loops) copying.split(loop);
  return copying.result();
}

/** The blocks of a loop from which lanes leave it. */
function exitsOf({ blocks }: FlowGraph, { start, end }: LoopRange): readonly FlowBlock[] {
  const exits: FlowBlock[] = [];
  for (let b = start; b <= end; b++) {
    const { successors } = blocks[b]!;
    for (let i = 0; i < successors.length; i++) {
      if (successors[i]! >= start && successors[i]! <= end) continue;
      exits.push(blocks[b]!);
      break;
    }
  }
  return exits;
}

/** Whether a copy after an operation would come too late: lanes may have left. */
const isTooLateAfter = (op: Op): boolean => {
  const control = controlOf(op);
  return control === "branch" || control === "leave" || control === "stop" || control === "split";
};

class ExitCopying {
  readonly #code: PreparedCode;
  readonly #lines: BlockLines;
  readonly #blocks: Line[][];
  /** By register, the blocks that write it, before anything is split. */
  readonly #writers = new Map<number, number[]>();
  #changed = false;

  constructor(code: PreparedCode) {
    this.#code = code;
    this.#lines = new BlockLines(code);
    this.#blocks = this.#lines.blocks;
    this.#blocks.forEach((lines, block) => {
      for (const { instruction } of lines) {
        for (const to of instruction.dst) if (typeof to === "number") this.#noteWriter(to, block);
      }
    });
  }

  #noteWriter(register: number, block: number): void {
    const known = this.#writers.get(register);
    if (known === undefined) this.#writers.set(register, [block]);
    else if (known.at(-1) !== block) known.push(block);
  }

  split(loop: LoopRange): void {
    const { start, end } = loop;
    const { graph, liveness, ir } = this.#code;
    const inside = (b: number): boolean => b >= start && b <= end;
    const exits = exitsOf(graph, loop);
    const entries = graph.blocks[start]!.predecessors.filter((p) => !inside(p));
    for (let b = start + 1; b <= end; b++) if (!graph.blocks[b]!.predecessors.every(inside)) return;
    if (entries.length === 0 || !exits.every((b) => this.#canCopy(b.index))) return;
    if (!entries.every((b) => this.#canCopy(b))) return;
    const results = resultsOf(ir);
    const written = new Set<number>();
    const write = (r: number): void => {
      written.add(r);
    };
    for (let b = start; b <= end; b++) for (const { instruction } of this.#blocks[b]!) writesOf(instruction, write);
    const after = new Set(exits.flatMap(({ successors }) => successors.filter((s) => !inside(s))));
    const liveOutside = new Set<number>();
    for (const s of after) {
      if (s < graph.blocks.length) {
        const live = liveness.liveIn(s);
        for (const r of written) if (live.has(r)) liveOutside.add(r);
      } else for (const r of results) liveOutside.add(r);
    }
    const split = [...written].filter(
      (r) => r < ir.registers.length && (liveOutside.has(r) || this.#isWrittenOutside(r, inside)),
    );
    if (split.length === 0) return;
    this.#changed = true;
    const names = new Map(split.map((r) => [r, this.#lines.registerLike(r)]));
    const rename = (r: number): number => names.get(r) ?? r;
    const renamed = renaming(rename);
    for (let b = start; b <= end; b++)
      for (const line of this.#blocks[b]!) line.instruction = renamed(line.instruction);
    const liveAtStart = liveness.liveIn(start);
    for (const entry of entries) {
      for (const r of split) if (liveAtStart.has(r)) this.#enter(entry, r, rename(r));
    }
    for (const { index, successors } of exits) {
      for (const r of split) {
        if (liveOutside.has(r)) this.#leave(index, successors.filter(inside).length > 0, r, rename(r), inside);
      }
    }
  }

  /** Whether a register is also written outside of a loop: then its shape there is another matter. */
  #isWrittenOutside(register: number, inside: (block: number) => boolean): boolean {
    return this.#writers.get(register)?.some((b) => !inside(b)) ?? false;
  }

  result(): PreparedCode | null {
    return this.#changed ? this.#lines.result() : null;
  }

  /** Whether a copy can stand at the end of a block. */
  #canCopy(block: number): boolean {
    const { op, dst } = this.#blocks[block]!.at(-1)!.instruction;
    return !isTooLateAfter(op) || (dst.length === 0 && op.kind !== "branch-indexed");
  }

  /** Gives the inner register the value of the outer one before the loop. */
  #enter(block: number, outer: number, inner: number): void {
    const lines = this.#blocks[block]!;
    const at = lines.findLastIndex(({ instruction: { dst } }) => dst.includes(outer));
    const found = lines[at]?.instruction;
    if (found?.op.kind === "pure" && found.dst.length === 1 && found.guard === null && found.lanes === undefined) {
      lines.splice(at, 0, { ...lines[at]!, instruction: { ...found, dst: [inner] } });
      return;
    }
    this.#insert(block, null, outer, inner, false);
  }

  /** Copies the inner register to the outer one, for the lanes that leave the loop. */
  #leave(block: number, someStay: boolean, outer: number, inner: number, inside: (b: number) => boolean): void {
    const { instruction } = this.#blocks[block]!.at(-1)!;
    const { op, guard } = instruction;
    let leaves: Guard | null = guard;
    if (op.kind === "branch" && guard !== null && inside(this.#code.graph.blockAt(op.target))) {
      leaves = { ...guard, negate: !guard.negate };
    }
    this.#insert(block, someStay ? leaves : null, inner, outer, true);
  }

  #insert(block: number, guard: Guard | null, from: number, to: number, isCopy: boolean): void {
    const lines = this.#blocks[block]!;
    const last = lines.at(-1)!;
    const instruction = this.#lines.move(last.instruction, guard, from, to);
    lines.splice(isTooLateAfter(last.instruction.op) ? lines.length - 1 : lines.length, 0, {
      instruction,
      origin: last.origin,
      isCopy,
    });
  }
}
