import { operandsOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction, Register } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";

/** Operations of which the low bits of a result depend on no higher bits of their operands. */
const modular: ReadonlySet<string> = new Set(["i32.add", "i32.sub", "i32.mul", "i32.and", "i32.or", "i32.xor"]);

/** Of each register, how many low bits anything depends on. Of what is no integer of 32 bits: all. */
export function demandedBits(
  instructions: readonly Instruction[],
  registers: readonly Register[],
  results: readonly number[],
): Readonly<Uint8Array> {
  const demanded = new Uint8Array(registers.length);
  let isChanged = true;
  const demand = (expr: Expr, bits: number): void => {
    if (expr.kind === "reg") {
      const all = expr.ty === "i32" ? Math.min(bits, 32) : 32;
      if (all <= demanded[expr.reg]!) return;
      demanded[expr.reg] = all;
      isChanged = true;
    } else if (expr.kind === "prim") demandOperands(expr, bits, demand);
  };
  for (const r of results) demanded[r] = 32;
  while (isChanged) {
    isChanged = false;
    for (const { op, dst } of instructions) {
      if (op.kind === "pure") {
        op.values.forEach((expr, i) => {
          const to = dst[i];
          const isWord = expr.ty === "i32" && typeof to === "number";
          demand(expr, isWord ? Math.min(demanded[to]!, registers[to]!.bits) : 32);
        });
      } else if (op.kind === "store") {
        demandPlace(op, (expr) => demand(expr, 32));
        for (const expr of op.values) if (expr !== null) demand(expr, op.access.bits);
      } else for (const expr of operandsOf(op)) demand(expr, 32);
    }
  }
  return demanded;
}

/** Shows what the place of a store depends on. */
function demandPlace(op: Extract<Instruction["op"], { kind: "store" }>, visit: (expr: Expr) => void): void {
  for (const expr of operandsOf({ ...op, values: [] })) visit(expr);
}

function demandOperands(
  { prim, args }: Extract<Expr, { kind: "prim" }>,
  bits: number,
  demand: (expr: Expr, bits: number) => void,
): void {
  const [a, b] = args as readonly [Expr, Expr];
  const constant = b?.kind === "const" && b.ty === "i32" ? (b.value as number) >>> 0 : null;
  if (prim === "i32.and" && constant !== null) demand(a, Math.min(bits, 32 - Math.clz32(constant)));
  else if (modular.has(prim) || (prim === "i32.shl" && constant !== null && constant < 32)) {
    for (const arg of args) demand(arg, arg.kind === "const" ? 32 : bits);
  } else if ((prim === "i32.shr_s" || prim === "i32.shr_u") && constant !== null && constant < 32) {
    demand(a, Math.min(32, bits + constant));
  } else if (prim === "i32.extend8_s") demand(a, Math.min(8, bits));
  else if (prim === "i32.extend16_s") demand(a, Math.min(16, bits));
  else if (prim === "i32.select") {
    demand(a, 32);
    demand(b, bits);
    demand(args[2]!, bits);
  } else for (const arg of args) demand(arg, 32);
}
