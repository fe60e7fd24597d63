import type { Expr, IndirectLeaf, RegionLeaf } from "../../semantics/index.ts";
import type { FileVariable } from "../byte-file.ts";
import type { Instruction } from "../instruction.ts";
import type { IrFunction } from "../module.ts";

/**
 * The variables of the byte file whose elements are read at computed places: `r[A0]`, where what is written to A0 is
 * the address of a variable and a multiple of an element's size.
 */
export class ComputedVariables {
  readonly #ir: IrFunction;
  readonly #known = new Map<IndirectLeaf, FileVariable | null>();
  /** Regions of which a question is open: a loop's variable is a multiple if what each round adds to it is one. */
  readonly #asked = new Set<string>();

  constructor(ir: IrFunction) {
    this.#ir = ir;
  }

  /** The variable whose elements a leaf reads; null if it is not known. */
  of(leaf: IndirectLeaf): FileVariable | null {
    let found = this.#known.get(leaf);
    if (found === undefined) this.#known.set(leaf, (found = this.#find(leaf)));
    return found;
  }

  #find({ address, bits }: IndirectLeaf): FileVariable | null {
    const from = regionIn(address);
    const values = from === null ? [] : this.#writtenTo(from);
    const variables = values.map((value) => this.#variableIn(value, bits / 8));
    const [variable] = variables;
    return variable !== undefined && variables.every((v) => v === variable) ? variable : null;
  }

  /** The variable whose address an expression has, besides a multiple of `size`. */
  #variableIn(expr: Expr | null, size: number): FileVariable | null {
    if (expr?.kind !== "prim" || expr.prim !== "i32.add") return null;
    const [base, distance] = expr.args as [Expr, Expr];
    if (base.kind !== "const" || !this.#isMultiple(distance, size)) return null;
    const at = Number(base.value);
    const variable = this.#variableAt(at);
    const isInside = variable !== undefined && at < variable.at + variable.bytes && (at - variable.at) % size === 0;
    return isInside ? variable : null;
  }

  #isMultiple(expr: Expr, size: number): boolean {
    if (expr.kind === "const") return Number(expr.value) % size === 0;
    if (expr.kind === "region") {
      return this.#holdsMultiples(expr, size);
    }
    if (expr.kind !== "prim") return false;
    const [a, b] = expr.args as [Expr, Expr];
    switch (expr.prim) {
      case "i32.extend16_s":
        return this.#isMultiple(a, size);
      case "i32.and":
        return this.#isMultiple(a, size) || this.#isMultiple(b, size);
      case "i32.add":
      case "i32.sub":
        return this.#isMultiple(a, size) && this.#isMultiple(b, size);
      case "i32.shl": {
        const count = b.kind === "prim" && b.prim === "i32.and" ? b.args[0]! : b;
        return count.kind === "const" && 2 ** (Number(count.value) & 31) % size === 0;
      }
      default:
        return false;
    }
  }

  /** Whether all that is written to a region is a multiple of `size`, also where it is computed from itself. */
  #holdsMultiples(leaf: RegionLeaf, size: number): boolean {
    const name = `${leaf.region.at}:${leaf.bits}`;
    if (this.#asked.has(name)) return true;
    this.#asked.add(name);
    const values = this.#writtenTo(leaf);
    const holds = values.length > 0 && values.every((value) => value !== null && this.#isMultiple(value, size));
    this.#asked.delete(name);
    return holds;
  }

  /** The values that are written where a region begins; null for one that is not computed, or a part of one. */
  #writtenTo({ region, bits }: RegionLeaf): readonly (Expr | null)[] {
    const variable = this.#variableAt(region.at);
    return this.#ir.instructions.flatMap((instruction) => written(instruction, region.at, bits, variable));
  }

  #variableAt(byte: number): FileVariable | undefined {
    return this.#ir.file!.variables.findLast(({ at }) => at <= byte);
  }
}

function written(
  { op, dst }: Instruction,
  at: number,
  bits: number,
  variable: FileVariable | undefined,
): readonly (Expr | null)[] {
  const start = variable?.at ?? 0;
  const end = start + (variable?.bytes ?? at + 1);
  return dst.flatMap((to, i) => {
    if (to === null || typeof to === "number" || to.kind === "indirect") return [];
    if (to.region.at < start || to.region.at >= end) return [];
    if (to.bits !== bits || (8 * (at - to.region.at)) % bits !== 0) return [null];
    return [op.kind === "pure" ? op.values[i]! : null];
  });
}

/** The only region in an address; null if there is none, or more than a region and a constant. */
function regionIn(expr: Expr): RegionLeaf | null {
  if (expr.kind === "region") return expr;
  if (expr.kind !== "prim") return null;
  const [inner, by] = expr.args;
  if (expr.prim === "i32.add" && by?.kind === "const" && Number(by.value) === 0) return regionIn(inner!);
  return expr.prim === "i32.and" && by?.kind === "const" && Number(by.value) === 0xffff ? regionIn(inner!) : null;
}
