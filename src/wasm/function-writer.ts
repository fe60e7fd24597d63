import { ByteWriter } from "./bytes.ts";
import type { Features, LibraryFunction, Wasm } from "./expr.ts";
import { type MemoryOp, memoryOps, type ValueOp, valueOps, type WasmTy } from "./ops.ts";

export const typeBytes: Readonly<Record<WasmTy, number>> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b };

/** The module around a function: it has what the function's graphs call. Functions go by their names. */
export interface Surroundings {
  readonly features: Features;
  /** Imports a function of the host, unless it is there, and gives its name. */
  hostFunction(name: string, params: readonly WasmTy[], result: WasmTy): string;
  /** The same for a function of the library, which the module then contains. */
  library(f: LibraryFunction): string;
}

/** A place that can be branched to: how many labels are open outside of it. */
export interface Label {
  readonly depth: number;
}

/** What the condition of a branch most often is; null: nobody knows. */
export type Expectation = boolean | null;

/** A function's code, and by the offset of a conditional branch in it what its condition most often is. */
export interface FunctionCode {
  readonly bytes: Uint8Array;
  readonly hints: readonly (readonly [offset: number, expected: boolean])[];
}

/** The body of one function, as it is written. */
export class FunctionWriter {
  readonly params: readonly WasmTy[];
  readonly results: readonly WasmTy[];
  readonly #module: Surroundings;
  readonly #out = new ByteWriter();
  /** Where in `#out` the number of a called function belongs: known when all functions are. */
  readonly #calls: { readonly at: number; readonly callee: string }[] = [];
  /** Where in `#out` branches are whose conditions are most often the same. */
  readonly #hints: { readonly at: number; readonly expected: boolean }[] = [];
  #expected: Expectation = null;
  readonly #locals: WasmTy[] = [];
  readonly #free: Record<WasmTy, number[]> = { i32: [], i64: [], f32: [], f64: [], v128: [] };
  #depth = 0;

