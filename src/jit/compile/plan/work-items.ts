import { registersIn } from "../../../ir/module.ts";
import {
  asWorkItems,
  divergenceOf,
  postDominatorsOf,
  type RoutineCalls,
  type WorkItemFunction,
  type WorkItemRoutine,
  withoutCallTurns,
} from "../../../ir/flow/index.ts";
import { readsOf, writesOf } from "../../../ir/flow/accesses.ts";
import { readAcross } from "../../../ir/flow/lane-rules.ts";
import type { IrFunction, WorkItemModel } from "../../../ir/index.ts";
import type { Bindings } from "../../../semantics/bind.ts";
import { anyShape } from "../../abi/launch-shape.ts";
import { prepare, type PreparedCode } from "../analysis/code/prepared-code.ts";
import { specialShape } from "../analysis/values/special-registers.ts";
import { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import { BlockUniform } from "../analysis/values/block-uniform.ts";

/**
 * A vISA kernel and the functions that it may call as its work items execute them, for threads of `width` lanes,
 * compiled like code of PTX; null where the thread around them makes a difference.
 */
export function workItemForms(
  kernel: IrFunction,
  calls: RoutineCalls,
  { width, model }: { readonly width: number; readonly model: WorkItemModel },
  bindings: Bindings,
): ReadonlyMap<IrFunction, WorkItemFunction> | null {
  const found = asWorkItems(kernel, calls, width, model);
  if (found === null) return null;
  for (const form of found.values()) {
    // Registers are left as the thread has them: each is one for all that is written to it.
    const source = { ir: form.ir, origins: null };
    const code = prepare(source, bindings, { endsBlock: () => false, separates: false, simplifies: false });
    if (!isSeparable(code, form)) return null;
  }
  return new Map([...found].map(([f, form]) => [f, { ...form, ir: withoutCallTurns(form.ir, width) }]));
}

/** Whether lanes that go different ways leave each other alone, and all of them come to barriers. */
function isSeparable(code: PreparedCode, routine: WorkItemRoutine): boolean {
  const { forAllLanes, together } = routine;
  const quads = 8;
  const shape = { ...anyShape(quads), full: true };
  const analysis = new UniformityAnalysis(code, {
    special: (leaf) => specialShape(leaf, shape),
    params: new Map(registersIn(code.ir.params).map((r) => [r, { kind: "vector" }])),
    full: true,
    stalls: () => false,
    returnsPartially: () => false,
    exitsInCallee: () => false,
    separatesExits: false,
    stacks: false,
    enlistsLanes: false,
    asksTogether: false,
    lanes: 4 * quads,
  });
  const { graph, instructions, origins } = code;
  // Where lanes go to end, they wait for each other, too.
  const all = divergenceOf(
    graph,
    { divergent: analysis.isDivergent },
    graph.blocks.map(() => false),
  );
  const passing = passingRegisters(code);
  const missing = missedByAbsent(code, routine, (block) => all.waiting(block).size > 0);
  if (missing === null || missing.some((r) => !passing.has(r))) return false;
  for (const { index, start, end } of graph.blocks) {
    for (let i = start; i < end; i++) {
      const origin = origins[i]!;
      if (together.has(origin) && all.waiting(index).size > 0) return false;
      if (!forAllLanes.has(origin)) continue;
      let isMissed = false;
      writesOf(instructions[i]!, (r) => {
        isMissed ||= !passing.has(r) && analysis.merges(index, r);
      });
      if (isMissed) return false;
    }
  }
  return !instructions.some(({ op }) => op.kind === "barrier") || allComeToBarriers(code);
}

/**
 * The registers that instructions for lanes which may be elsewhere write, and whose values in such lanes are wrong: the
 * thread computed what they come from once for all lanes, and each work item that is there does so for itself. Null if
 * such lanes access memory by one. `isApart`: whether lanes may be elsewhere while others are in a block.
 */
function missedByAbsent(
  { graph, instructions, origins }: PreparedCode,
  { forAbsentLanes, shared }: WorkItemRoutine,
  isApart: (block: number) => boolean,
): readonly number[] | null {
  const wrong = new Set<number>();
  for (const { index, start, end } of graph.blocks) {
    if (!isApart(index)) continue;
    for (let i = start; i < end; i++) {
      writesOf(instructions[i]!, (r) => {
        if (shared.has(r)) wrong.add(r);
      });
    }
  }
  const written = new Set<number>();
  const ofAbsent = instructions.filter((_, i) => forAbsentLanes.has(origins[i]!));
  for (let changed = true; changed; ) {
    changed = false;
    for (const instruction of ofAbsent) {
      let isWrong = false;
      readsOf(instruction, {
        register: (r) => {
          isWrong ||= wrong.has(r);
        },
      });
      if (!isWrong) continue;
      if (instruction.op.kind !== "pure" && instruction.op.kind !== "warp") return null;
      writesOf(instruction, (r) => {
        changed ||= !wrong.has(r);
        wrong.add(r);
        // What all active lanes share, the others read by instructions of this kind alone.
        if (!shared.has(r)) written.add(r);
      });
    }
  }
  return [...written];
}

/**
 * The registers that are read only after they have been written in the same block, and by no other lane: whoever comes
 * to read one writes it first.
 */
function passingRegisters({ graph, instructions, ir }: PreparedCode): ReadonlySet<number> {
  /** By register, the block in which it is accessed, and the one in which it was last written, each plus 1. */
  const blocks = new Int32Array(ir.registers.length);
  const written = new Int32Array(ir.registers.length);
  const kept = new Uint8Array(ir.registers.length);
  let at = 0;
  const note = (r: number): void => {
    if (blocks[r] !== 0 && blocks[r] !== at) kept[r] = 1;
    blocks[r] = at;
  };
  const visitor = {
    register: (r: number): void => {
      note(r);
      if (written[r] !== at) kept[r] = 1;
    },
  };
  for (const { index, start, end } of graph.blocks) {
    at = index + 1;
    for (let i = start; i < end; i++) {
      const instruction = instructions[i]!;
      readsOf(instruction, visitor);
      for (const r of readAcross(instruction)) kept[r] = 1;
      writesOf(instruction, (r) => {
        note(r);
        if (instruction.guard === null) written[r] = at;
      });
    }
  }
  return new Set(ir.registers.flatMap((_, r) => (kept[r] === 1 ? [] : [r])));
}

/**
 * Whether all threads of a block come to the same barriers, whatever way they go: the ways part only where all threads
 * of the block agree, or come together again before any barrier or end.
 */
function allComeToBarriers(code: PreparedCode): boolean {
  const { graph, instructions } = code;
  const uniform = new BlockUniform(code);
  const meeting = postDominatorsOf(graph);
  const isFatal = (block: number): boolean => {
    const { start, end } = graph.blocks[block]!;
    return instructions.slice(start, end).some(({ op }) => op.kind === "barrier" || op.kind === "return");
  };
  return graph.blocks.every(({ index, successors }) => {
    if (successors.length < 2 || uniform.decides(index)) return true;
    const seen = new Set<number>();
    const todo = successors.filter((s) => s !== meeting[index]);
    for (let b = todo.pop(); b !== undefined; b = todo.pop()) {
      if (seen.has(b)) continue;
      seen.add(b);
      if (b >= graph.blocks.length || isFatal(b)) return false;
      for (const s of graph.blocks[b]!.successors) if (s !== meeting[index]) todo.push(s);
    }
    return true;
  });
}
