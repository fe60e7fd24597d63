import { laneAddressOf } from "../../../ir/access.ts";
import { writersIn } from "../../../ir/flow/accesses.ts";
import { type Instruction, type IrFunction, windows } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";

/**
 * What an address is computed from: a pointer among the parameters, a variable of the module, or anything, so that it
 * may lie anywhere in the memory.
 */
export type PointerRoot =
  | { readonly kind: "param"; readonly offset: number }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "anything" };

/** The root of addresses that may point to anything. */
export const anything: PointerRoot = { kind: "anything" };

export function rootKey(root: PointerRoot): string {
  if (root.kind === "anything") return root.kind;
  return root.kind === "param" ? `param ${root.offset}` : `variable ${root.name}`;
}

/**
 * Guesses what addresses are computed from. A wrong guess costs time alone: the access to the shadow memory then misses
 * it, which ends the launch.
 */
export class PointerRoots {
  readonly #writers: ReadonlyMap<number, readonly Instruction[]>;
  readonly #passes: ReadonlySet<string>;
  readonly #known = new Map<number, ReadonlyMap<string, PointerRoot>>();

  /** `isNarrow`: whether addresses may have been computed in 32 bits, as those of shared memory are. */
  constructor({ instructions }: IrFunction, isNarrow = false) {
    this.#writers = writersIn(instructions);
    this.#passes = isNarrow ? passesNarrow : passesPointers;
  }

  /** The candidates; none where nothing is known. */
  of(address: Expr): readonly PointerRoot[] {
    const found = new Map<string, PointerRoot>();
    this.#visit(address, found, new Set());
    return [...found.values()];
  }

  #visit(expr: Expr, found: Map<string, PointerRoot>, seen: Set<number>): void {
    if (expr.kind === "symbol") note(found, { kind: "variable", name: expr.symbol });
    else if (expr.kind === "reg") this.#inRegister(expr.reg, found, seen);
    else if (expr.kind === "prim" && this.#passes.has(expr.prim)) {
      for (const arg of expr.args) if (arg.ty !== "pred") this.#visit(arg, found, seen);
    }
  }

  #inRegister(register: number, found: Map<string, PointerRoot>, seen: Set<number>): void {
    if (seen.has(register)) return;
    seen.add(register);
    const known = this.#known.get(register);
    if (known !== undefined) {
      for (const root of known.values()) note(found, root);
      return;
    }
    const own = new Map<string, PointerRoot>();
    for (const { op, dst } of this.#writers.get(register) ?? []) {
      const at = dst.indexOf(register);
      if (op.kind === "pure" && at >= 0) this.#visit(op.values[at]!, own, seen);
      const offset = paramOf(op);
      if (offset !== null) note(own, { kind: "param", offset });
    }
    // What a loop computes from itself is known once the walk has come back to where it began.
    if (seen.size === 1) this.#known.set(register, own);
    for (const root of own.values()) note(found, root);
  }
}

function note(found: Map<string, PointerRoot>, root: PointerRoot): void {
  found.set(rootKey(root), root);
}

const passing = ["add", "sub", "select", "and", "or"];
const passesPointers: ReadonlySet<string> = new Set(passing.map((name) => `i64.${name}`));
const passesNarrow: ReadonlySet<string> = new Set([
  ...passesPointers,
  ...passing.map((name) => `i32.${name}`),
  ...["i64.extend_i32_u", "i64.extend_i32_s", "i32.wrap_i64"],
]);

/** The offset of the pointer that an instruction loads from the parameters. */
function paramOf(op: Instruction["op"]): number | null {
  if (op.kind !== "load" || op.access.space !== "kernel-param" || op.access.bits !== 64) return null;
  const address = laneAddressOf(op.place);
  if (address.kind !== "const") return null;
  return Number(address.value) - windows["kernel-param"].start;
}
