import type { Expr, IndirectLeaf, RegionLeaf } from "../../semantics/index.ts";
import type { FileVariable } from "../byte-file.ts";
import type { Instruction } from "../instruction.ts";
import type { LaneRule } from "../lanes.ts";
import type { IrFunction } from "../module.ts";
import { targetsIn } from "../op-traits.ts";
import { fileLeavesOf } from "./accesses.ts";
import { lastBefore } from "./ascending.ts";

/**
 * The variables of the byte file whose elements are read at computed places: `r[A0]`, where what is written to A0 is
 * the address of a variable and a multiple of an element's size.
 */
export class ComputedVariables {
  readonly #ir: IrFunction;
  readonly #known = new Map<IndirectLeaf, FileVariable | null>();
  /** Regions of which a question is open: a loop's variable is a multiple if what each round adds to it is one. */
  readonly #asked = new Set<string>();
  #targets: ReadonlySet<number> | null = null;

  constructor(ir: IrFunction) {
    this.#ir = ir;
  }

  /** The variable whose elements a leaf reads; null if it is not known. */
  of(leaf: IndirectLeaf): FileVariable | null {
    let found = this.#known.get(leaf);
    if (found === undefined) this.#known.set(leaf, (found = this.#find(leaf)));
    return found;
  }

  #find(leaf: IndirectLeaf): FileVariable | null {
    const { address, bits } = leaf;
    const from = regionIn(address);
    const reader = this.#ir.instructions.findIndex((instruction) => fileLeavesOf(instruction).includes(leaf));
    const values = from === null ? [] : this.#writtenTo(from, reader);
    const variables = values.map((written) => this.#variableIn(written, bits / 8));
    const [variable] = variables;
    return variable !== undefined && variables.every((v) => v === variable) ? variable : null;
  }

  /** The variable whose address an expression has, besides a multiple of `size`. */
  #variableIn({ value, index, isWider }: Written, size: number): FileVariable | null {
    if (value?.kind !== "prim" || value.prim !== "i32.add" || isWider) return null;
    const [base, distance] = value.args as [Expr, Expr];
    if (base.kind !== "const" || !this.#isMultiple(distance, size, index)) return null;
    const at = Number(base.value);
    const variable = this.#variableAt(at);
    const isInside = variable !== undefined && at < variable.at + variable.bytes && (at - variable.at) % size === 0;
    return isInside ? variable : null;
  }

  /** `index`: the instruction that computes it. */
  #isMultiple(expr: Expr, size: number, index: number): boolean {
    if (expr.kind === "const") return Number(expr.value) % size === 0;
    if (expr.kind === "region") return this.#holdsMultiples(expr, size, index);
    if (expr.kind !== "prim") return false;
    const [a, b] = expr.args as [Expr, Expr];
    switch (expr.prim) {
      case "i32.extend16_s":
        return this.#isMultiple(a, size, index);
      case "i32.and":
        return this.#isMultiple(a, size, index) || this.#isMultiple(b, size, index);
      case "i32.add":
      case "i32.sub":
        return this.#isMultiple(a, size, index) && this.#isMultiple(b, size, index);
      case "i32.shl": {
        const count = b.kind === "prim" && b.prim === "i32.and" ? b.args[0]! : b;
        return count.kind === "const" && 2 ** (Number(count.value) & 31) % size === 0;
      }
      default:
        return false;
    }
  }

  /** Whether all that is written to a region is a multiple of `size`, also where it is computed from itself. */
  #holdsMultiples(leaf: RegionLeaf, size: number, reader: number): boolean {
    const name = `${leaf.region.at}:${leaf.bits}:${reader}`;
    if (this.#asked.has(name)) return true;
    this.#asked.add(name);
    const values = this.#writtenTo(leaf, reader);
    // The low part of a multiple of a power of two is one, too.
    const holds =
      values.length > 0 && values.every(({ value, index }) => value !== null && this.#isMultiple(value, size, index));
    this.#asked.delete(name);
    return holds;
  }

  /**
   * What an instruction may read where a region begins: what has been written there just before, if it is for the
   * thread, and otherwise all that is ever written there.
   */
  #writtenTo({ region, bits }: RegionLeaf, reader: number): readonly Written[] {
    const variable = this.#variableAt(region.at);
    const { instructions } = this.#ir;
    const isOne = (lanes: LaneRule | undefined): boolean => lanes?.noMask === true && lanes.count === 1;
    if (isOne(instructions[reader]!.lanes)) {
      for (let i = reader - 1; i >= 0 && !this.#isTarget(i + 1); i--) {
        const instruction = instructions[i]!;
        const found = written(instruction, i, { at: region.at, bits }, variable);
        if (found.length === 0) continue;
        if (isOne(instruction.lanes) && instruction.guard === null && found.length === 1) return found;
        break;
      }
    }
    return instructions.flatMap((instruction, i) => written(instruction, i, { at: region.at, bits }, variable));
  }

  #isTarget(index: number): boolean {
    this.#targets ??= new Set(this.#ir.instructions.flatMap(({ op }) => targetsIn(op)));
    return this.#targets.has(index);
  }

  #variableAt(byte: number): FileVariable | undefined {
    const { variables } = this.#ir.file!;
    const found = variables[lastBefore(variables, ({ at }) => at, byte)];
    return found !== undefined && found.at <= byte ? found : undefined;
  }
}

/** A value that an instruction writes: null for one that is not computed. `isWider`: only its low part is meant. */
interface Written {
  readonly value: Expr | null;
  readonly index: number;
  readonly isWider: boolean;
}

function written(
  { op, dst }: Instruction,
  index: number,
  { at, bits }: { readonly at: number; readonly bits: number },
  variable: FileVariable | undefined,
): readonly Written[] {
  const start = variable?.at ?? 0;
  const end = start + (variable?.bytes ?? at + 1);
  return dst.flatMap((to, i): Written[] => {
    if (to === null || typeof to === "number" || to.kind === "indirect") return [];
    if (to.region.at < start || to.region.at >= end) return [];
    const isWider = to.bits > bits && to.region.at === at;
    const isPart = to.bits !== bits && !isWider;
    if (isPart || (8 * (at - to.region.at)) % bits !== 0) return [{ value: null, index, isWider }];
    return [{ value: op.kind === "pure" ? op.values[i]! : null, index, isWider }];
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
