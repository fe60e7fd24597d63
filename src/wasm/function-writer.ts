import { ByteWriter } from "./bytes.ts";
import type { LibraryFunction, Wasm } from "./expr.ts";
import { type MemoryOp, memoryOps, type ValueOp, valueOps, type WasmTy } from "./ops.ts";

export const typeBytes: Readonly<Record<WasmTy, number>> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b };

/** Where a function is in the module: known only when all are there, hence by name. */
export interface FunctionNames {
  /** The index of an import, a function of the module, or one of the library (which is added when it is first asked for). */
  indexOf(name: string): number;
  library(f: LibraryFunction): number;
}

/** A place that can be branched to: how many labels are open outside of it. */
export interface Label {
  readonly depth: number;
}

/** The body of one function, as it is written. Structure is by `block`, `loop` and `if` with functions that write the inside. */
export class FunctionWriter {
  readonly params: readonly WasmTy[];
  readonly results: readonly WasmTy[];
  readonly #names: FunctionNames;
  readonly #out = new ByteWriter();
  readonly #locals: WasmTy[] = [];
  readonly #free: Record<WasmTy, number[]> = { i32: [], i64: [], f32: [], f64: [], v128: [] };
  #depth = 0;

  constructor(params: readonly WasmTy[], results: readonly WasmTy[], names: FunctionNames) {
    this.params = params;
    this.results = results;
    this.#names = names;
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#out.length;
  }

  /** A local that is nobody else's until it is given to `release`; its value at first is whatever was left in it. */
  local(ty: WasmTy): number {
    return this.#free[ty].pop() ?? this.params.length + this.#locals.push(ty) - 1;
  }

  release(local: number): void {
    this.#free[this.typeOf(local)].push(local);
  }

  typeOf(local: number): WasmTy {
    return this.params[local] ?? this.#locals[local - this.params.length]!;
  }

  get(local: number): void {
    this.#indexed(0x20, local);
  }

  set(local: number): void {
    this.#indexed(0x21, local);
  }

  tee(local: number): void {
    this.#indexed(0x22, local);
  }

  /** Operands are on the stack. */
  op(op: ValueOp, ...immediates: number[]): void {
    const { prefix, code } = valueOps[op];
    this.#code(prefix, code);
    for (const byte of immediates) this.#out.byte(byte);
  }

  /** `align`: bytes, a power of two. `lane`: for operations on one. */
  memory(op: MemoryOp, align: number, offset = 0, lane?: number): void {
    const { prefix, code } = memoryOps[op];
    this.#code(prefix, code);
    this.#out.unsigned(Math.log2(align));
    this.#out.unsigned(offset);
    if (lane !== undefined) this.#out.byte(lane);
  }

  i32(value: number): void {
    this.#out.byte(0x41);
    this.#out.signed32(value);
  }

  i64(value: bigint): void {
    this.#out.byte(0x42);
    this.#out.signed64(value);
  }

  block(inside: (label: Label) => void, result: WasmTy | null = null): void {
    this.#structure(0x02, inside, result);
  }

  loop(inside: (label: Label) => void): void {
    this.#structure(0x03, inside, null);
  }

  /** The condition is on the stack. */
  if(then: () => void, otherwise: (() => void) | null = null, result: WasmTy | null = null): void {
    this.#out.byte(0x04);
    this.#out.byte(result === null ? 0x40 : typeBytes[result]);
    this.#depth++;
    then();
    if (otherwise !== null) {
      this.#out.byte(0x05);
      otherwise();
    }
    this.#end();
  }

  br({ depth }: Label): void {
    this.#indexed(0x0c, this.#depth - 1 - depth);
  }

  brIf({ depth }: Label): void {
    this.#indexed(0x0d, this.#depth - 1 - depth);
  }

  brTable(labels: readonly Label[], otherwise: Label): void {
    this.#out.byte(0x0e);
    this.#out.unsigned(labels.length);
    for (const { depth } of [...labels, otherwise]) this.#out.unsigned(this.#depth - 1 - depth);
  }

  return(): void {
    this.#out.byte(0x0f);
  }

  unreachable(): void {
    this.#out.byte(0x00);
  }

  drop(): void {
    this.#out.byte(0x1a);
  }

  /** Two values and a condition are on the stack. */
  select(ty: WasmTy): void {
    this.#out.byte(0x1c);
    this.#out.byte(1);
    this.#out.byte(typeBytes[ty]);
  }

  call(name: string): void {
    this.#indexed(0x10, this.#names.indexOf(name));
  }

  /** The index into the table is on the stack, behind the arguments. `type`: of `ModuleWriter.type`. */
  callIndirect(type: number): void {
    this.#indexed(0x11, type);
    this.#out.byte(0);
  }

  globalGet(global: number): void {
    this.#indexed(0x23, global);
  }

  globalSet(global: number): void {
    this.#indexed(0x24, global);
  }

  memoryFill(): void {
    this.#out.append([0xfc, 0x0b, 0x00]);
  }

