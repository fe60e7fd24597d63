import { writesOf } from "../../../../ir/flow/accesses.ts";
import { type Instruction, type IrFunction, targetsIn } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";

/**
 * How a value varies over lanes, as far as a look at each instruction shows it: not at all, by the same step from lane
 * to lane, likewise but for where a row ends and the next one begins, by other arithmetic with lane numbers (as where
 * they are clamped), or in any way.
 */
export const kind = { uniform: 0, affine: 1, wrapped: 2, computed: 3, vector: 4 } as const;

type Kind = (typeof kind)[keyof typeof kind];

const most = (a: Kind, b: Kind): Kind => (a > b ? a : b);

/**
 * Operations of which a result is affine: sums of affine values; products of one and uniform ones; no others.
 * Remainders by a length that all lanes share are affine between multiples of it.
 */
type Growth = "sum" | "multiple" | "remainder" | "other";

const sums = /^i(32|64)\.(add|sub)$|^i64\.extend|^i32\.wrap/;
const multiples = /^i(32|64)\.(mul|shl)$/;
const remainders = /^i(32|64)\.rem_[su]$/;

/** By operation, as it is asked for each value in each pass. */
const growths = new Map<string, Growth>();

function growthOf(prim: string): Growth {
  let found = growths.get(prim);
  if (found === undefined) {
    found = sums.test(prim) ? "sum" : multiples.test(prim) ? "multiple" : remainders.test(prim) ? "remainder" : "other";
    growths.set(prim, found);
  }
  return found;
}

/** How a value varies, given that of each register. */
export function kindOf(expr: Expr, registers: Readonly<Uint8Array>): Kind {
  switch (expr.kind) {
    case "reg":
      return registers[expr.reg] as Kind;
    case "special":
      return expr.name === "tid.x" || expr.name === "laneid" ? kind.affine : kind.uniform;
    case "prim": {
      let all: Kind = kind.uniform;
      let varying = 0;
      for (let i = 0; i < expr.args.length; i++) {
        const found = kindOf(expr.args[i]!, registers);
        if (found === kind.vector) return found;
        if (found !== kind.uniform) varying++;
        all = most(all, found);
      }
      if (all === kind.uniform) return all;
      const growth = growthOf(expr.prim);
      if (growth === "sum" || (growth === "multiple" && varying === 1)) return all;
      return growth === "remainder" && all <= kind.wrapped && isLength(expr.args[1]!, registers)
        ? kind.wrapped
        : kind.computed;
    }
    default:
      return kind.uniform;
  }
}

/** Whether a divisor may be the length of a row: small constants divide the lanes of one row among several. */
const isLength = (divisor: Expr, registers: Readonly<Uint8Array>): boolean =>
  divisor.kind !== "const" && kindOf(divisor, registers) === kind.uniform;

/** How what an instruction writes varies. */
function resultKind({ op, guard }: Instruction, registers: Uint8Array, value: Expr | undefined): Kind {
  if (guard !== null && registers[guard.register] !== kind.uniform) return kind.vector;
  if (op.kind === "pure") return value === undefined ? kind.vector : kindOf(value, registers);
  // Each lane has local memory of its own.
  if (op.kind !== "load" || op.place.kind !== "address" || op.access.space === "local") return kind.vector;
  return kindOf(op.place.address, registers) === kind.uniform ? kind.uniform : kind.vector;
}

const known = new WeakMap<IrFunction, Uint8Array>();

/** By register, how it varies: 0 if it is the same in all lanes. Nobody changes what is returned. */
export function kindsOf(ir: IrFunction): Readonly<Uint8Array> {
  let kinds = known.get(ir);
  if (kinds === undefined) known.set(ir, (kinds = findKinds(ir)));
  return kinds;
}

const findKinds = (ir: IrFunction): Uint8Array => withWritten(ir, new Uint8Array(ir.registers.length));

/**
 * The same, where what some lanes alone write is a vector, too: what stands between a branch that lanes may take
 * without others and its target further on.
 */
export function divergentKindsOf(ir: IrFunction): Readonly<Uint8Array> {
  const { instructions } = ir;
  const kinds = Uint8Array.from(kindsOf(ir));
  const skipping = new Set(instructions.flatMap(({ op }, i) => (op.kind === "branch" ? [i] : [])));
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const at of skipping) {
      const { op, guard } = instructions[at]!;
      if (guard === null || kinds[guard.register] !== kind.vector) continue;
      skipping.delete(at);
      for (let i = at + 1; i < Math.min(...targetsIn(op)); i++) {
        writesOf(instructions[i]!, (r) => {
          kinds[r] = kind.vector;
        });
      }
      isChanged = true;
    }
    withWritten(ir, kinds);
  }
  return kinds;
}

/** Given kinds that registers have at least, those that follow from what is written to them. */
function withWritten({ instructions }: IrFunction, kinds: Uint8Array): Uint8Array {
  let isChanged = true;
  let instruction: Instruction;
  const write = (r: number): void => {
    if (kinds[r] === kind.vector) return;
    const { op, dst } = instruction;
    const value = op.kind === "pure" ? op.values[dst.indexOf(r)] : undefined;
    const found = resultKind(instruction, kinds, value);
    if (found <= kinds[r]!) return;
    kinds[r] = found;
    isChanged = true;
  };
  while (isChanged) {
    isChanged = false;
    for (instruction of instructions) writesOf(instruction, write);
  }
  return kinds;
}
