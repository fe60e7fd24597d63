import { type Expr, mapChanged } from "../semantics/index.ts";
import type { Argument, CallTarget, Instruction, Op, UndefinedCase, WarpOp } from "./instruction.ts";

type MapExpr = (expr: Expr) => Expr;

const opt = <T, U>(value: T | undefined, f: (value: T) => U): U | undefined =>
  value === undefined ? undefined : f(value);

/** The instruction with each of the expressions that it reads replaced; what it writes stays. The same object where nothing changes. */
export function mapOperands(instruction: Instruction, f: MapExpr): Instruction {
  const op = mapOp(instruction.op, f);
  const undefinedCases = mapChanged(instruction.undefinedCases, (u) => mapCase(u, f));
  const isSame = op === instruction.op && undefinedCases === instruction.undefinedCases;
  return isSame ? instruction : { ...instruction, op, undefinedCases };
}

function mapCase(undefinedCase: UndefinedCase, f: MapExpr): UndefinedCase {
  const when = f(undefinedCase.when);
  return when === undefinedCase.when ? undefinedCase : { ...undefinedCase, when };
}

function mapOp(op: Op, f: MapExpr): Op {
  switch (op.kind) {
    case "pure": {
      const values = mapChanged(op.values, f);
      return values === op.values ? op : { ...op, values };
    }
    case "load":
    case "store":
    case "atomic":
      return mapMemory(op, f);
    case "warp":
      return { ...op, mask: op.mask && f(op.mask), warp: mapWarp(op.warp, f) };
    case "barrier":
      return {
        ...op,
        id: f(op.id),
        count: op.count && f(op.count),
        reduce: op.reduce && { ...op.reduce, a: f(op.reduce.a) },
      };
    case "branch-indexed":
      return { ...op, index: f(op.index) };
    case "call":
      return { ...op, target: mapTarget(op.target, f), args: op.args.map((arg) => mapArgument(arg, f)) };
    case "file-call":
      return op.target.kind === "direct" ? op : { ...op, target: { ...op.target, address: f(op.target.address) } };
    case "alloca":
      return { ...op, size: f(op.size) };
    case "stack-restore":
      return { ...op, value: f(op.value) };
    case "sleep":
      return { ...op, nanoseconds: f(op.nanoseconds) };
    default:
      return op;
  }
}

function mapMemory(op: Extract<Op, { kind: "load" | "store" | "atomic" }>, f: MapExpr): Op {
  const surface = opt(op.surface, f);
  const place = { address: f(op.address), ...(surface === undefined ? {} : { surface }) };
  if (op.kind === "load") return { ...op, ...place };
  if (op.kind === "store") return { ...op, ...place, values: op.values.map((v) => v && f(v)) };
  return { ...op, ...place, combine: op.combine.map(f) };
}

function mapWarp(op: WarpOp, f: MapExpr): WarpOp {
  switch (op.op) {
    case "shfl":
      return { ...op, a: f(op.a), b: f(op.b), c: f(op.c) };
    case "vote":
    case "match":
      return { ...op, a: f(op.a) };
    case "redux":
      return { ...op, a: f(op.a), combine: f(op.combine) };
    default:
      return op;
  }
}

const mapTarget = (target: CallTarget, f: MapExpr): CallTarget =>
  target.kind === "direct" ? target : { ...target, address: f(target.address) };

function mapArgument(arg: Argument, f: MapExpr): Argument {
  switch (arg.kind) {
    case "value":
      return { ...arg, value: f(arg.value) };
    case "pair":
      return { ...arg, low: f(arg.low), high: f(arg.high) };
    case "vector":
      return { ...arg, elements: arg.elements.map(f) };
    case "frame":
      return arg;
  }
}
