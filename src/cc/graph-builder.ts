import type { WasmTy } from "../wasm/operation.ts";
import { memoryOps } from "../wasm/memory-ops.ts";
import { valueOps } from "../wasm/value-ops.ts";
import { ByteReader } from "./byte-reader.ts";
import { assignedInLoops, skipToEnd } from "./code-scan.ts";
import { Block, type Graph, type Node, resolved } from "./graph.ts";
import { hasLane } from "../wasm/memory-ops.ts";
import { immediateBytes } from "../wasm/value-ops.ts";
import { memoryOpOf, valueOpOf } from "./instructions.ts";
import { LocalValues } from "./local-values.ts";
import { type ReadFunction, type ReadModule, typeOfByte } from "./module-reader.ts";
import { NodeTable } from "./node-table.ts";
import { Untranslatable } from "./untranslatable.ts";

/** A construct that is open while code is read. */
interface Frame {
  readonly kind: "function" | "block" | "loop" | "if";
  /** Where its label leads; for a loop its first block. */
  readonly target: Block;
  /** The block in which it began. */
  readonly from: Block;
  readonly result: WasmTy | null;
  readonly height: number;
  /** The second successor of an `if` that has no `else` so far. */
  pending: Block | null;
}

/** Makes the graph of a function: reads its instructions once, with the values of all locals at hand. */
export class GraphBuilder {
  readonly #module: ReadModule;
  readonly #function: ReadFunction;
  readonly #code: ByteReader;
  readonly #table = new NodeTable();
  readonly #blocks: Block[] = [];
  readonly #locals: LocalValues;
  readonly #assigned: ReadonlyMap<number, ReadonlySet<number>>;
  readonly #types: readonly WasmTy[];
  readonly #frames: Frame[] = [];
  readonly #entry: Block;
  #stack: Node[] = [];
  #at: Block;
  /** Vectors that are assigned to locals one after the other: the quads of a value. */
  readonly #groups: Node[][] = [];
  #group: Node[] | null = null;

  constructor(module: ReadModule, f: ReadFunction) {
    this.#module = module;
    this.#function = f;
    this.#types = [...f.type.params, ...f.locals];
    this.#code = new ByteReader(f.code);
    this.#assigned = assignedInLoops(f.code);
    this.#entry = this.#block(null);
    this.#locals = new LocalValues(this.#table, this.#entry, (local) => this.#typeOf(local));
    this.#at = this.#entry;
    f.type.params.forEach((ty, i) => {
      this.#define(i, this.#table.add(this.#entry, { op: "param", ty, immediates: [i] }));
    });
  }

  /** Vectors that belong together, as the quads of a value do. */
  get groups(): readonly (readonly Node[])[] {
    return this.#groups.filter((group) => group.length > 1).map((group) => group.map(resolved).reverse());
  }

  build(): Graph {
    this.#open("function", this.#block(this.#entry), null);
    while (this.#frames.length > 0) this.#instruction();
    return { blocks: this.#blocks, nodes: this.#table.nodes };
  }

  #block(above: Block | null): Block {
    const block = new Block(this.#blocks.length, above);
    this.#blocks.push(block);
    return block;
  }

  #define(local: number, value: Node): void {
    this.#locals.set(this.#at, local, value);
  }

  #typeOf(local: number): WasmTy {
    return this.#types[local] ?? this.#frames[local - this.#types.length]!.result!;
  }

