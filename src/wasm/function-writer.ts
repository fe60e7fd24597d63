import { ByteWriter } from "./bytes.ts";
import { EventLog, opcodes } from "./code-events.ts";
import type { RareCode, WrittenBody } from "./function-body.ts";
import { typeBytes } from "./function-code.ts";
import type { Assignment, CutCode, Expectation, Label, OwnMemory } from "./function-parts.ts";
import type { Wasm } from "./graph.ts";
import { limits, TooLarge } from "./limits.ts";
import { type MemoryOp, memoryOps } from "./memory-ops.ts";
import { MergeCount } from "./merge-count.ts";
import type { ModuleScope } from "./module-scope.ts";
import type { WasmTy } from "./operation.ts";
import { type InstructionSink, render } from "./rendering.ts";
import { type ValueOp, valueOps } from "./value-ops.ts";

const noOperands: readonly number[] = [];

/** Numbers from here on stand for values in memory, which can be used like locals. */
const firstInMemory = 0x100_0000;

/**
 * Writes the body of one function. A local is known by its number; a spilled value has a number too and is used in the
 * same way.
 */
export class FunctionWriter implements InstructionSink {
  readonly params: readonly WasmTy[];
  readonly results: readonly WasmTy[];
  readonly #module: ModuleScope;
  readonly #out = new ByteWriter();
  /** Positions in `#out` where the index of a called function has to be inserted, once all functions are known. */
  readonly #calls: { readonly at: number; readonly callee: string }[] = [];
  /** Positions in `#out` of branches with a likely outcome. */
  readonly #hints: { readonly at: number; readonly expected: boolean }[] = [];
  #expected: Expectation = null;
  /** What uses locals or directs control in `#out`. */
  readonly #events = new EventLog();
  /** What is hardly ever executed. */
  readonly #rare: RareCode[] = [];
  readonly #locals: WasmTy[] = [];
  readonly #free: Record<WasmTy, number[]> = { i32: [], i64: [], f32: [], f64: [], v128: [] };
  readonly #inMemory: { readonly ty: WasmTy; readonly base: number; readonly at: number }[] = [];
  #spilled = 0;
  /** Locals that always are 0. */
  readonly #zeros: Partial<Record<WasmTy, number>> = {};
  #memory: OwnMemory | null = null;
  readonly #merges = new MergeCount();
  #depth = 0;
  /** Of the code that is being cut out, the locals that are released with it, and the labels around it. */
  #cut: { readonly held: number[]; readonly depth: number } | null = null;

  constructor(params: readonly WasmTy[], results: readonly WasmTy[], module: ModuleScope) {
    this.params = params;
    this.results = results;
    this.#module = module;
  }

  /** The size of the code so far, in bytes. */
  get size(): number {
    return this.#out.length;
  }

  /** Returns a local that is not in use; `release` gives it back. Its initial value is undefined. */
  local(ty: WasmTy): number {
    return this.#free[ty].pop() ?? this.params.length + this.#locals.push(ty) - 1;
  }

  /** Returns a local that begins as 0, for a value that is written in part, or on some ways only; see `forget`. */
  cleared(ty: WasmTy): number {
    const local = this.local(ty);
    this.forget(local);
    return local;
  }

