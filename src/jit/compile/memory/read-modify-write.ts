import type { Access } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import type { MemoryOp, Wasm } from "../../../wasm/index.ts";

/** Primitives for which wasm has an atomic read-modify-write operation. */
const readModifyWrite: Readonly<Record<string, "add" | "and" | "or" | "xor">> = {
  "i32.add": "add",
  "i64.add": "add",
  "i32.and": "and",
  "i64.and": "and",
  "i32.or": "or",
  "i64.or": "or",
  "i32.xor": "xor",
  "i64.xor": "xor",
};

/** Whether an expression depends on what memory holds. */
export const hasOld = (expr: Expr): boolean => expr.kind === "old" || (expr.kind === "prim" && expr.args.some(hasOld));

/** An argument of a primitive that is written as one operation. */
export function argumentOf(value: Wasm, argument: number): Wasm {
  if (value.kind !== "op") throw new Error("a primitive that is one operation is written as another");
  return value.args[argument]!;
}

type Modification = "add" | "and" | "or" | "xor" | "xchg";

/**
 * The wasm operation that does what an expression says, and which argument of it is its operand (null: the whole
 * expression); null if there is none.
 */
export function modification(expr: Expr): { readonly name: Modification; readonly operand: number | null } | null {
  if (!hasOld(expr)) return { name: "xchg", operand: null };
  if (expr.kind !== "prim") return null;
  const name = readModifyWrite[expr.prim];
  const [a, b] = expr.args;
  if (name === undefined) return null;
  if (a!.kind === "old" && !hasOld(b!)) return { name, operand: 1 };
  return b!.kind === "old" && !hasOld(a!) ? { name, operand: 0 } : null;
}

/** The atomic operation of wasm on an element. */
export function atomicOp({ bits }: Access, name: Modification | "cmpxchg"): MemoryOp {
  if (bits === 64) return `i64.atomic.rmw.${name}`;
  return bits === 32 ? `i32.atomic.rmw.${name}` : `i32.atomic.rmw${bits}.${name}_u`;
}