  #read(local: number): Node {
    return this.#locals.get(this.#at, local);
  }

  #edge(from: Block, to: Block): void {
    from.successors.push(to);
    to.predecessors.push(from);
  }

  #goto(to: Block): void {
    this.#at.end = { kind: "goto" };
    this.#edge(this.#at, to);
  }

  #open(kind: Frame["kind"], target: Block, result: WasmTy | null): void {
    const height = this.#stack.length;
    this.#frames.push({ kind, target, from: this.#at, result, height, pending: null });
  }

  #pop(): Node {
    return resolved(this.#stack.pop()!);
  }

  #popMany(count: number): Node[] {
    return count === 0 ? [] : this.#stack.splice(-count).map(resolved);
  }

  #push(node: Node): void {
    this.#stack.push(node);
  }

  /** Where a result of the innermost construct is kept, as if it were a local. */
  get #resultLocal(): number {
    return this.#types.length + this.#frames.length - 1;
  }

  #instruction(): void {
    const offset = this.#code.position;
    const code = this.#code.byte();
    if (code !== 0x21) this.#group = null;
    if (code === 0xfc || code === 0xfd || code === 0xfe) this.#prefixed(code, this.#code.unsigned());
    else if (!this.#control(code, offset) && !this.#simple(code)) this.#operation(null, code);
  }

  #prefixed(prefix: number, code: number): void {
    if (prefix === 0xfc && code === 0x0b) {
      this.#code.skip(1);
      this.#effect("memory.fill", null, this.#popMany(3), []);
    } else if (prefix === 0xfc && code === 0x0a) {
      this.#code.skip(2);
      this.#effect("memory.copy", null, this.#popMany(3), []);
    } else if (prefix === 0xfd && code === 0x0c) {
      this.#push(this.#table.constant(this.#entry, "v128", [...this.#code.bytes(16)]));
    } else this.#operation(prefix, code);
  }

  #effect(op: string, ty: WasmTy | null, args: Node[], immediates: readonly number[]): Node {
    return this.#table.add(this.#at, { op, ty, args, immediates });
  }

  #operation(prefix: number | null, code: number): void {
    const value = valueOpOf(prefix, code);
    if (value !== undefined) {
      const { params, result } = valueOps[value];
      const immediates = [...this.#code.bytes(immediateBytes(value))];
      this.#push(this.#table.pure(this.#at, { op: value, ty: result, args: this.#popMany(params.length), immediates }));
      return;
    }
    const access = memoryOpOf(prefix, code);
    if (access === undefined)
      throw new Untranslatable(`no instruction has the code ${prefix ?? ""} ${code.toString(16)}`);
    const { params, result } = memoryOps[access];
    this.#code.unsigned();
    const immediates = [this.#code.unsigned()];
    if (hasLane(access)) immediates.push(this.#code.byte());
    const node = this.#effect(access, result, this.#popMany(params.length), immediates);
    if (result !== null) this.#push(node);
  }

  #simple(code: number): boolean {
    const read = this.#code;
    switch (code) {
      case 0x20:
        this.#push(this.#read(read.unsigned()));
        return true;
      case 0x21:
        this.#assign(read.unsigned(), this.#pop());
        return true;
      case 0x22:
        this.#define(read.unsigned(), this.#stack.at(-1)!);
        return true;
      case 0x23:
        this.#push(this.#effect("global.get", "i32", [], [read.unsigned()]));
        return true;
      case 0x24:
        this.#effect("global.set", null, [this.#pop()], [read.unsigned()]);
        return true;
      case 0x1a:
        this.#pop();
        return true;
      case 0x1c: {
        read.skip(2);
        const [a, b, p] = this.#popMany(3);
        this.#push(this.#table.pure(this.#at, { op: "select", ty: a!.ty, args: [a!, b!, p!] }));
        return true;
      }
      case 0x10:
        this.#call(read.unsigned());
        return true;
      case 0x11:
        this.#callIndirect(read.unsigned());
        return true;
      default:
        return this.#constant(code);
    }
  }

  #assign(local: number, value: Node): void {
    this.#define(local, value);
    if (value.ty !== "v128") return;
    if (this.#group === null) this.#groups.push((this.#group = []));
    this.#group.push(value);
  }

  #constant(code: number): boolean {
    const view = (size: number): DataView => new DataView(this.#code.bytes(size).slice().buffer);
    const push = (ty: WasmTy, value: number | bigint): boolean => {
      this.#push(this.#table.constant(this.#entry, ty, value));
      return true;
    };
    if (code === 0x41) return push("i32", this.#code.signed32());
    if (code === 0x42) return push("i64", this.#code.signed64());
    // As bits: NaNs stay as they are.
    if (code === 0x43) return push("f32", view(4).getUint32(0, true));
    return code === 0x44 && push("f64", view(8).getBigUint64(0, true));
  }

  #call(index: number): void {
    const { imports, functions } = this.#module;
    const { type } = imports[index] ?? functions[index - imports.length]!;
    const call = this.#effect("call", null, this.#popMany(type.params.length), [index]);
    this.#results(call, type.results);
  }

  #callIndirect(type: number): void {
    this.#code.skip(1);
    const { params, results } = this.#module.types[type]!;
    const call = this.#effect("callIndirect", null, this.#popMany(params.length + 1), [type]);
    this.#results(call, results);
  }

  #results(call: Node, types: readonly WasmTy[]): void {
    types.forEach((ty, i) => {
      this.#push(this.#table.add(this.#at, { op: "result", ty, args: [call], immediates: [i] }));
    });
  }

  #control(code: number, offset: number): boolean {
    switch (code) {
      case 0x00:
        this.#at.end = { kind: "unreachable" };
        this.#skipDead();
        return true;
      case 0x02:
        this.#code.skip(1);
        this.#open("block", this.#block(this.#at), null);
        return true;
      case 0x03:
        this.#beginLoop(offset);
        return true;
      case 0x04:
        this.#beginIf(offset);
        return true;
      case 0x05:
        this.#else();
        return true;
      case 0x0b:
        this.#end();
        return true;
      case 0x0c:
        this.#goto(this.#label(this.#code.unsigned()));
        this.#skipDead();
        return true;
      case 0x0d:
        this.#branchIf(this.#label(this.#code.unsigned()), this.#function.hints.get(offset) ?? null);
        return true;
      case 0x0e:
        this.#branchTable();
        return true;
      case 0x0f:
        this.#at.end = { kind: "return", values: this.#popMany(this.#function.type.results.length) };
        this.#skipDead();
        return true;
      default:
        return false;
    }
  }

  #label(depth: number): Block {
    return this.#frames.at(-1 - depth)!.target;
  }

  #beginLoop(offset: number): void {
    this.#code.skip(1);
    const head = this.#block(this.#at);
    this.#locals.openLoop(head, this.#assigned.get(offset)!);
    this.#goto(head);
    this.#open("loop", head, null);
    this.#at = head;
  }

  #beginIf(offset: number): void {
    const result = typeOfByte(this.#code.byte()) ?? null;
    const on = this.#pop();
    const [then, otherwise] = [this.#block(this.#at), this.#block(this.#at)];
    this.#at.end = { kind: "branch", on, likely: this.#function.hints.get(offset) ?? null };
    this.#edge(this.#at, then);
    this.#edge(this.#at, otherwise);
    this.#open("if", this.#block(this.#at), result);
    this.#frames.at(-1)!.pending = otherwise;
    this.#at = then;
  }

  #else(): void {
    const frame = this.#frames.at(-1)!;
    this.#leave(frame);
    this.#at = frame.pending!;
    frame.pending = null;
    this.#stack.length = frame.height;
  }

  /** Goes from the end of a construct's code to what comes after it. */
  #leave(frame: Frame): void {
    if (frame.result !== null) this.#define(this.#resultLocal, this.#pop());
    this.#goto(frame.target);
  }

  #end(): void {
    const frame = this.#frames.at(-1)!;
    if (frame.kind === "function") {
      this.#at.end = { kind: "return", values: this.#popMany(this.#function.type.results.length) };
      this.#frames.pop();
      return;
    }
    if (frame.kind === "loop") {
      this.#endLoop(frame);
      return;
    }
    this.#leave(frame);
    this.#close(frame);
  }

  /** All ways to the beginning of a loop are known: what comes after its code is only reached by falling out of it. */
  #endLoop(frame: Frame): void {
    this.#locals.seal(frame.target);
    this.#frames.pop();
  }

  /** Goes on after a construct, once all ways to there are known. */
  #close(frame: Frame): void {
    if (frame.pending !== null) {
      this.#at = frame.pending;
      this.#goto(frame.target);
    }
    this.#at = frame.target;
    this.#stack.length = frame.height;
    const result = frame.result === null ? null : this.#read(this.#resultLocal);
    this.#frames.pop();
    if (result !== null) this.#push(result);
  }

  #branchIf(target: Block, likely: boolean | null): void {
    const on = this.#pop();
    const next = this.#block(this.#at);
    this.#at.end = { kind: "branch", on, likely };
    this.#edge(this.#at, target);
    this.#edge(this.#at, next);
    this.#at = next;
  }

  #branchTable(): void {
    const labels = this.#code.list((from) => from.unsigned());
    labels.push(this.#code.unsigned());
    const on = this.#pop();
    this.#at.end = { kind: "table", on };
    for (const depth of labels) this.#edge(this.#at, this.#label(depth));
    this.#skipDead();
  }

  /** Skips the code up to the next place that can be reached. */
  #skipDead(): void {
    for (;;) {
      const ended = skipToEnd(this.#code);
      const frame = this.#frames.at(-1)!;
      if (ended === "else") {
        this.#at = frame.pending!;
        frame.pending = null;
        this.#stack.length = frame.height;
        return;
      }
      if (frame.kind === "function") {
        this.#frames.pop();
        return;
      }
      if (frame.kind === "loop") {
        this.#endLoop(frame);
        continue;
      }
      if (frame.pending !== null || frame.target.predecessors.length > 0) {
        this.#close(frame);
        return;
      }
      this.#frames.pop();
    }
  }
}
