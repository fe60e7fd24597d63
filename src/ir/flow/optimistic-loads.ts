import { everyLeaf, type Expr } from "../../semantics/index.ts";
import { laneAddressOf } from "../access.ts";
import type { Argument, Destination, Instruction, IrFunction } from "../index.ts";

/** A register, a place of the byte file, or a variable of the frame. */
type Name = number | string;

/**
 * Finds loads that begin an optimistic update, as the CUDA guide writes it: their value may be what a compare-and-swap
 * compares with. That such a load races with the updates of others is harmless, because an outdated value makes the
 * swap fail. The swap is in the same function, or in one that gets the value as an argument.
 */
export class OptimisticLoads {
  /** By call instruction, the functions that it is known to call. */
  readonly #callees = new Map<Instruction, Set<IrFunction>>();
  readonly #known = new Map<Instruction, boolean>();

  /** A call of a function is known. */
  called(call: Instruction, callee: IrFunction): void {
    let callees = this.#callees.get(call);
    if (callees === undefined) this.#callees.set(call, (callees = new Set()));
    if (callees.has(callee)) return;
    callees.add(callee);
    this.#known.clear();
  }

  /** Whether an instruction of a function is such a load. */
  has(ir: IrFunction, instruction: Instruction): boolean {
    let found = this.#known.get(instruction);
    if (found === undefined) {
      found = this.#reach(ir, instruction.dst.flatMap(nameOf), []);
      this.#known.set(instruction, found);
    }
    return found;
  }

  /** Whether a value with these names reaches a swap in a function. `callers`: functions that are being searched. */
  #reach(ir: IrFunction, from: readonly Name[], callers: readonly IrFunction[]): boolean {
    if (from.length === 0 || callers.includes(ir)) return false;
    const { instructions } = ir;
    const names = new Set(from);
    for (let count = -1; count !== names.size; ) {
      count = names.size;
      for (const { op, dst } of instructions) {
        if (op.kind === "pure") {
          op.values.forEach((value, i) => {
            if (reads(value, names)) for (const name of nameOf(dst[i] ?? null)) names.add(name);
          });
        } else if (op.kind === "load" && names.has(variableAt(laneAddressOf(op.place)))) {
          for (const name of dst.flatMap(nameOf)) names.add(name);
        } else if (op.kind === "store" && op.values.some((value) => value !== null && reads(value, names))) {
          const variable = variableAt(laneAddressOf(op.place));
          if (variable !== "") names.add(variable);
        }
      }
    }
    return instructions.some((instruction) => {
      const { op } = instruction;
      if (op.kind === "atomic") return op.combine.some((c) => compares(c, names));
      if (op.kind !== "call") return false;
      const callees = [...(this.#callees.get(instruction) ?? [])];
      return callees.some((callee) => this.#reach(callee, passed(op.args, callee, names), [...callers, ir]));
    });
  }
}

/** The names in the callee of arguments that have one of the names. */
const passed = (args: readonly Argument[], { params }: IrFunction, names: ReadonlySet<Name>): readonly Name[] =>
  args.flatMap((arg, i): readonly Name[] => {
    const storage = params[i]?.storage;
    if (arg.kind === "frame" ? !names.has(variable(arg.variable)) : arg.kind !== "value" || !reads(arg.value, names))
      return [];
    if (storage?.kind === "register") return storage.registers;
    return storage?.kind === "frame" ? [variable(storage.variable)] : [];
  });

/** The name of a frame variable. */
const variable = (index: number): Name => `variable ${index}`;

/** The frame variable in which an address lies, or "". */
function variableAt(address: Expr): Name {
  if (address.kind === "frame") return variable(address.variable);
  return address.kind === "prim" ? (address.args.map(variableAt).find((name) => name !== "") ?? "") : "";
}

function nameOf(to: Destination): Name[] {
  if (to === null) return [];
  return typeof to === "number" ? [to] : to.kind === "region" ? [`byte ${to.region.at}`] : [];
}

const reads = (expr: Expr, names: ReadonlySet<Name>): boolean =>
  !everyLeaf(expr, (leaf) =>
    leaf.kind === "reg" ? !names.has(leaf.reg) : leaf.kind !== "region" || !names.has(`byte ${leaf.region.at}`),
  );

/** Whether the old value of memory is compared for equality with one of the names. */
function compares(expr: Expr, names: ReadonlySet<Name>): boolean {
  if (expr.kind !== "prim") return false;
  const { prim, args } = expr;
  if (prim.endsWith(".eq") && args.some((a) => !everyLeaf(a, (leaf) => leaf.kind !== "old"))) {
    return args.some((a) => reads(a, names));
  }
  return args.some((a) => compares(a, names));
}
