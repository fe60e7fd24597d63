import { type Expr, kit } from "../../semantics/index.ts";
import { type Access, atAddress, plainAccess } from "../access.ts";
import type { Argument, Guard, Instruction, Op, Result } from "../instruction.ts";
import type { IrFunction, IrModule, Param, Register } from "../module.ts";
import { retargeted } from "../retarget.ts";
import type { ParamType } from "../signature.ts";
import { type Element, type ElementAccess, elementAccessOf, elementsOf } from "./frame-elements.ts";
import { isScalar, type Passing, passingOf } from "./passing.ts";

type Call = Extract<Op, { kind: "call" }>;

/**
 * Promotes frame variables to registers: those that are accessed in elements which do not overlap, and whose address is
 * not taken. Scalar parameters are always passed in registers; if one has to lie in memory, its function stores it on
 * entry. Frames keep their layout, so that the addresses of the remaining variables do not change.
 */
export function promoteFrames(module: IrModule): IrModule {
  const passing = passingOf(module);
  return {
    ...module,
    functions: module.functions.map((f) =>
      f.external || f.file !== undefined ? f : new Promotion(f, passing, module.addressSize).run(),
    ),
  };
}

/**
 * Promotes the variables of one function. Instructions keep their order; inserted ones take the position of a
 * neighbour.
 */
class Promotion {
  readonly #ir: IrFunction;
  readonly #passing: Passing;
  readonly #addressSize: 32 | 64;
  readonly #registers: Register[];
  /** By variable, the registers of its elements by ascending offset; null for a variable that lies in memory. */
  readonly #places: readonly (ReadonlyMap<number, number> | null)[];
  readonly #out: Instruction[] = [];

  constructor(ir: IrFunction, passing: Passing, addressSize: 32 | 64) {
    this.#ir = ir;
    this.#passing = passing;
    this.#addressSize = addressSize;
    this.#registers = [...ir.registers];
    this.#places = passing.elementsOf(ir).map((elements, v) => elements && this.#split(ir.frame[v]!.name, elements));
  }

  run(): IrFunction {
    const { instructions } = this.#ir;
    const params = this.#ir.params.map((p) => this.#param(p));
    const returns = this.#ir.returns.map((p) => this.#param(p));
    for (const [i, p] of params.entries()) this.#copyFormal("store", this.#ir.params[i]!, p, null);
    const leave = (guard: Guard | null): void => {
      for (const [i, p] of returns.entries()) this.#copyFormal("load", this.#ir.returns[i]!, p, guard);
    };
    /** The new index of each instruction, or of the first one that was inserted before it. */
    const places = new Int32Array(instructions.length + 1);
    instructions.forEach((instruction, i) => {
      places[i] = this.#out.length;
      const { op } = instruction;
      if (op.kind === "return") leave(instruction.guard);
      if (op.kind === "call") this.#call(instruction, op);
      else this.#out.push(this.#plain(instruction));
    });
    places[instructions.length] = this.#out.length;
    leave(null);
    return {
      ...this.#ir,
      params,
      returns,
      registers: this.#registers,
      instructions: this.#out.map((instruction) => retargeted(instruction, (target) => places[target]!)),
    };
  }

