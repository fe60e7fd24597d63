import { LoadedFunction } from "../../interpreter/compile/loaded-function.ts";
import { Operands } from "../../interpreter/compile/operand.ts";
import type { ProgramContext } from "../../interpreter/compile/program-context.ts";
import type { Slot } from "../../interpreter/compile/register-file.ts";
import { decodeWarpOp, type WarpCode } from "../../interpreter/ops/warp-ops.ts";
import type { Instruction, IrFunction, Register, RegisterClass, WarpOp } from "../../ir/index.ts";
import { Activation } from "../../machine/state/activation.ts";
import type { Site } from "../../machine/state/code.ts";
import { bind, bitsOf } from "../../semantics/bind.ts";
import type { Expr, Ty } from "../../semantics/index.ts";
import { warpWait } from "../abi/warp-wait-layout.ts";

/** A warp's memory, as an action reads and writes it. */
interface LaneWords {
  lane(at: number, lane: number): number;
  setLane(at: number, lane: number, value: number): void;
}

/**
 * A warp-wide operation that the interpreter performs on operands which lanes have left in memory: an instruction of
 * its own, whose operands and results are registers.
 */
export class WarpAction {
  readonly #code: WarpCode;
  readonly #activation: Activation;

  constructor({ instruction, code }: Site, engine: ProgramContext) {
    const { op } = instruction;
    if (op.kind !== "warp") throw new Error(`${op.kind} is no warp-wide operation`);
    const registers: Register[] = [];
    const register = (ty: Ty): number => registers.push(registerOf(ty)) - 1;
    const operand = (expr: Expr): Expr => {
      const { ty } = bitsOf(bind(expr, engine.bindings));
      const bits: Ty = ty === "f32" ? "i32" : ty === "f64" ? "i64" : ty;
      return { kind: "reg", ty: bits, reg: register(bits) };
    };
    const warp = withOperands(op.warp, operand);
    const dst = instruction.dst.map((to) => {
      if (typeof to !== "number") return null;
      const { class: c } = code.ir.registers[to]!;
      return register(c === "pred" ? "pred" : c === "b64" ? "i64" : "i32");
    });
    const own: Instruction = { ...instruction, guard: null, op: { ...op, mask: null, warp }, dst };
    const ir: IrFunction = {
      ...code.ir,
      kind: "function",
      registers,
      instructions: [],
      params: [],
      returns: [],
      frame: [],
    };
    const loaded = new LoadedFunction(ir, 0, engine);
    const operands = new Operands(loaded.context, engine.bindings, engine.compiler, null);
    const site: Site = { code: loaded, index: 0, instruction: own };
    const guard = { guard: -1, flip: 0, rule: null } as const;
    this.#code = decodeWarpOp({ engine, code: loaded, site, guard, operands, ...operands.results(own) }, warp);
    this.#activation = new Activation(loaded);
  }

  /** Performs the operation for all lanes of a mask together. */
  perform(words: LaneWords, lanes: number): void {
    const x = this.#activation;
    const { a, b, c, to } = this.#code;
    take(x, a, words, warpWait.a, lanes);
    take(x, b, words, warpWait.b, lanes);
    take(x, c, words, warpWait.c, lanes);
    this.#code.act([{ x, mask: lanes, code: this.#code }], lanes);
    give(x, to[0] ?? null, words, warpWait.first, lanes);
    give(x, to[1] ?? null, words, warpWait.second, lanes);
  }
}

const classes: Readonly<Record<Ty, RegisterClass>> = { pred: "pred", i32: "b32", f32: "b32", i64: "b64", f64: "b64" };

function registerOf(ty: Ty): Register {
  const c = classes[ty];
  return { name: "", class: c, bits: c === "pred" ? 1 : c === "b32" ? 32 : 64 };
}

function withOperands(warp: WarpOp, operand: (expr: Expr) => Expr): WarpOp {
  switch (warp.op) {
    case "shfl":
      return { ...warp, a: operand(warp.a), b: operand(warp.b), c: operand(warp.c) };
    case "vote":
    case "match":
    case "redux":
      return { ...warp, a: operand(warp.a) };
    default:
      return warp;
  }
}

/** Copies what lanes have left in memory to a register. */
function take(x: Activation, slot: Slot | null, words: LaneWords, at: number, lanes: number): void {
  if (slot === null) return;
  for (let lane = 0; lane < 32; lane++) {
    if ((lanes & (1 << lane)) === 0) continue;
    if (slot.class === "b64") {
      x.i32[2 * (slot.base + lane)] = words.lane(at, 2 * lane);
      x.i32[2 * (slot.base + lane) + 1] = words.lane(at, 2 * lane + 1);
    } else if (slot.class === "b32") x.i32[slot.base + lane] = words.lane(at, lane);
    else x.i32[slot.base] = (x.i32[slot.base]! & ~(1 << lane)) | (words.lane(at, lane) & (1 << lane));
  }
}

/** Copies a register to memory, where the lanes find their results. */
function give(x: Activation, slot: Slot | null, words: LaneWords, at: number, lanes: number): void {
  if (slot === null) return;
  for (let lane = 0; lane < 32; lane++) {
    if ((lanes & (1 << lane)) === 0) continue;
    const value = slot.class === "pred" ? -((x.i32[slot.base]! >>> lane) & 1) : x.i32[slot.base + lane]!;
    words.setLane(at, lane, value);
  }
}