  /** Makes a local 0, so that what it held need not be kept, even over loops. A spilled value stays as it is. */
  forget(local: number): void {
    if (local >= firstInMemory) return;
    const ty = this.typeOf(local);
    // A local that nothing is assigned to is the shortest zero.
    this.get((this.#zeros[ty] ??= this.params.length + this.#locals.push(ty) - 1));
    this.#event(opcodes.set, local);
  }

  /** Sets the spill area that `lasting` uses while it has room. */
  keepIn(memory: OwnMemory): void {
    this.#memory = memory;
  }

  /**
   * Returns a local for a value that lives until the function ends. There may be very many of these: beyond the spill
   * budget they are spilled to memory.
   */
  lasting(ty: WasmTy): number {
    if (this.#memory === null || this.#locals.length < this.#memory.mostLocals) return this.local(ty);
    const at = 16 * this.#spilled;
    if (at + 16 > this.#memory.bytes) return this.local(ty);
    this.#spilled++;
    return this.inMemory(ty, this.#memory.base, this.#memory.offset + at);
  }

  /** Returns a number for a value that lies in memory, `at` bytes from the address in a local. */
  inMemory(ty: WasmTy, base: number, at: number): number {
    return firstInMemory + this.#inMemory.push({ ty, base, at }) - 1;
  }

  /** Makes a local available again. */
  release(local: number): void {
    (this.#cut?.held ?? this.#free[this.typeOf(local)]).push(local);
  }

  /** Cuts out what `inside` writes, none of whose branches leaves it. */
  cut(inside: () => void): CutCode {
    const [start, calls, hints] = [this.#out.length, this.#calls.length, this.#hints.length];
    const outer = this.#cut;
    const held: number[] = [];
    this.#cut = { held, depth: this.#depth };
    inside();
    this.#cut = outer;
    const [called, hinted] = [this.#calls.splice(calls), this.#hints.splice(hints)];
    while ((this.#rare.at(-1)?.to ?? 0) > start) this.#rare.pop();
    const [bytes, noted] = [this.#out.cut(start), this.#events.cut(start)];
    return {
      write: () => {
        const moved = this.#out.length - start;
        this.#out.append(bytes);
        noted(moved);
        for (const call of called) this.#calls.push({ ...call, at: call.at + moved });
        for (const hint of hinted) this.#hints.push({ ...hint, at: hint.at + moved });
      },
      release: () => {
        for (const local of held.splice(0)) this.release(local);
      },
    };
  }

  typeOf(local: number): WasmTy {
    if (local >= firstInMemory) return this.#inMemory[local - firstInMemory]!.ty;
    const { length } = this.params;
    return local < length ? this.params[local]! : this.#locals[local - length]!;
  }

  get(local: number): void {
    if (local < firstInMemory) this.#event(opcodes.get, local);
    else {
      const { ty, base, at } = this.#inMemory[local - firstInMemory]!;
      this.get(base);
      this.memory(`${ty}.load`, 4, at);
    }
  }

  set(local: number): void {
    this.#merges.assigned();
    if (local < firstInMemory) this.#event(opcodes.set, local);
    else {
      const { ty, base, at } = this.#inMemory[local - firstInMemory]!;
      const value = this.local(ty);
      this.set(value);
      this.get(base);
      this.get(value);
      this.memory(`${ty}.store`, 4, at);
      this.release(value);
    }
  }

  tee(local: number): void {
    this.#merges.assigned();
    if (local < firstInMemory) this.#event(opcodes.tee, local);
    else {
      this.set(local);
      this.get(local);
    }
  }

  /** Writes an instruction whose operands are on the stack. `immediates` are the bytes after the opcode. */
  op(op: ValueOp, immediates: readonly number[] = []): void {
    const lacksIt = op === "i8x16.relaxed_laneselect" && !this.#module.features.laneSelect;
    const { prefix, code } = valueOps[lacksIt ? "v128.bitselect" : op];
    this.#out.opcode(prefix, code);
    for (let i = 0; i < immediates.length; i++) this.#out.byte(immediates[i]!);
  }

  /**
   * Writes a memory access whose operands are on the stack. `align` is in bytes, a power of two; `lane` is for accesses
   * of a single lane.
   */
  memory(op: MemoryOp, align: number, offset = 0, lane?: number): void {
    const { prefix, code } = memoryOps[op];
    this.#out.opcode(prefix, code);
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

  /** Begins a block, to whose end branches go, or a loop, to whose beginning; `end` closes the innermost one. */
  begin(what: "block" | "loop"): Label {
    this.#requireSize();
    this.#event(opcodes[what], 0x40);
    this.#merges.begin(what);
    return { depth: this.#depth++ };
  }

  end(): void {
    this.#control(opcodes.end);
    this.#merges.end(this.#locals.length);
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

  /** Tells the likely outcome of the next `if` or `brIf`, for which the host optimizes at the cost of the other one. */
  expect(expected: boolean): void {
    this.#expected = expected;
  }

  #hinted(): void {
    if (this.#expected !== null) this.#hints.push({ at: this.#out.length, expected: this.#expected });
    this.#expected = null;
  }

  /** Writes an `if` whose condition is on the stack. */
  if(then: () => void, otherwise: (() => void) | null = null, result: WasmTy | null = null): void {
    const expected = result === null ? this.#expected : null;
    this.#hinted();
    this.#event(opcodes.if, result === null ? 0x40 : typeBytes[result]);
    this.#merges.begin("if");
    this.#depth++;
    this.rarely(expected === false, then);
    if (otherwise !== null) {
      this.#control(opcodes.else);
      this.rarely(expected === true, otherwise);
    }
    this.end();
  }

  /** Notes that what `inside` writes is hardly ever executed, if it `isRare`. */
  rarely(isRare: boolean, inside: () => void): void {
    const from = this.#out.length;
    inside();
    if (isRare) this.#rare.push({ from, to: this.#out.length });
  }

  br({ depth }: Label): void {
    this.#merges.branch(depth);
    this.#event(opcodes.br, this.#distance(depth));
  }

  #distance(depth: number): number {
    if (depth < (this.#cut?.depth ?? 0)) throw new Error("a branch out of code that is cut out");
    return this.#depth - 1 - depth;
  }

  brIf({ depth }: Label): void {
    this.#hinted();
    this.#merges.branch(depth);
    this.#event(opcodes.brIf, this.#distance(depth));
  }

  brTable(labels: readonly Label[], otherwise: Label): void {
    const distances = [...labels, otherwise].map(({ depth }) => this.#distance(depth));
    this.#control(opcodes.brTable, this.#events.tables.push(distances) - 1);
    this.#out.unsigned(labels.length);
    for (const distance of distances) {
      this.#merges.branchBy(distance);
      this.#out.unsigned(distance);
    }
  }

  return(): void {
    this.#control(opcodes.return);
  }

  unreachable(): void {
    this.#control(opcodes.unreachable);
  }

  drop(): void {
    this.#out.byte(0x1a);
  }

  /** Writes a `select`: two values and a condition are on the stack. */
  select(ty: WasmTy): void {
    this.#out.append([0x1c, 1, typeBytes[ty]]);
  }

  /** Writes a call. The function may be added to the module later. */
  call(name: string): void {
    this.#out.byte(0x10);
    this.#calls.push({ at: this.#out.length, callee: name });
  }

  /**
   * Writes a call through the table; the index is on the stack after the arguments. `type` comes from
   * `ModuleWriter.type`.
   */
  callIndirect(type: number): void {
    this.#out.indexed(0x11, type);
    this.#out.byte(0);
  }

  globalGet(global: number): void {
    this.#out.indexed(0x23, global);
  }

  globalSet(global: number): void {
    this.#out.indexed(0x24, global);
  }

  memoryFill(): void {
    this.#out.append([0xfc, 0x0b, 0x00]);
  }

  memoryCopy(): void {
    this.#out.append([0xfc, 0x0a, 0x00, 0x00]);
  }

  /** Leaves a value on the stack. `operands` are the locals that stand for the graph's operands. */
  value(root: Wasm, operands: readonly number[] = noOperands): void {
    render(this, [root], operands, this.#module);
  }

  /** Leaves all values on the stack, the last one on top. All are computed from the current values of locals. */
  values(roots: readonly Wasm[], operands: readonly number[] = noOperands): void {
    render(this, roots, operands, this.#module);
  }

  /** Assigns all locals at once: every value is computed from the old ones. */
  assign(assignments: readonly Assignment[]): void {
    const roots: Wasm[] = [];
    for (let i = 0; i < assignments.length; i++) roots.push(assignments[i]!.value);
    this.values(roots);
    for (let i = assignments.length - 1; i >= 0; i--) this.set(assignments[i]!.local);
  }

  /**
   * The function's code.
   *
   * @throws TooLarge if it is larger than hosts accept
   */
  finish(): WrittenBody {
    this.#requireSize();
    const [params, results, code, locals] = [this.params, this.results, this.#out, this.#locals];
    const [calls, hints, rare, events, merges] = [this.#calls, this.#hints, this.#rare, this.#events, this.#merges];
    return { params, results, code, locals, calls, hints, rare, events, merges };
  }

  /** Called while code is written, too: writing code that is far too large takes long. */
  #requireSize(): void {
    // A generous estimate of what locals and calls add in the end.
    const bytes = this.#out.length + 5 * this.#calls.length + 6 * this.#locals.length;
    if (bytes > limits.functionBytes || this.params.length + this.#locals.length > limits.locals) {
      throw new TooLarge("code that is larger than WebAssembly may be");
    }
  }

  /** Writes a constant of any type. */
  constant(node: Extract<Wasm, { kind: "const" }>): void {
    if (node.ty === "i32") this.i32(node.value);
    else if (node.ty === "i64") this.i64(node.value);
    else if (node.ty === "v128") {
      this.#out.opcode(0xfd, 0x0c);
      this.#out.append(node.value);
    } else if (node.ty === "f32") {
      this.#out.byte(0x43);
      this.#out.float32(node.value);
    } else {
      this.#out.byte(0x44);
      this.#out.float64(node.value);
    }
  }

  /** Writes an instruction that directs control, without what follows its opcode. */
  #control(code: number, operand = 0): void {
    this.#events.add(code, operand, this.#out.length);
    this.#out.byte(code);
  }

  /** Writes an instruction of which the operand, in LEB128, is all that follows. */
  #event(code: number, operand: number): void {
    this.#control(code, operand);
    this.#out.unsigned(operand);
  }
}