  #register(name: string, bits: number): number {
    return this.#registers.push({ name, class: bits === 64 ? "b64" : "b32", bits }) - 1;
  }

  #split(name: string, elements: readonly Element[]): ReadonlyMap<number, number> {
    const nameOf = (offset: number): string => (elements.length === 1 ? name : `${name}+${offset}`);
    return new Map(elements.map(({ offset, bits }) => [offset, this.#register(nameOf(offset), bits)]));
  }

  // ---- Loads and stores

  #plain(instruction: Instruction): Instruction {
    const access = elementAccessOf(instruction, this.#ir);
    const places = access && this.#places[access.variable];
    if (!access || !places) return instruction;
    const registers = elementsOf(access).map(({ offset }) => places.get(offset)!);
    const { dst, values } =
      access.op.kind === "load" ? this.#loaded(access, instruction, registers) : stored(access.op, registers);
    return { ...instruction, op: { kind: "pure", values }, dst };
  }

  #loaded(
    { op: { access } }: ElementAccess,
    { dst }: Instruction,
    from: readonly number[],
  ): { readonly dst: readonly number[]; readonly values: readonly Expr[] } {
    const moves = dst.flatMap((to, i) => (typeof to === "number" ? [{ to, from: from[i]! }] : []));
    return {
      dst: moves.map(({ to }) => to),
      values: moves.map(({ to, from }) => extended(from, access, this.#ir.registers[to]!)),
    };
  }

  // ---- Calls

  #call(instruction: Instruction, op: Call): void {
    const { guard } = instruction;
    const after: Instruction[] = [];
    const args = op.args.map((arg, i) => this.#argument(arg, this.#passing.paramType(op, i), guard, instruction));
    const results = op.results.map((result, i) => {
      const made = this.#result(result, this.#passing.returnType(op, i));
      if (result.kind === "frame" && made.kind === "register" && this.#places[result.variable] === null) {
        after.push(this.#copy("store", result.variable, made.registers[0]!, guard, instruction));
      }
      return made;
    });
    // A result may be the predicate that guards the call.
    if (guard !== null && after.length > 0) this.#keepGuard(guard, after, instruction);
    this.#out.push({ ...instruction, op: { ...op, args, results } }, ...after);
  }

  #argument(arg: Argument, type: ParamType | null, guard: Guard | null, at: Instruction): Argument {
    if (arg.kind !== "frame") return arg;
    const places = this.#places[arg.variable];
    if (places) {
      const elements = [...places.values()].map((r) => leafOf(r, this.#registers[r]!.bits));
      const isOne = type !== null && isScalar(type);
      return isOne ? { kind: "value", value: elements[0]!, bits: arg.size * 8 } : { kind: "vector", elements };
    }
    if (!this.#isCopied(arg, type)) return arg;
    const register = this.#register(this.#ir.frame[arg.variable]!.name, arg.size * 8);
    this.#out.push(this.#copy("load", arg.variable, register, guard, at));
    return inRegister(register, arg.size * 8);
  }

  #result(result: Result, type: ParamType | null): Result {
    if (result.kind !== "frame") return result;
    const places = this.#places[result.variable];
    if (places) return { kind: "register", registers: [...places.values()] };
    if (!this.#isCopied(result, type)) return result;
    const register = this.#register(this.#ir.frame[result.variable]!.name, result.size * 8);
    return { kind: "register", registers: [register] };
  }

  /** Whether a variable that lies in memory is passed in a register nevertheless. */
  #isCopied({ variable, size }: { variable: number; size: number }, type: ParamType | null): boolean {
    return type !== null && isScalar(type) && type.size === size && this.#ir.frame[variable]!.size === size;
  }

  #keepGuard(guard: Guard, after: Instruction[], at: Instruction): void {
    const kept = this.#registers.push({ name: "guard", class: "pred", bits: 1 }) - 1;
    const value: Expr = { kind: "reg", ty: "pred", reg: guard.register };
    this.#out.push({ ...at, guard: null, op: { kind: "pure", values: [value] }, dst: [kept], undefinedCases: [] });
    after.forEach((copy, i) => {
      after[i] = { ...copy, guard: { ...guard, register: kept } };
    });
  }

  // ---- Parameters

  #param(param: Param): Param {
    if (param.storage.kind !== "frame") return param;
    const { variable } = param.storage;
    const places = this.#places[variable];
    if (!places && !isScalar(param.type)) return param;
    const registers = places ? [...places.values()] : [this.#register(param.name, param.type.size * 8)];
    return { ...param, storage: { kind: "register", registers } };
  }

  /** Copies a formal that is passed in a register and lies in memory within the function. */
  #copyFormal(kind: "load" | "store", { storage }: Param, now: Param, guard: Guard | null): void {
    if (storage.kind !== "frame" || now.storage.kind !== "register") return;
    if (this.#places[storage.variable]) return;
    const at = { location: null, span: this.#ir.span };
    this.#out.push(this.#copy(kind, storage.variable, now.storage.registers[0]!, guard, at));
  }

  /** A load or store between a scalar variable in memory and a register. */
  #copy(
    kind: "load" | "store",
    variable: number,
    register: number,
    guard: Guard | null,
    { location, span }: Pick<Instruction, "location" | "span">,
  ): Instruction {
    const { space, align, size } = this.#ir.frame[variable]!;
    const bits = (size * 8) as Access["bits"];
    const access = plainAccess(space, bits, 1, Math.min(Math.max(align, 1), size));
    const ty = this.#addressSize === 64 ? "i64" : "i32";
    const place = atAddress({ kind: "frame", ty, variable, offset: 0, generic: false });
    const common = { guard, undefinedCases: [], span, location };
    return kind === "load"
      ? { ...common, op: { kind, access, place }, dst: [register] }
      : { ...common, op: { kind, access, place, values: [leafOf(register, bits)] }, dst: [] };
  }
}

const leafOf = (reg: number, bits: number): Expr => ({ kind: "reg", ty: bits === 64 ? "i64" : "i32", reg });

const inRegister = (register: number, bits: number): Argument => ({
  kind: "value",
  value: leafOf(register, bits),
  bits,
});

/** The element, extended as a load would extend it to its destination. */
function extended(from: number, { bits, signed }: Access, to: Register): Expr {
  const leaf = leafOf(from, bits);
  if (bits === 64) return leaf;
  const value = signed ? kit.narrow(leaf, bits, true) : leaf;
  return to.class === "b64" ? kit.widen(value, signed) : value;
}

/** The low bits of a stored value; a register that is smaller than the value drops the others. */
function stored(
  { access, values }: Extract<Op, { kind: "store" }>,
  registers: readonly number[],
): { readonly dst: readonly number[]; readonly values: readonly Expr[] } {
  const moves = values.flatMap((value, i) => (value === null ? [] : [{ value, to: registers[i]! }]));
  return {
    dst: moves.map(({ to }) => to),
    values: moves.map(({ value }) => (access.bits < 64 && value.ty === "i64" ? kit.wrap(value) : value)),
  };
}
