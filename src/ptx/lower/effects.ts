import type { Access, Destination as IrDestination, Op, Space, UndefinedCase } from "../../ir/index.ts";
import { type Expr, kit } from "../../semantics/index.ts";
import { assignOperands } from "../check/operands.ts";
import { type OperandAccess, type Results, stepsOf, type Temporary } from "../isa/define.ts";
import { parseOperandSpec } from "../isa/operand-spec.ts";
import type { Candidate } from "../isa/resolve.ts";
import type { AddressOperand, Instruction, Operand } from "../tree/nodes.ts";
import { isExpression } from "../tree/is-expression.ts";
import { constantOf } from "./constants.ts";
import { keepSources } from "./kept-sources.ts";
import {
  type AddressBase,
  addressOperand,
  type Destination,
  destinations,
  fitDestination,
  type Places,
  sourceElements,
} from "./operands.ts";

/** The lane IR that a row of the instruction table gives for an instruction. */
export interface Lowered {
  readonly op: Op;
  readonly dst: readonly IrDestination[];
  readonly undefinedCases: readonly UndefinedCase[];
  /** The lanes that execute it, of those that the guard lets through; null: all. */
  readonly where: Expr | null;
}

/** An operand with its source values, or with the destinations of its results. */
interface Bound {
  readonly name: string;
  /** Null for the second half of a pair. */
  readonly operand: Operand | null;
  readonly sources: readonly Expr[];
  readonly destinations: readonly Destination[];
}

const none: readonly never[] = [];

const coordinate = parseOperandSpec("s32", () => undefined);
const floatCoordinate = parseOperandSpec("f32", () => undefined);

/** The elements of coordinates: those of tensors are integers, those of textures are what the opcode says. */
function coordinatesOf(part: Operand, { written, mods }: Candidate, places: Places): readonly Expr[] {
  // The last modifier of a texture instruction is the type of the coordinates.
  if (typeof mods["geom"] !== "string" || written.at(-1) !== "f32") return sourceElements(part, coordinate, places);
  if (part.kind !== "vector") return sourceElements(part, floatCoordinate, places);
  const indices = mods["geom"].startsWith("a") ? 1 : 0;
  return part.elements.flatMap((element, i) =>
    sourceElements(element, i < indices ? coordinate : floatCoordinate, places),
  );
}

/** The operands of one instruction, by their names in its form. */
class BoundOperands implements OperandAccess {
  readonly source: Record<string, Expr> = {};
  /** Few enough for a linear search. */
  readonly #bound: Bound[] = [];
  /** The names of the destinations, in the order of the form. */
  readonly order: string[] = [];
  base: AddressBase = null;
  readonly #places: Places;

  constructor(candidate: Candidate, operands: readonly (Operand | null)[], places: Places) {
    this.#places = places;
    candidate.operands.forEach((slot, i) => {
      const operand = operands[i];
      if (!operand) return;
      const { name, rule, second, secondRule } = slot;
      if (slot.destination) {
        const first = operand.kind === "pair" ? operand.first : operand;
        this.#destination(name, operand, destinations(first, rule, places));
        if (second && operand.kind === "pair") {
          this.#destination(second.name, null, destinations(operand.second, secondRule!, places));
        }
      } else if (rule.shape === "address") {
        const { address, base } = addressOperand(operand, places);
        this.base ??= base;
        this.#source(name, operand, [address]);
        const names = name.split(",");
        if (names.length > 1 && operand.kind === "address") this.#parts(names, operand, candidate, places);
      } else if (rule.shape === "value") {
        const bare = slot.signed && operand.kind === "unary" ? operand.operand : operand;
        this.#source(name, operand, sourceElements(bare, rule, places));
      } else this.#source(name, operand, none);
    });
  }

  /** The parts after the first of an address in several: coordinates, which come last, and a sampler before them. */
  #parts(names: readonly string[], { parts }: AddressOperand, candidate: Candidate, places: Places): void {
    for (let i = 1; i < names.length; i++) {
      const part = parts[i];
      if (part === undefined) continue;
      const isLast = i === names.length - 1;
      const sources = isLast ? coordinatesOf(part, candidate, places) : [addressOperand(part, places).address];
      this.#source(names[i]!, part, sources);
    }
  }

  #source(name: string, operand: Operand, sources: readonly Expr[]): void {
    this.#bound.push({ name, operand, sources, destinations: none });
    if (sources[0]) this.source[name] = sources[0];
  }

  #destination(name: string, operand: Operand | null, elements: readonly Destination[]): void {
    this.order.push(name);
    this.#bound.push({ name, operand, sources: none, destinations: elements });
  }

  #find(name: string): Bound | undefined {
    for (let i = 0; i < this.#bound.length; i++) if (this.#bound[i]!.name === name) return this.#bound[i];
    return undefined;
  }

  destination(name: string): readonly Destination[] {
    return this.#find(name)?.destinations ?? none;
  }

  vector(name: string): readonly Expr[] {
    return this.#find(name)?.sources ?? none;
  }
  previous(name: string): readonly Expr[] {
    const elements = this.#find(name)?.destinations ?? none;
    return elements.map(({ register }) => (register === null ? kit.i32(0) : { kind: "reg", ty: "i32", reg: register }));
  }
  present(name: string): readonly (Expr | null)[] {
    const operand = this.#find(name)?.operand;
    const elements = operand?.kind === "vector" ? operand.elements : none;
    return this.vector(name).map((e, i) => (elements[i]?.kind === "sink" ? null : e));
  }
  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }
  constant(name: string): number | bigint | null {
    const operand = this.#find(name)?.operand;
    if (!operand || operand.kind === "name" || !isExpression(operand)) return null;
    return constantOf(operand)?.value ?? null;
  }
  selector(name: string): string | null {
    const operand = this.#find(name)?.operand;
    const selected = operand?.kind === "unary" ? operand.operand : operand;
    return selected?.kind === "name" ? selected.component : null;
  }
  negated(name: string): boolean {
    return this.#find(name)?.operand?.kind === "unary";
  }
  destinations(name: string): readonly IrDestination[] {
    return this.destination(name).map(({ register }) => register);
  }
  width(name: string): number {
    return this.#find(name)?.destinations[0]?.width ?? 32;
  }
  count(name: string): number {
    const elements = this.#find(name)?.destinations;
    return elements === undefined || elements === none ? 1 : elements.length;
  }
  temporary(index: number): Temporary {
    const register = this.#places.registers.temporary(index);
    return { register, value: { kind: "reg", ty: "i32", reg: register } };
  }
  get sm(): number {
    return this.#places.sm;
  }
  get carry(): Expr {
    return { kind: "reg", ty: "pred", reg: this.#places.registers.carry };
  }
}

