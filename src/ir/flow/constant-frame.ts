import { bind, bitsOf, splitOffset } from "../../semantics/bind.ts";
import { type Expr, kit } from "../../semantics/index.ts";
import type { Instruction } from "../instruction.ts";
import type { FrameImage, FrameParameter, IrFunction } from "../module.ts";
import { accessesOf, controlOf, targetsIn, traitOf } from "../op-traits.ts";
import { type FlowGraph, flowGraphOf } from "./flow-graph.ts";
import { variablesInMemory } from "./variables-in-memory.ts";

/** The most bytes of variables: they are written each time that blocks begin to run. */
const maxBytes = 4096;

/**
 * A kernel whose frame is the same in all lanes, with the frame's contents in place of the stores that write them: a
 * table of constants or parameters, which compilers copy into an array of the thread before they read it. The same
 * kernel where it is anything else.
 *
 * Only the first instructions, which all lanes execute before they read the frame, may write it. All addresses at
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

/** What a kernel does first, as far as it follows from constants and parameters. */
class Prefix {
  readonly #ir: IrFunction;
  readonly #graph: FlowGraph;
  /** By register, the constant that it holds, or the address of a variable plus a constant. */
  readonly #known = new Map<number, Expr>();
  /** By register, the parameter that it holds, as its bits and its address. */
  readonly #parameters = new Map<number, Pick<FrameParameter, "bits" | "from">>();
  readonly #image: { readonly bytes: readonly Uint8Array[]; readonly parameters: FrameParameter[] };

  constructor(ir: IrFunction) {
    this.#ir = ir;
    this.#graph = flowGraphOf(ir.instructions);
    this.#image = { bytes: ir.frame.map(({ size }) => new Uint8Array(size)), parameters: [] };
  }

  /** Executes some stores. Null if any has to be left to the lanes, or something reads the frame before it. */
  store(stores: readonly number[]): FrameImage | null {
    const { instructions } = this.#ir;
    const targets = new Set(instructions.flatMap(({ op }) => targetsIn(op)));
    const last = stores.at(-1) ?? -1;
    let next = 0;
    for (let i = 0; i <= last; i++) {
      const instruction = instructions[i]!;
      if (targets.has(i)) return null;
      if (controlOf(instruction.op) !== "next") {
        if (!this.#leaves(instruction, last)) return null;
      } else if (stores[next] === i) {
        if (!this.#store(instruction)) return null;
        next++;
      } else if (this.#readsFrame(instruction)) return null;
      else this.#compute(instruction);
    }
    return this.#image;
  }

  /** Whether a branch leads lanes past the last store to where nothing reads the frame. */
  #leaves({ op, guard }: Instruction, last: number): boolean {
    if (op.kind !== "branch" || guard === null || op.target <= last) return false;
    const { blocks, blockAt } = this.#graph;
    const reached = new Set([blockAt(op.target)]);
    for (const index of reached) {
      const block = blocks[index];
      if (block === undefined) continue;
      for (let i = block.start; i < block.end; i++) if (this.#readsFrame(this.#ir.instructions[i]!)) return false;
      for (const to of block.successors) reached.add(to);
    }
    return true;
  }

  #readsFrame({ op }: Instruction): boolean {
    return accessesOf(op).some(({ access }) => isOfFrame(access.space));
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
    const parameters = dst.map((to, i) => {
      const value = values[i];
      const held = value?.kind === "reg" ? this.#parameters.get(value.reg) : parameterIn(op, i);
      return held !== undefined && typeof to === "number" && this.#ir.registers[to]!.bits === held.bits ? held : null;
    });
    dst.forEach((to, i) => {
      if (typeof to !== "number") return;
      const value = values[i];
      const parameter = parameters[i]!;
      if (parameter !== null && guard === null && lanes === undefined) this.#parameters.set(to, parameter);
      else this.#parameters.delete(to);
      const isKnown = value !== undefined && (value.kind === "const" || splitOffset(value).base?.kind === "frame");
      // A register of fewer bits would hold a part of it.
      const isWhole = this.#ir.registers[to]!.bits >= 32 || (value !== undefined && isBelow(value, this.#ir, to));
      if (isKnown && isWhole && guard === null && lanes === undefined) this.#known.set(to, value);
      else this.#known.delete(to);
    });
  }

  /** Whether some bytes have been written with a parameter, which would be written once more. */
  #isParameter({ variable, at }: Pick<FrameParameter, "variable" | "at">, size: number): boolean {
    const isThere = (p: FrameParameter): boolean =>
      p.variable === variable && p.at < at + size && at < p.at + p.bits / 8;
    return this.#image.parameters.some(isThere);
  }

  #store({ op, guard, lanes }: Instruction): boolean {
    if (op.kind !== "store" || guard !== null || lanes !== undefined || op.place.kind !== "address") return false;
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
      const to = { variable: base.variable, at: at + e * size };
      const parameter = bits.kind === "reg" ? this.#parameters.get(bits.reg) : undefined;
      if (parameter !== undefined && parameter.bits === access.bits) {
        this.#image.parameters.push({ ...to, ...parameter });
        return true;
      }
      if (bits.kind !== "const" || typeof bits.value === "boolean" || this.#isParameter(to, size)) return false;
      let rest = BigInt(bits.value);
      for (let byte = 0; byte < size; byte++, rest >>= 8n) {
        this.#image.bytes[to.variable]![to.at + byte] = Number(rest & 0xffn);
      }
      return true;
    });
  }
}

/** A parameter that an operation loads as its result number `element`. */
function parameterIn(op: Instruction["op"], element: number): Pick<FrameParameter, "bits" | "from"> | undefined {
  if (op.kind !== "load" || op.access.space !== "kernel-param") return undefined;
  const { bits, volatile } = op.access;
  const address = op.place.kind === "address" && op.place.surface === undefined ? op.place.address : null;
  if (address?.kind !== "const" || typeof address.value === "boolean" || volatile) return undefined;
  return bits === 32 || bits === 64 ? { bits, from: Number(address.value) + (element * bits) / 8 } : undefined;
}

const isOfFrame = (space: string): boolean => space === "local" || space === "call-param" || space === "generic";

/** Whether a value is a number that fits a register of fewer than 32 bits. */
const isBelow = (value: Expr, { registers }: IrFunction, to: number): boolean =>
  value.kind === "const" && Number(value.value) >= 0 && Number(value.value) < 2 ** registers[to]!.bits;
