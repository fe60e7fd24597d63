import { bind, bitsOf, splitOffset } from "../../semantics/bind.ts";
import { type Expr, kit } from "../../semantics/index.ts";
import type { Instruction } from "../instruction.ts";
import type { FrameImage, IrFunction } from "../module.ts";
import { accessesOf, controlOf, targetsIn, traitOf } from "../op-traits.ts";
import { variablesInMemory } from "./variables-in-memory.ts";

/** The most bytes of variables: they are written each time that blocks begin to run. */
const maxBytes = 4096;

/**
 * A kernel whose frame is the same in all lanes, with the frame's contents in place of the stores that write them: a
 * table of constants, which compilers copy into an array of the thread before they read it. The same kernel where it is
 * anything else.
 *
 * Only the first instructions, which all lanes execute before anything reads the frame, may write it. All addresses at
 * which they do are known. Nothing else in the kernel may write local memory, wherever its addresses come from, so that
 * none has to be followed; a call could, and so could a generic store.
 */
export function withConstantFrame(ir: IrFunction): IrFunction {
  if (ir.kind !== "kernel" || ir.file !== undefined || ir.frame.length === 0) return ir;
  const used = [...variablesInMemory(ir)].map((v) => ir.frame[v]!);
  const bytes = used.reduce((sum, { size }) => sum + size, 0);
  if (used.length === 0 || bytes > maxBytes || used.some(({ unsized }) => unsized)) return ir;
  const stores = ir.instructions.flatMap((instruction, i) => (mayWriteFrame(instruction) ? [i] : []));
  const written = new Prefix(ir).store(stores);
  if (written === null) return ir;
  const removed = new Set(stores);
  const nothing = { op: { kind: "nothing" }, dst: [], guard: null, undefinedCases: [] } as const;
  const instructions = ir.instructions.map((i, at) => (removed.has(at) ? { ...i, ...nothing } : i));
  return { ...ir, instructions, frameImage: written };
}

/** Whether an instruction may write local memory, or may do so in another function. */
const mayWriteFrame = ({ op }: Instruction): boolean =>
  op.kind === "unit" ||
  op.kind === "unsupported" ||
  controlOf(op) === "call" ||
  controlOf(op) === "subroutine" ||
  traitOf(op, "stack") ||
  accessesOf(op).some(({ effect, access }) => effect !== "load" && mayBeLocal(access.space));

const mayBeLocal = (space: string): boolean => space !== "global" && space !== "shared" && space !== "const";

/** What a kernel does before its first branch, as far as it follows from constants. */
class Prefix {
  readonly #ir: IrFunction;
  /** By register, the constant that it holds, or the address of a variable plus a constant. */
  readonly #known = new Map<number, Expr>();

  constructor(ir: IrFunction) {
    this.#ir = ir;
  }

  /** Executes some stores. Null if any has to be left to the lanes, or something reads the frame before it. */
  store(stores: readonly number[]): FrameImage | null {
    const { instructions, frame } = this.#ir;
    const image = frame.map(({ size }) => new Uint8Array(size));
    const targets = new Set(instructions.flatMap(({ op }) => targetsIn(op)));
    const last = stores.at(-1) ?? -1;
    let next = 0;
    for (let i = 0; i <= last; i++) {
      const instruction = instructions[i]!;
      if (controlOf(instruction.op) !== "next" || targets.has(i)) return null;
      if (stores[next] === i) {
        if (!this.#store(instruction, image)) return null;
        next++;
      } else if (accessesOf(instruction.op).some(({ access }) => isOfFrame(access.space))) return null;
      else this.#compute(instruction);
    }
    return image;
  }

  #valueOf(expr: Expr): Expr {
    const register = (leaf: Extract<Expr, { kind: "reg" }>): Expr => {
      const value = this.#known.get(leaf.reg);
      return value === undefined ? leaf : kit.bitcast(value, leaf.ty);
    };
    return bitsOf(bind(expr, { register }));
  }

  #compute({ op, dst, guard, lanes }: Instruction): void {
    const values = op.kind === "pure" ? op.values.map((value) => this.#valueOf(value)) : [];
    dst.forEach((to, i) => {
      if (typeof to !== "number") return;
      const value = values[i];
      const isKnown = value !== undefined && (value.kind === "const" || splitOffset(value).base?.kind === "frame");
      // A register of fewer bits would hold a part of it.
      const isWhole = this.#ir.registers[to]!.bits >= 32 || (value !== undefined && isBelow(value, this.#ir, to));
      if (isKnown && isWhole && guard === null && lanes === undefined) this.#known.set(to, value);
      else this.#known.delete(to);
    });
  }

  #store({ op, guard }: Instruction, image: FrameImage): boolean {
    if (op.kind !== "store" || guard !== null || op.place.kind !== "address") return false;
    const { access } = op;
    const { base, offset } = splitOffset(this.#valueOf(op.place.address));
    if (access.space !== "local" || access.volatile || access.order !== "weak") return false;
    if (base?.kind !== "frame" || base.generic) return false;
    const variable = this.#ir.frame[base.variable]!;
    const at = base.offset + Number(offset);
    const size = access.bits / 8;
    const isAligned = access.align <= Math.max(variable.align, 1) && at % access.align === 0;
    if (!isAligned || at < 0 || at + size * access.count > variable.size) return false;
    return op.values.every((value, e) => {
      const bits = value && this.#valueOf(value);
      if (bits === null) return true;
      if (bits.kind !== "const" || typeof bits.value === "boolean") return false;
      let rest = BigInt(bits.value);
      for (let byte = 0; byte < size; byte++, rest >>= 8n) {
        image[base.variable]![at + e * size + byte] = Number(rest & 0xffn);
      }
      return true;
    });
  }
}

const isOfFrame = (space: string): boolean => space === "local" || space === "call-param" || space === "generic";

/** Whether a value is a number that fits a register of fewer than 32 bits. */
const isBelow = (value: Expr, { registers }: IrFunction, to: number): boolean =>
  value.kind === "const" && Number(value.value) >= 0 && Number(value.value) < 2 ** registers[to]!.bits;
