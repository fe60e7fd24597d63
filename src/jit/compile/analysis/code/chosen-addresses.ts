import { operandsOf, registersWritten, writersIn } from "../../../../ir/flow/accesses.ts";
import { postDominatorsOf } from "../../../../ir/flow/dominance.ts";
import { type FlowGraph, flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { type Liveness, livenessOf, resultsOf } from "../../../../ir/flow/liveness.ts";
import {
  accessesOf,
  type Guard,
  type Instruction,
  type IrFunction,
  laneAddressOf,
  type Register,
} from "../../../../ir/index.ts";
import { renaming } from "../../../../ir/rename-registers.ts";
import { type Expr, kit } from "../../../../semantics/index.ts";
import { type SourceCode, withReplaced } from "./source-code.ts";

/** The most instructions between a branch and the place where its ways meet: all lanes execute all of them. */
const maxInstructions = 16;

/** The most operations of one of them. */
const maxOperations = 4;

/** The most registers that a branch may choose. */
const maxChosen = 4;

/** Operations that take longer than a branch does. */
const isSlow = /\.(div|rem|sqrt|fma|call)/;

/**
 * The code with choices in place of branches that do nothing but choose between addresses of 32 bits, or indices:
 * `if (x == 15) p = a + 60; else p = b + 4 * x; *p` has `p = x == 15 ? a + 60 : b + 4 * x`. Compilers make such
 * branches where programs read their neighbours' elements, or those at a border. What a register holds that is written
 * in one place other analyses can tell: where threads' addresses lie, or that they follow each other.
 */
export function withChosenAddresses(code: SourceCode): SourceCode {
  if (code.ir.file !== undefined || !code.ir.instructions.some((_, i) => mayChoose(code.ir.instructions, i)))
    return code;
  const choices = new Choices(code.ir);
  const replaced = choices.find();
  if (replaced.size === 0) return code;
  const { ir, origins } = withReplaced(code, (instruction, i) => replaced.get(i) ?? [instruction]);
  return { ir: { ...ir, registers: choices.registers }, origins };
}

/** Whether an instruction is a branch past a few that only compute. */
function mayChoose(instructions: readonly Instruction[], at: number): boolean {
  const { op, guard } = instructions[at]!;
  if (op.kind !== "branch" || guard === null || op.target <= at || op.target > at + 2 * maxInstructions) return false;
  for (let i = at + 1; i < op.target; i++) {
    const { kind } = instructions[i]!.op;
    if (kind !== "branch" && kind !== "pure") return false;
  }
  return true;
}

/** Registers that others stand for on a way through the code, since it has written them. */
type Renamed = ReadonlyMap<number, number>;

/** All that lanes execute between a block and another, whichever way they go. */
interface Way {
  readonly instructions: readonly Instruction[];
  readonly renamed: Renamed;
}

class Choices {
  /** The registers of the function, and further ones. */
  readonly registers: Register[];
  readonly #instructions: readonly Instruction[];
  readonly #graph: FlowGraph;
  readonly #liveness: Liveness;
  /** By block, its join: the first block to which all ways from it lead. */
  readonly #joins: Int32Array;
  /** The registers of which addresses are computed. */
  readonly #addresses: ReadonlySet<number>;
  /** The blocks on the ways from the branch that is being converted to its join, and the instructions in them. */
  #inner = new Set<number>();
  #size = 0;

  constructor(ir: IrFunction) {
    this.registers = [...ir.registers];
    this.#instructions = ir.instructions;
    this.#graph = flowGraphOf(ir.instructions);
    this.#liveness = livenessOf(ir, this.#graph, resultsOf(ir));
    this.#joins = postDominatorsOf(this.#graph);
    this.#addresses = addressRegisters(ir.instructions);
  }

  /** By instruction, what takes its place. */
  find(): ReadonlyMap<number, readonly Instruction[]> {
    const replaced = new Map<number, readonly Instruction[]>();
    const { blocks } = this.#graph;
    for (const { index, end } of blocks) {
      const last = end - 1;
      const count = this.registers.length;
      const found = replaced.has(last) || !mayChoose(this.#instructions, last) ? null : this.#chosenAt(index);
      if (found === null) {
        this.registers.length = count;
        continue;
      }
      for (const inner of this.#inner) {
        for (let i = blocks[inner]!.start; i < blocks[inner]!.end; i++) replaced.set(i, []);
      }
      replaced.set(last, found);
    }
    return replaced;
  }

  /** What takes the place of the branch at the end of a block; null if it does not only choose addresses. */
  #chosenAt(index: number): readonly Instruction[] | null {
    const { blocks } = this.#graph;
    const join = this.#joins[index]!;
    if (join >= blocks.length) return null;
    this.#inner = new Set();
    this.#size = 0;
    const way = this.#branched(index, join, new Map());
    if (way === null || this.#inner.has(join) || !this.#isClosed(index)) return null;
    const chosen = [...way.renamed].filter(([r]) => this.#liveness.liveIn(join).has(r));
    if (chosen.length > maxChosen || !chosen.some(([r]) => this.#addresses.has(r))) return null;
    const branch = this.#instructions[blocks[index]!.end - 1]!;
    const copies = chosen.map(([r, from]) => computed(branch, r, wordIn(from, this.registers[from]!)!));
    const jump: Instruction = {
      ...branch,
      op: { kind: "branch", target: blocks[join]!.start, uniform: true },
      guard: null,
    };
    return [...way.instructions, ...copies, jump];
  }

  /** Whether lanes come to the blocks that have been passed from the branch alone. */
  #isClosed(from: number): boolean {
    return [...this.#inner].every((block) =>
      this.#graph.blocks[block]!.predecessors.every((p) => p === from || this.#inner.has(p)),
    );
  }

  /** Both ways from the end of a block to its join, and the choices between what they leave in registers. */
  #branched(index: number, join: number, renamed: Renamed): Way | null {
    const { end, successors } = this.#graph.blocks[index]!;
    const branch = this.#instructions[end - 1]!;
    const { guard, op } = branch;
    if (op.kind !== "branch" || guard === null || guard.collapse !== undefined || successors.length !== 2) return null;
    const taken = this.#way(this.#graph.blockAt(op.target), join, renamed);
    const passed = taken && this.#way(this.#graph.blockAt(end), join, renamed);
    if (taken === null || passed === null) return null;
    const condition = conditionOf(guard, renamed);
    const instructions = [...taken.instructions, ...passed.instructions];
    const joined = new Map(renamed);
    for (const r of new Set([...taken.renamed.keys(), ...passed.renamed.keys()])) {
      const [yes, no] = [taken.renamed.get(r) ?? r, passed.renamed.get(r) ?? r];
      if (yes === no || !this.#liveness.liveIn(join).has(r)) continue;
      const [a, b] = [wordIn(yes, this.registers[yes]!), wordIn(no, this.registers[no]!)];
      if (a === null || b === null || this.#liveness.acrossLanes.has(r)) return null;
      const to = this.#fresh(r);
      instructions.push(computed(branch, to, kit.select(condition, a, b)));
      joined.set(r, to);
    }
    return { instructions, renamed: joined };
  }

  /** The way from the beginning of a block to that of another, on which lanes only compute; null for others. */
  #way(from: number, to: number, before: Renamed): Way | null {
    const instructions: Instruction[] = [];
    let renamed = before;
    for (let at = from; at !== to; ) {
      const block = this.#graph.blocks[at];
      if (block === undefined || this.#inner.has(at)) return null;
      this.#inner.add(at);
      for (let i = block.start; i < block.end; i++) {
        const instruction = this.#instructions[i]!;
        if (instruction.op.kind === "branch") continue;
        const copy = this.#copied(instruction, renamed);
        if (copy === null) return null;
        instructions.push(copy.instruction);
        renamed = copy.renamed;
      }
      const last = this.#instructions[block.end - 1]!;
      if (last.op.kind === "branch" && last.guard !== null) {
        const join = this.#joins[at]!;
        const way = join >= this.#graph.blocks.length ? null : this.#branched(at, join, renamed);
        if (way === null) return null;
        instructions.push(...way.instructions);
        renamed = way.renamed;
        at = join;
      } else at = block.successors[0]!;
    }
    return { instructions, renamed };
  }

  /** An instruction that writes registers of its own; null for those that do more, or take long. */
  #copied(
    instruction: Instruction,
    before: Renamed,
  ): { readonly instruction: Instruction; readonly renamed: Renamed } | null {
    const { op, guard, lanes, dst } = instruction;
    if (op.kind !== "pure" || guard !== null || lanes !== undefined || ++this.#size > maxInstructions) return null;
    if (dst.some((to) => typeof to !== "number") || op.values.some((value) => !isQuick(value))) return null;
    const renamed = new Map(before);
    for (const r of registersWritten(instruction)) renamed.set(r, this.#fresh(r));
    const rename = renaming(
      (r) => before.get(r) ?? r,
      (r) => renamed.get(r)!,
    );
    return { instruction: { ...rename(instruction), undefinedCases: [] }, renamed };
  }

  #fresh(like: number): number {
    return this.registers.push({ ...this.registers[like]!, name: `choice${this.registers.length}` }) - 1;
  }
}

/** The registers of which addresses are computed, directly or by way of others. */
function addressRegisters(instructions: readonly Instruction[]): ReadonlySet<number> {
  const writers = writersIn(instructions);
  const found = new Set<number>();
  const todo: number[] = [];
  const read = (expr: Expr): void => {
    if (expr.kind === "prim") expr.args.forEach(read);
    else if (expr.kind === "reg" && expr.ty !== "pred") todo.push(expr.reg);
  };
  for (const { op } of instructions) for (const { place } of accessesOf(op)) read(laneAddressOf(place));
  for (let r = todo.pop(); r !== undefined; r = todo.pop()) {
    if (found.has(r)) continue;
    found.add(r);
    for (const { op } of writers.get(r) ?? []) if (op.kind === "pure") operandsOf(op).forEach(read);
  }
  return found;
}

/** An instruction that computes the value of a register, in the place of another. */
const computed = (at: Instruction, register: number, value: Expr): Instruction => ({
  ...at,
  op: { kind: "pure", values: [value] },
  dst: [register],
  guard: null,
  undefinedCases: [],
});

function conditionOf({ register, negate }: Guard, renamed: Renamed): Expr {
  const reg = renamed.get(register) ?? register;
  const value: Expr = { kind: "reg", ty: "pred", reg };
  return negate ? kit.not(value) : value;
}

/**
 * A register of 32 bits as an integer; null for others. Of addresses of 64 bits more is known where branches choose
 * them: registers may be an index and a base, and selections are not.
 */
const wordIn = (reg: number, { class: c, bits, home }: Register): Expr | null =>
  c === "b32" && bits === 32 && home === undefined ? { kind: "reg", ty: "i32", reg } : null;

const isQuick = (expr: Expr): boolean => operationsIn(expr) <= maxOperations;

/** The operations of an expression; more than any limit if one of them is slow. */
function operationsIn(expr: Expr): number {
  if (expr.kind !== "prim") return 0;
  if (isSlow.test(expr.prim)) return Number.POSITIVE_INFINITY;
  return expr.args.reduce((sum, arg) => sum + operationsIn(arg), 1);
}
