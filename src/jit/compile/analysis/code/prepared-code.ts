import { registersIn } from "../../../../ir/module.ts";
import { writesOf } from "../../../../ir/flow/accesses.ts";
import { propagateConstants } from "../../../../ir/flow/constants.ts";
import { type FlowGraph, flowGraphOf, type FlowOptions } from "../../../../ir/flow/flow-graph.ts";
import { type FlowCode, type Liveness, livenessOf, resultsOf } from "../../../../ir/flow/liveness.ts";
import { withWebs } from "../../../../ir/flow/webs.ts";
import type { Instruction, IrFunction, Register } from "../../../../ir/index.ts";
import { mapOperands } from "../../../../ir/operands.ts";
import { bind, type Bindings, bitsOf } from "../../../../semantics/bind.ts";
import type { Expr } from "../../../../semantics/index.ts";
import { withChosenAddresses } from "./chosen-addresses.ts";
import { withoutCopies } from "./copies.ts";
import { addsForDisjointOrs } from "./disjoint-or.ts";
import { predicatesForFlags } from "./flag-registers.ts";
import { comparisonsForGuards } from "./guard-comparisons.ts";
import { guardsOfNegations } from "./negated-guards.ts";
import { conditionsForNumbers } from "./predicate-values.ts";
import { withRerolledLoops } from "./rerolled-loops.ts";
import type { SourceCode } from "./source-code.ts";
import { withoutThreadSigns } from "./thread-signs.ts";
import { withoutUnreached } from "./unreached-code.ts";

/** A function with bound expressions, propagated constants and split registers, and the analyses of its flow. */
export interface PreparedCode {
  readonly ir: IrFunction;
  readonly instructions: readonly Instruction[];
  readonly graph: FlowGraph;
  /** Further places at which blocks of the graph begin or end. */
  readonly flow: FlowOptions;
  readonly liveness: Liveness;
  /** By register, the number of instructions that write it. */
  readonly writes: Uint32Array;
  /** By instruction, its number in the function that reports name. */
  readonly origins: readonly number[];
  /** Copies for the lanes that take the branch after them. */
  readonly edgeCopies: ReadonlySet<number>;
  /** Loops have become others, whose instructions stand for several (`rerolled-loops.ts`). */
  readonly isRerolled: boolean;
}

export interface Preparation {
  /** Further instructions that end a block. */
  readonly endsBlock: (instruction: Instruction) => boolean;
  /** Instructions that are a block by themselves. */
  readonly isAlone?: (instruction: Instruction) => boolean;
  /** Whether registers are split into webs, so that each holds related values. */
  readonly separates: boolean;
  /** Whether expressions are put into the forms from which code is written. */
  readonly simplifies?: boolean;
}

/** Binds the expressions of a function, propagates constants, and analyses its flow. */
export function prepare(
  source: SourceCode,
  bindings: Bindings,
  { endsBlock, isAlone = () => false, separates, simplifies = true }: Preparation,
): PreparedCode {
  const plain = withoutCopies(source);
  const rerolled = withRerolledLoops(plain);
  const { ir, origins } = withChosenAddresses(rerolled);
  const memo = new Map<Expr, Expr>();
  // Values are moved as bits. Undefined cases matter to observers alone, which need the interpreter.
  const bitsOfBound = (expr: Expr): Expr => bitsOf(bind(expr, bindings, memo));
  const all = ir.instructions.map((i) =>
    mapOperands(i.undefinedCases.length === 0 ? i : { ...i, undefinedCases: [] }, bitsOfBound),
  );
  const flow: Required<FlowOptions> = {
    endsBlock: (i) => endsBlock(i) || isAlone(i),
    beginsBlock: (i) => waitsForLanes(i) || isAlone(i),
  };
  const graph = flowGraphOf(all, flow);
  const asWritten = withoutUnreached(all, graph, flow);
  const returned = resultsOf(ir);
  const before = livenessOf({ instructions: asWritten, registers: ir.registers }, graph, returned);
  const { instructions: bound, registers } = separates
    ? separated(ir, asWritten, graph, before)
    : { instructions: asWritten, registers: ir.registers };
  const writes = new Uint32Array(registers.length);
  const count = (r: number): number => writes[r]!++;
  for (const instruction of bound) writesOf(instruction, count);
  for (const { storage } of ir.params) if (storage.kind === "register") for (const r of storage.registers) writes[r]!++;
  const read = before.liveIn(0);
  const once = (r: number): boolean => writes[r] === 1 && !read.has(r);
  const isWhole = ({ class: c, bits }: Register): boolean => c === "pred" || bits >= 32;
  const isValue = (r: number): boolean => once(r) && isWhole(registers[r]!) && !returned.includes(r);
  const signed = ir.file === undefined ? withoutThreadSigns(bound, isValue, bindings.indexed ?? false) : bound;
  const known = propagateConstants(registers, signed, bindings, once).instructions;
  const summed = simplifies ? addsForDisjointOrs(known, once) : known;
  const withPredicates = (code: readonly Instruction[]): FlowCode => {
    const passed = passedRegisters(ir);
    const isKnown = (r: number): boolean => passed.has(r) || returned.includes(r) || before.acrossLanes.has(r);
    const flagged = predicatesForFlags({ instructions: conditionsForNumbers(code, isValue), registers }, isKnown);
    const guarded = guardsOfNegations(flagged.instructions, graph, isValue);
    return { ...flagged, instructions: comparisonsForGuards(guarded, isValue) };
  };
  // In a byte file others see what a register holds.
  const { instructions, registers: kept } =
    simplifies && ir.file === undefined ? withPredicates(summed) : { instructions: summed, registers };
  return {
    ir: { ...ir, registers: kept },
    instructions,
    graph,
    flow,
    writes,
    origins: origins ?? instructions.map((_, i) => i),
    edgeCopies: new Set(),
    isRerolled: rerolled !== plain,
    liveness: livenessOf({ instructions, registers: kept }, graph, returned),
  };
}

/**
 * The code with registers split into webs. Registers of vISA stand for parts of a file that routines share, and are
 * left alone.
 */
function separated(
  ir: IrFunction,
  instructions: readonly Instruction[],
  graph: FlowGraph,
  liveness: Liveness,
): FlowCode {
  const code = { instructions, registers: ir.registers };
  if (ir.file !== undefined) return code;
  return withWebs(code, graph, liveness, { fixed: [...passedRegisters(ir)], returned: resultsOf(ir) });
}

/** The registers of parameters and results. */
const passedRegisters = ({ params, returns }: IrFunction): ReadonlySet<number> =>
  new Set(registersIn([...params, ...returns]));

/** Whether lanes may wait at an instruction for others of their warp. */
const waitsForLanes = ({ op }: Instruction): boolean => op.kind === "warp" && op.mask !== null;