/** Lowers an instruction through its row's `sem` or `effect`. `FunctionLowering` lowers control flow. */
export function lowerThroughRow(
  node: Instruction,
  candidate: Candidate,
  places: Places,
  inKernel: boolean,
): readonly Lowered[] {
  const { form, mods } = candidate;
  if (form.unimplemented !== null) {
    const op: Op = { kind: "unsupported", what: node.opcode.text, reason: form.unimplemented };
    return [{ op, dst: [], undefinedCases: [], where: null }];
  }
  const operands = new BoundOperands(candidate, assignOperands(candidate, node.operands) ?? [], places);
  const source = operands.source;
  const undefinedCases: UndefinedCase[] = [];
  for (const code in form.undefinedCases) {
    undefinedCases.push({ code, when: form.undefinedCases[code]!(kit, source, mods) });
  }
  if (form.sem) return [pure(form.sem(kit, source, mods, operands), operands, places, undefinedCases)];
  if (form.effect) {
    const found = form.effect(kit, source, mods, operands);
    const own = operands.order.flatMap((name) => operands.destinations(name));
    const lowered = stepsOf(found).map(({ op, dst = own, where = null }) => ({
      op: placeAccess(op, operands.base, inKernel),
      dst,
      undefinedCases: none as readonly UndefinedCase[],
      where,
    }));
    const { copies, steps } = keepSources(lowered, own, places.registers);
    const all =
      copies === null
        ? steps
        : [
            { op: { kind: "pure", values: copies.from } as const, dst: copies.to, undefinedCases: none, where: null },
            ...steps,
          ];
    return all.map((step, i) => (i === 0 ? { ...step, undefinedCases } : step));
  }
  throw new Error(`the row "${form.text}" says nothing about what it does`);
}

const isExpr = (results: Results): results is Expr =>
  typeof (results as Expr).kind === "string" && typeof (results as Expr).ty === "string";

function pure(
  results: Results,
  operands: BoundOperands,
  places: Places,
  undefinedCases: readonly UndefinedCase[],
): Lowered {
  const byName: Readonly<Record<string, Expr | readonly Expr[]>> = isExpr(results)
    ? { [operands.order[0] ?? "d"]: results }
    : results;
  const values: Expr[] = [];
  const dst: number[] = [];
  for (const name of operands.order) {
    const value = byName[name];
    if (value === undefined) continue;
    const elements = Array.isArray(value) ? (value as readonly Expr[]) : [value as Expr];
    operands.destination(name).forEach((destination, i) => {
      const element = elements[i];
      if (destination.register === null || !element) return;
      values.push(fitDestination(element, destination));
      dst.push(destination.register);
    });
  }
  const carry = byName["carry"];
  if (carry) {
    values.push(carry as Expr);
    dst.push(places.registers.carry);
  }
  return { op: { kind: "pure", values }, dst, undefinedCases, where: null };
}

/**
 * The state space of an access if the variable determines it rather than the opcode. `ld.param` is used for the
 * parameters of kernels and functions and for the arguments of calls; and an access without a state space to a named
 * variable is one to the variable's space, as in ptxas.
 */
function spaceOf(space: Space, base: AddressBase, inKernel: boolean): Space {
  if (space === "call-param" || space === "kernel-param") {
    const kernel = base === null ? inKernel : base.kind === "parameter" && base.role === "kernel";
    return kernel ? "kernel-param" : "call-param";
  }
  const named = base?.kind === "variable" ? base.space : null;
  return space === "generic" && (named === "shared" || named === "local") ? named : space;
}

function placeAccess(op: Op, base: AddressBase, inKernel: boolean): Op {
  if (op.kind !== "load" && op.kind !== "store" && op.kind !== "atomic") return op;
  const access: Access = { ...op.access, space: spaceOf(op.access.space, base, inKernel) };
  return { ...op, access };
}