  memoryCopy(): void {
    this.#out.append([0xfc, 0x0a, 0x00, 0x00]);
  }

  /** Leaves the value on the stack. `operands` are the locals that stand for the graph's operands. */
  value(root: Wasm, operands: readonly number[] = []): void {
    const rendering = new Rendering(this, operands, this.#names);
    rendering.value(root);
    rendering.end();
  }

  /** The function's code: its locals, then its instructions. */
  finish(): Uint8Array {
    const head = new ByteWriter();
    const runs: { ty: WasmTy; count: number }[] = [];
    for (const ty of this.#locals) {
      const last = runs.at(-1);
      if (last?.ty === ty) last.count++;
      else runs.push({ ty, count: 1 });
    }
    head.unsigned(runs.length);
    for (const { ty, count } of runs) {
      head.unsigned(count);
      head.byte(typeBytes[ty]);
    }
    head.append(this.#out.bytes);
    head.byte(0x0b);
    return head.bytes.slice();
  }

  /** For `Rendering`: constants of every type. */
  constant(node: Extract<Wasm, { kind: "const" }>): void {
    switch (node.ty) {
      case "i32":
        this.i32(node.value);
        break;
      case "i64":
        this.i64(node.value);
        break;
      case "f32":
        this.#out.byte(0x43);
        this.#out.float32(node.value);
        break;
      case "f64":
        this.#out.byte(0x44);
        this.#out.float64(node.value);
        break;
      case "v128":
        this.#code(0xfd, 0x0c);
        this.#out.append(node.value);
    }
  }

  callIndex(index: number): void {
    this.#indexed(0x10, index);
  }

  #structure(code: number, inside: (label: Label) => void, result: WasmTy | null): void {
    this.#out.byte(code);
    this.#out.byte(result === null ? 0x40 : typeBytes[result]);
    inside({ depth: this.#depth++ });
    this.#end();
  }

  #end(): void {
    this.#out.byte(0x0b);
    this.#depth--;
  }

  #code(prefix: number | null, code: number): void {
    if (prefix === null) this.#out.byte(code);
    else {
      this.#out.byte(prefix);
      this.#out.unsigned(code);
    }
  }

  #indexed(code: number, index: number): void {
    this.#out.byte(code);
    this.#out.unsigned(index);
  }
}

/** Writes one graph: parts that are used more than once are kept in locals. */
class Rendering {
  readonly #writer: FunctionWriter;
  readonly #operands: readonly number[];
  readonly #names: FunctionNames;
  readonly #uses = new Map<Wasm, number>();
  readonly #kept = new Map<Wasm, number>();

  constructor(writer: FunctionWriter, operands: readonly number[], names: FunctionNames) {
    this.#writer = writer;
    this.#operands = operands;
    this.#names = names;
  }

  value(root: Wasm): void {
    this.#count(root);
    this.#write(root);
  }

  end(): void {
    for (const local of this.#kept.values()) this.#writer.release(local);
  }

  #count(node: Wasm): void {
    if (!("args" in node)) return;
    const uses = (this.#uses.get(node) ?? 0) + 1;
    this.#uses.set(node, uses);
    if (uses === 1) for (const arg of node.args) this.#count(arg);
  }

  #write(node: Wasm): void {
    const w = this.#writer;
    switch (node.kind) {
      case "operand":
        w.get(this.#operands[node.index]!);
        return;
      case "local":
        w.get(node.local);
        return;
      case "const":
        w.constant(node);
        return;
    }
    const kept = this.#kept.get(node);
    if (kept !== undefined) {
      w.get(kept);
      return;
    }
    this.#compute(node);
    if (this.#uses.get(node)! > 1) {
      const local = w.local(node.ty);
      this.#kept.set(node, local);
      w.tee(local);
    }
  }

  #compute(node: Extract<Wasm, { args: unknown }>): void {
    const w = this.#writer;
    if (node.kind === "if") {
      const [p, a, b] = node.args;
      // What both branches, or what comes later, may need must be there whichever branch is taken.
      this.#keepShared(a);
      this.#keepShared(b);
      this.#write(p);
      w.if(
        () => this.#write(a),
        () => this.#write(b),
        node.ty,
      );
      return;
    }
    if (node.kind === "select") {
      const [p, a, b] = node.args;
      this.#write(a);
      this.#write(b);
      this.#write(p);
      w.select(node.ty);
      return;
    }
    for (const arg of node.args) this.#write(arg);
    if (node.kind === "call") w.callIndex(this.#names.library(node.function));
    else w.op(node.op, ...node.immediates);
  }

  /** Computes the parts of a branch that have more than one use. */
  #keepShared(node: Wasm): void {
    if (!("args" in node) || this.#kept.has(node)) return;
    if (this.#uses.get(node)! > 1) {
      this.#write(node);
      this.#writer.drop();
      return;
    }
    for (const arg of node.args) this.#keepShared(arg);
  }
}
