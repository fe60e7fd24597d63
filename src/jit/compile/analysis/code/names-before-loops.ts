import { readsOf } from "../../../../ir/flow/accesses.ts";
import { renaming } from "../../../../ir/rename-registers.ts";
import { BlockLines, type Line } from "./block-lines.ts";
import type { PreparedCode } from "./prepared-code.ts";
import { SoleWriters } from "./sole-writers.ts";

/**
 * Code with loop-exit copies, in which what a register holds before the loop has a name of its own. Compilers count in
 * the register of a thread's number, as in `for (i = t; i < n; i += 32)`, once nothing else reads it. What lanes copy
 * to it when they leave is different in each; where no lane can have left yet, it is still the thread's number, from
 * which addresses follow for all lanes at once.
 */
export function withNamesBeforeLoops(code: PreparedCode): PreparedCode {
  const { ir, instructions, graph, liveness, edgeCopies } = code;
  // Parts of a byte file are read and written in ways that registers are not.
  if (ir.file !== undefined) return code;
  const copied = new Set<number>();
  for (const i of edgeCopies) {
    for (const to of instructions[i]!.dst) if (typeof to === "number") copied.add(to);
  }
  for (const r of liveness.acrossLanes) copied.delete(r);
  if (copied.size === 0) return code;
  const lines = new BlockLines(code);
  const writers = new SoleWriters(graph, instructions, copied);
  /** By the only instruction that can have written what others read: the register that has this alone. */
  const names = new Map<number, number>();
  const nameOf = (writer: number | null): number | null => (writer === null ? null : (names.get(writer) ?? null));
  for (const block of graph.blocks) {
    writers.walk(block, (i, writerOf) => {
      readsOf(instructions[i]!, {
        register: (r) => {
          const writer = writerOf(r);
          if (writer === null || names.has(writer) || !givesOneValue(code, writer)) return;
          names.set(writer, lines.registerLike(r));
        },
      });
    });
  }
  if (names.size === 0) return code;
  for (const block of graph.blocks) {
    const all: Line[] = [];
    writers.walk(block, (i, writerOf) => {
      const line = lines.blocks[block.index]![i - block.start]!;
      const name = nameOf(i);
      const read = (r: number): number => nameOf(writerOf(r)) ?? r;
      line.instruction = renaming(read, (r) => name ?? r)(line.instruction);
      all.push(line);
      if (name === null) return;
      const [register] = instructions[i]!.dst as readonly number[];
      all.push({ ...line, instruction: lines.move(line.instruction, null, name, register!) });
    });
    lines.blocks[block.index] = all;
  }
  return lines.result();
}

/** Whether an instruction, which is no copy for lanes that leave a loop, writes one register. */
function givesOneValue({ instructions, edgeCopies }: PreparedCode, instruction: number): boolean {
  const { op, dst } = instructions[instruction]!;
  return !edgeCopies.has(instruction) && (op.kind === "pure" || op.kind === "load") && dst.length === 1;
}
