import type { Expr } from "../../semantics/index.ts";
import type { Argument, Op, Result } from "../instruction.ts";
import type { IrFunction, IrModule, Param } from "../module.ts";
import { symbolsOf } from "../operands.ts";
import type { ParamType } from "../signature.ts";
import { type Element, type VariableUse, variableUsesOf } from "./frame-elements.ts";

type Call = Extract<Op, { kind: "call" }>;

/**
 * Whether a parameter is passed in one register of its size. This depends on its type alone, so that both sides of an
 * indirect call agree.
 */
export const isScalar = ({ kind, size, unsized }: ParamType): boolean =>
  kind !== "pred" && kind !== "array" && !unsized && (size === 1 || size === 2 || size === 4 || size === 8);

/** The frame variables of a module that can be registers. */
export interface Passing {
  /** By variable, its elements; null for one that has to lie in memory. */
  elementsOf(ir: IrFunction): readonly (readonly Element[] | null)[];
  /** The type of an argument (or result) as the callee declares it; null if it is unknown. */
  paramType(call: Call, i: number): ParamType | null;
  returnType(call: Call, i: number): ParamType | null;
}

/**
 * An array parameter can be registers if everything that is passed for it is known: its function is only called
 * directly, and all variables that are copied to or from it consist of the same elements.
 */
export function passingOf(module: IrModule): Passing {
  const { functions } = module;
  const byName = functionsByName(module);
  const taken = functionsWithAddress(module);
  const isPrivate = (f: IrFunction): boolean => f.kind === "function" && !f.external && !taken.has(f);

  const uses = new Map(functions.map((f) => [f, variableUsesOf(f)]));
  const classes = new Classes();
  const useOf = (f: IrFunction, variable: number): VariableUse => uses.get(f)![variable]!;
  const calleeOf = ({ target }: Call): IrFunction | null =>
    target.kind === "direct" ? (byName.get(target.function) ?? null) : null;
  const typeAt = (call: Call, list: "params" | "returns", i: number): ParamType | null => {
    if (call.target.kind === "indirect") return call.target.signature[list][i] ?? null;
    return calleeOf(call)?.[list][i]?.type ?? null;
  };

  /** Notes a variable that is passed whole. */
  const pass = (use: VariableUse, type: ParamType | null): void => {
    if (type === null || type.unsized || (isScalar(type) && type.size !== use.size)) use.needsMemory();
    else if (isScalar(type)) use.add({ offset: 0, bits: (type.size * 8) as Element["bits"] });
  };
  const declare = (f: IrFunction, { storage, type }: Param): void => {
    if (storage.kind !== "frame") return;
    const use = useOf(f, storage.variable);
    pass(use, type);
    if (!isScalar(type) && !isPrivate(f)) use.needsMemory();
  };
  const connect = (f: IrFunction, call: Call, list: "params" | "returns", side: Argument | Result, i: number): void => {
    if (side.kind !== "frame") return;
    const use = useOf(f, side.variable);
    const type = typeAt(call, list, i);
    pass(use, side.size === use.size ? type : null);
    if (type === null || isScalar(type)) return;
    const callee = calleeOf(call);
    const storage = callee?.[list][i]?.storage;
    if (callee !== null && isPrivate(callee) && storage?.kind === "frame") {
      classes.join(use, useOf(callee, storage.variable));
    } else use.needsMemory();
  };
  for (const f of functions) {
    for (const param of [...f.params, ...f.returns]) declare(f, param);
    for (const { op } of f.instructions) {
      if (op.kind !== "call") continue;
      for (const [i, arg] of op.args.entries()) connect(f, op, "params", arg, i);
      for (const [i, result] of op.results.entries()) connect(f, op, "returns", result, i);
    }
  }
  classes.settle();
  return {
    elementsOf: (f) => uses.get(f)!.map((use) => classes.of(use).elements),
    paramType: (call, i) => typeAt(call, "params", i),
    returnType: (call, i) => typeAt(call, "returns", i),
  };
}

export function functionsByName({ functions, aliases }: IrModule): ReadonlyMap<string, IrFunction> {
  const byName = new Map(functions.map((f) => [f.name, f]));
  for (const [alias, index] of aliases) byName.set(alias, functions[index]!);
  return byName;
}

/** The functions of a module whose address is taken. */
export function functionsWithAddress(module: IrModule): ReadonlySet<IrFunction> {
  const byName = functionsByName(module);
  const taken = new Set<IrFunction>();
  const take = (name: string): void => {
    const f = byName.get(name);
    if (f !== undefined) taken.add(f);
  };
  for (const { relocations } of module.variables) for (const r of relocations) take(r.symbol);
  for (const f of module.functions) addressesIn(f, take);
  return taken;
}

/** Shows the names in a function's expressions and in lists of call targets, but not those of direct calls. */
function addressesIn({ instructions }: IrFunction, show: (name: string) => void): void {
  const seen = new Set<Expr>();
  for (const { op } of instructions) {
    symbolsOf(op, show, seen);
    if (op.kind === "call" && op.target.kind === "indirect") op.target.targets?.forEach(show);
  }
}

/** Classes of variables that are copied to each other (union-find). */
class Classes {
  readonly #parents = new Map<VariableUse, VariableUse>();

  of(use: VariableUse): VariableUse {
    let root = use;
    for (let p = this.#parents.get(root); p !== undefined; p = this.#parents.get(root)) root = p;
    // Path compression.
    for (let x = use; x !== root; ) {
      const above = this.#parents.get(x)!;
      this.#parents.set(x, root);
      x = above;
    }
    return root;
  }

  join(a: VariableUse, b: VariableUse): void {
    const [x, y] = [this.of(a), this.of(b)];
    if (x !== y) this.#parents.set(x, y);
  }

  /** Merges the uses of all members into the root of each class. */
  settle(): void {
    for (const use of this.#parents.keys()) this.of(use).join(use);
  }
}
