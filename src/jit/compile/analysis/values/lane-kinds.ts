import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";

/**
 * How a value varies over lanes, as far as a look at each instruction shows it: not at all, by the same step from lane
 * to lane, by arithmetic with lane numbers (as where they are clamped, or wrap around), or in any way.
 */
export const kind = { uniform: 0, affine: 1, computed: 2, vector: 3 } as const;

type Kind = (typeof kind)[keyof typeof kind];

const most = (a: Kind, b: Kind): Kind => (a > b ? a : b);

/** What is still affine if it is computed from affine values. */
const sums = /^i(32|64)\.(add|sub)$|^i64\.extend|^i32\.wrap/;

/** What is affine if one operand is, and the other uniform. */
const multiples = /^i(32|64)\.(mul|shl)$/;

/** How a value varies, given that of each register. */
export function kindOf(expr: Expr, registers: Uint8Array): Kind {
  switch (expr.kind) {
    case "reg":
      return registers[expr.reg] as Kind;
    case "special":
      return expr.name === "tid.x" || expr.name === "laneid" ? kind.affine : kind.uniform;
    case "prim": {
      const kinds = expr.args.map((arg) => kindOf(arg, registers));
      const all = kinds.reduce(most, kind.uniform);
      if (all === kind.uniform || all === kind.vector || sums.test(expr.prim)) return all;
      if (multiples.test(expr.prim) && kinds.filter((k) => k !== kind.uniform).length === 1) return all;
      return kind.computed;
    }
    default:
      return kind.uniform;
  }
}

/** How what an instruction writes varies. */
function resultKind({ op, guard }: Instruction, registers: Uint8Array, value: Expr | undefined): Kind {
  if (guard !== null && registers[guard.register] !== kind.uniform) return kind.vector;
  if (op.kind === "pure") return value === undefined ? kind.vector : kindOf(value, registers);
  if (op.kind !== "load" || op.place.kind !== "address") return kind.vector;
  return kindOf(op.place.address, registers) === kind.uniform ? kind.uniform : kind.vector;
}

/** By register, how it varies: 0 if it is the same in all lanes. */
export function kindsOf({ instructions, registers }: IrFunction): Uint8Array {
  const kinds = new Uint8Array(registers.length);
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const instruction of instructions) {
      const { op, dst } = instruction;
      writesOf(instruction, (r) => {
        if (kinds[r] === kind.vector) return;
        const value = op.kind === "pure" ? op.values[dst.indexOf(r)] : undefined;
        const found = resultKind(instruction, kinds, value);
        if (found <= kinds[r]!) return;
        kinds[r] = found;
        isChanged = true;
      });
    }
  }
  return kinds;
}