  constructor(params: readonly WasmTy[], results: readonly WasmTy[], module: Surroundings) {
    this.params = params;
    this.results = results;
    this.#module = module;
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

  /** Begins a block (branches go to its end) or a loop (they go to its beginning); `end` closes what was begun last. */
  begin(what: "block" | "loop"): Label {
    this.#out.byte(what === "block" ? 0x02 : 0x03);
    this.#out.byte(0x40);
    return { depth: this.#depth++ };
  }

  end(): void {
    this.#out.byte(0x0b);
    this.#depth--;
  }

  block(inside: (label: Label) => void): void {
    inside(this.begin("block"));
    this.end();
  }

  loop(inside: (label: Label) => void): void {
    inside(this.begin("loop"));
    this.end();
  }

  /** What the condition of the next `if` or `brIf` most often is: the host makes code for that, at the cost of the other way. */
  expect(expected: boolean): void {
    this.#expected = expected;
  }

  #hinted(): void {
    if (this.#expected !== null) this.#hints.push({ at: this.#out.length, expected: this.#expected });
    this.#expected = null;
  }

  /** The condition is on the stack. */
  if(then: () => void, otherwise: (() => void) | null = null, result: WasmTy | null = null): void {
    this.#hinted();
    this.#out.byte(0x04);
    this.#out.byte(result === null ? 0x40 : typeBytes[result]);
    this.#depth++;
    then();
    if (otherwise !== null) {
      this.#out.byte(0x05);
      otherwise();
    }
    this.end();
  }

  br({ depth }: Label): void {
    this.#indexed(0x0c, this.#depth - 1 - depth);
  }

  brIf({ depth }: Label): void {
    this.#hinted();
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

  /** The function may be added to the module later. */
  call(name: string): void {
    this.#out.byte(0x10);
    this.#calls.push({ at: this.#out.length, callee: name });
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
    this.values([root], operands);
  }

  /** Leaves all values on the stack, the last on top: they are computed from the locals as they are before. */
  values(roots: readonly Wasm[], operands: readonly number[] = []): void {
    new Rendering(this, operands, this.#module).values(roots);
  }

  /** Gives all locals their new values at once. */
  assign(assignments: readonly { readonly local: number; readonly value: Wasm }[]): void {
    this.values(assignments.map((a) => a.value));
    for (let i = assignments.length - 1; i >= 0; i--) this.set(assignments[i]!.local);
  }

  /** The function's code: its locals, then its instructions. `indexOf` numbers the functions of the module. */
  finish(indexOf: (name: string) => number): FunctionCode {
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
    const hints: (readonly [number, boolean])[] = [];
    let from = 0;
    let next = 0;
    const append = (end: number): void => {
      for (let hint = this.#hints[next]; hint !== undefined && hint.at < end; hint = this.#hints[++next]) {
        hints.push([head.length + hint.at - from, hint.expected]);
      }
      head.append(this.#out.bytes.subarray(from, end));
      from = end;
    };
    for (const { at, callee } of this.#calls) {
      append(at);
      head.unsigned(indexOf(callee));
    }
    append(this.#out.length);
    head.byte(0x0b);
    return { bytes: head.bytes.slice(), hints };
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
  readonly #module: Surroundings;
  readonly #uses = new Map<Wasm, number>();
  readonly #kept = new Map<Wasm, number>();
  readonly #natives = new Map<Wasm, Wasm>();

  constructor(writer: FunctionWriter, operands: readonly number[], module: Surroundings) {
    this.#writer = writer;
    this.#operands = operands;
    this.#module = module;
  }

  values(roots: readonly Wasm[]): void {
    for (const root of roots) this.#count(root);
    for (const root of roots) this.#write(root);
    for (const local of this.#kept.values()) this.#writer.release(local);
  }

  /** What is written for a node: for a call of what the machine itself has, that. */
  #resolved(node: Wasm): Wasm {
    if (node.kind !== "call") return node;
    const { native } = node.function;
    if (native === undefined || !this.#module.features[native.feature]) return node;
    const known = this.#natives.get(node);
    if (known !== undefined) return known;
    const body = native.body(...node.args);
    this.#natives.set(node, body);
    return body;
  }

  #count(unresolved: Wasm): void {
    const node = this.#resolved(unresolved);
    if (!("args" in node)) return;
    const uses = (this.#uses.get(node) ?? 0) + 1;
    this.#uses.set(node, uses);
    if (uses === 1) for (const arg of node.args) this.#count(arg);
  }

  #write(unresolved: Wasm): void {
    const w = this.#writer;
    const node = this.#resolved(unresolved);
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
      for (const branch of [a, b]) this.#keepShared(branch, this.#usesWithin(branch));
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
    if (node.kind === "op") w.op(node.op, ...node.immediates);
    else if (node.kind === "call") w.call(this.#module.library(node.function));
    else {
      const params = node.args.map((arg) => arg.ty);
      w.call(this.#module.hostFunction(node.name, params, node.ty));
    }
  }

  #usesWithin(branch: Wasm): ReadonlyMap<Wasm, number> {
    const uses = new Map<Wasm, number>();
    const visit = (unresolved: Wasm): void => {
      const node = this.#resolved(unresolved);
      if (!("args" in node) || this.#kept.has(node)) return;
      const seen = uses.get(node) ?? 0;
      uses.set(node, seen + 1);
      if (seen === 0) for (const arg of node.args) visit(arg);
    };
    visit(branch);
    return uses;
  }

  /** Computes the parts of a branch that are used outside of it, too. */
  #keepShared(unresolved: Wasm, within: ReadonlyMap<Wasm, number>, seen = new Set<Wasm>()): void {
    const node = this.#resolved(unresolved);
    if (!("args" in node) || this.#kept.has(node) || seen.has(node)) return;
    seen.add(node);
    if (this.#uses.get(node)! > within.get(node)!) {
      this.#write(node);
      this.#writer.drop();
      return;
    }
    for (const arg of node.args) this.#keepShared(arg, within, seen);
  }
}
