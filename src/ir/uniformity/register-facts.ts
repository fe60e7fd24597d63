import { registersIn } from "../module.ts";
import { bind, bitsOf } from "../../semantics/bind.ts";
import type { Expr } from "../../semantics/index.ts";
import { isCall } from "../calls.ts";
import { writesOf } from "../flow/accesses.ts";
import { propagateConstants } from "../flow/constants.ts";
import { flowGraphOf } from "../flow/flow-graph.ts";
import { livenessOf, resultsOf } from "../flow/liveness.ts";
import type { Instruction, IrFunction } from "../index.ts";
import { mapOperands } from "../operands.ts";
import type { LeafShapes } from "./lane-question.ts";
import { affine, type Shape, uniform, vector } from "./shape.ts";
import type { Surroundings } from "./surroundings.ts";
import { type AnalysedCode, Uniformity } from "./uniformity.ts";

/**
 * How a register varies over the lanes of a warp, whatever the launch.
 *
 * - `constant`: it holds nothing but these bits.
 * - `uniform`: all lanes have the same value. `inRow`: only lanes in one row of the block do.
 * - `stride`: from lane to lane along a row of the block it grows by so much. `wraps`: unless a 32-bit index of which
 *   it is a multiple leaves its range in between.
 * - `varies`: nothing of this kind is known.
 */
export type RegisterFact =
  | { readonly kind: "constant"; readonly bits: bigint }
  | { readonly kind: "uniform"; readonly inRow: boolean }
  | { readonly kind: "stride"; readonly stride: number; readonly wraps: boolean }
  | { readonly kind: "varies" };

/** Registers that a function does not only write itself, besides its parameters. */
export interface GivenRegisters {
  /** Those that hold the number of the thread in its block, by dimension. */
  readonly threadNumbers: ReadonlyMap<number, "x" | "y" | "z">;
  /** Registers that hold anything, as do those that functions write that are called. */
  readonly others: readonly number[];
}

const nothingGiven: GivenRegisters = { threadNumbers: new Map(), others: [] };

/** Tells how the registers of a function vary over the lanes of a warp, which has `lanes` lanes. */
export function registerFacts(
  ir: IrFunction,
  given: GivenRegisters = nothingGiven,
  lanes = 32,
): (register: number) => RegisterFact {
  // An empty body has no blocks that could be analysed.
  if (ir.instructions.length === 0) return () => ({ kind: "varies" });
  const outside = [...registersIn(ir.params), ...given.threadNumbers.keys(), ...given.others];
  const { code, constants } = analysedCode(ir, outside);
  const around = { ...surroundingsOf(ir, code), lanes };
  const params = new Map(outside.map((r): [number, Shape] => [r, vector]));
  const anywhere = new Uniformity(code, { ...around, params, special: specialAnywhere });
  const numbers = [...given.threadNumbers].map(([r, along]): [number, Shape] => [
    r,
    along === "x" ? affine(1) : uniform,
  ]);
  const inRow = new Uniformity(code, { ...around, params: new Map([...params, ...numbers]), special: specialInRow });
  return (register) => {
    const constant = constants.get(register);
    if (constant !== undefined) return { kind: "constant", bits: bitsIn(constant, ir.registers[register]!.bits) };
    if (anywhere.register(register).kind === "uniform") return { kind: "uniform", inRow: false };
    return factOf(inRow.register(register));
  };
}

function factOf(shape: Shape): RegisterFact {
  if (shape.kind === "uniform") return { kind: "uniform", inRow: true };
  if (shape.kind === "affine") return { kind: "stride", stride: shape.stride, wraps: false };
  return shape.kind === "indexed" && shape.stride !== null
    ? { kind: "stride", stride: shape.stride * shape.scale, wraps: true }
    : { kind: "varies" };
}

function bitsIn(expr: Expr, bits: number): bigint {
  const value = expr.kind === "const" ? expr.value : 0;
  return BigInt.asUintN(Math.max(bits, 1), BigInt(value));
}

/** Thread numbers where nothing is known of the block: lanes of a warp may be in several rows. */
const specialAnywhere: LeafShapes["special"] = ({ name }) =>
  name === "laneid" ? affine(1) : name.startsWith("tid.") || name.startsWith("lanemask_") ? vector : uniform;

/** Thread numbers of lanes in one row of a block. */
const specialInRow: LeafShapes["special"] = (leaf) =>
  leaf.name === "tid.x" ? affine(1) : leaf.name.startsWith("tid.") ? uniform : specialAnywhere(leaf);

/** Operations after which lanes go on at different times. */
const mayWait = ({ op }: Instruction): boolean =>
  op.kind === "barrier" || op.kind === "cluster-barrier" || op.kind === "sleep" || isCall(op);

/** `outside`: registers that are written outside the function too. */
function analysedCode(
  ir: IrFunction,
  outside: readonly number[],
): { readonly code: AnalysedCode; readonly constants: ReadonlyMap<number, Expr> } {
  const { registers } = ir;
  const memo = new Map<Expr, Expr>();
  const bound = ir.instructions.map((instruction) => mapOperands(instruction, (expr) => bitsOf(bind(expr, {}, memo))));
  const graph = flowGraphOf(bound, {
    endsBlock: mayWait,
    beginsBlock: ({ op }) => op.kind === "warp" && op.mask !== null,
  });
  const returned = resultsOf(ir);
  const read = livenessOf({ instructions: bound, registers }, graph, returned).liveIn(0);
  const writes = new Uint32Array(registers.length);
  for (const instruction of bound)
    writesOf(instruction, (r) => {
      writes[r]!++;
    });
  for (const r of outside) writes[r]!++;
  const once = (r: number): boolean => writes[r] === 1 && !read.has(r);
  const { instructions, constants } = propagateConstants(registers, bound, {}, once);
  const liveness = livenessOf({ instructions, registers }, graph, returned);
  return { code: { ir, instructions, graph, liveness }, constants };
}

/** The most careful assumptions about callers, callees and waits. */
function surroundingsOf(
  ir: IrFunction,
  { graph, instructions }: AnalysedCode,
): Omit<Surroundings, "special" | "params" | "lanes"> {
  const waitsIn = graph.blocks.map(({ end }) => mayWait(instructions[end - 1]!));
  const callsIn = graph.blocks.map(({ end }) => isCall(instructions[end - 1]!.op));
  const calls = callsIn.includes(true);
  return {
    full: true,
    stalls: (block) => callsIn[block] === true || graph.blocks[block]!.predecessors.some((b) => waitsIn[b] === true),
    returnsPartially: (block) => callsIn[block] === true,
    exitsInCallee: (block) => callsIn[block] === true,
    separatesExits: ir.kind === "function",
    stacks: ir.kind === "function" || ir.frame.length > 0 || calls,
    enlistsLanes: calls,
    asksTogether: false,
  };
}
