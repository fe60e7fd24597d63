import { readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { livenessOf } from "../../../../ir/flow/liveness.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";

/** How a value varies over lanes, as far as a look at each instruction shows it. */
const kind = { uniform: 0, affine: 1, vector: 2 } as const;

type Kind = (typeof kind)[keyof typeof kind];

const most = (a: Kind, b: Kind): Kind => (a > b ? a : b);

/** What is still affine if it is computed from affine values. */
const sums = /^i(32|64)\.(add|sub)$|^i64\.extend|^i32\.wrap/;

/** What is affine if one operand is, and the other uniform. */
const multiples = /^i(32|64)\.(mul|shl)$/;

function kindOf(expr: Expr, registers: Uint8Array): Kind {
  switch (expr.kind) {
    case "reg":
      return registers[expr.reg] as Kind;
    case "special":
      return expr.name === "tid.x" || expr.name === "laneid" ? kind.affine : kind.uniform;
    case "prim": {
      const kinds = expr.args.map((arg) => kindOf(arg, registers));
      const all = kinds.reduce(most, kind.uniform);
      if (all !== kind.affine || sums.test(expr.prim)) return all;
      return multiples.test(expr.prim) && kinds.filter((k) => k === kind.affine).length === 1 ? all : kind.vector;
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

/**
 * Register pressure: the most vectors that are live at once for each four lanes. Values of 64 bits count twice. An
 * estimate, since values that the compiler's analysis would find to be uniform may count too.
 */
export function pressureOf(ir: IrFunction): number {
  const kinds = kindsOf(ir);
  const weights = ir.registers.map((r, i) => (kinds[i] !== kind.vector ? 0 : r.class === "b64" ? 2 : 1));
  const graph = flowGraphOf(ir.instructions);
  const liveness = livenessOf(ir, graph, []);
  let pressure = 0;
  for (const { index } of graph.blocks) {
    let live = 0;
    const now = new Set<number>();
    liveness.liveOut(index).forEach((r) => {
      now.add(r);
      live += weights[r]!;
    });
    pressure = Math.max(pressure, live);
    liveness.walk(index, (i) => {
      // Before the instruction: what it reads has begun to live, what it writes has not.
      const instruction = ir.instructions[i]!;
      writesOf(instruction, (r) => {
        if (instruction.guard === null && now.delete(r)) live -= weights[r]!;
      });
      readsOf(instruction, {
        register: (r) => {
          if (now.has(r)) return;
          now.add(r);
          live += weights[r]!;
        },
      });
      pressure = Math.max(pressure, live);
    });
  }
  return pressure;
}
