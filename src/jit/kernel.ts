import { type Access, type IrFunction, windows } from "../ir/index.ts";
import { type Bindings, splitOffset } from "../semantics/bind.ts";
import type { Expr } from "../semantics/index.ts";
import { type Features, type FunctionWriter, ModuleWriter, type Wasm, wasm } from "../wasm/index.ts";
import { Analysis } from "./analysis.ts";
import { Body } from "./body.ts";
import { Chunk } from "./chunk.ts";
import { type ContextLayout, isHeaderWord, layContext, reachBytes } from "./context-layout.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { knownReach, type Reach } from "./reach.ts";
import { uniform, vector } from "./shape.ts";
import { accessFunctions } from "./access-functions.ts";
import { Unsupported } from "./unsupported.ts";
import type { Value } from "./value.ts";

/** What of a launch the code of a kernel is made for. */
export interface LaunchShape {
  /** Each chunk of lanes lies in one row of the block, or the block has one row. */
  readonly rows: boolean;
  /** The threads of a block fill all chunks. */
  readonly full: boolean;
}

/** What is known of the program that the kernel is part of. */
export interface ProgramFacts {
  readonly bindings: Bindings;
  readonly addressSize: 32 | 64;
  /** Extents of the shared variables, as addresses. */
  readonly shared: readonly { readonly start: number; readonly end: number }[];
  readonly sharedBytes: number;
}

/** An instruction that accesses memory. */
export interface Site {
  readonly function: string;
  readonly instruction: number;
  /** Where in the context it remembers what it accessed, or null. */
  readonly record: number | null;
}

/** A kernel as a WebAssembly module, and what the launcher must know to run it. */
export interface CompiledKernel {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lanes: number;
  readonly layout: ContextLayout;
  /** Offsets of the parameters that are pointers whose allocation is looked up beforehand. */
  readonly roots: readonly number[];
  /** By number, the instructions that the module asks the launcher about. */
  readonly sites: readonly Site[];
  /** Host functions that the module imports. */
  readonly imports: readonly string[];
}

export function compileKernel(
  ir: IrFunction,
  shape: LaunchShape,
  facts: ProgramFacts,
  features: Features,
): CompiledKernel {
  return new KernelCompiler(ir, shape, facts, features).compile();
}

class KernelCompiler {
  readonly #ir: IrFunction;
  readonly #shape: LaunchShape;
  readonly #facts: ProgramFacts;
  readonly #module: ModuleWriter;
  readonly #code: Prepared;
  readonly #quads = 2;
  readonly #sites: Site[] = [];
  /** How many instructions remember what they accessed, and the one that is being written. */
  #records = 0;
  #record: number | null = null;
  readonly #roots: number[];
  readonly #layout: ContextLayout;
  readonly #rootReaches = new Map<number, Reach>();

  constructor(ir: IrFunction, shape: LaunchShape, facts: ProgramFacts, features: Features) {
    this.#ir = ir;
    this.#shape = shape;
    this.#facts = facts;
    this.#module = new ModuleWriter(features);
    this.#code = prepare(ir, facts.bindings);
    this.#roots = ir.params.flatMap(({ storage, type }) =>
      storage.kind === "kernel" && type.size === facts.addressSize / 8 && type.kind !== "f" ? [storage.offset] : [],
    );
    const paramBytes = ir.params.reduce(
      (end, { storage, type }) => (storage.kind === "kernel" ? Math.max(end, storage.offset + type.size) : end),
      0,
    );
    this.#layout = layContext({
      lanes: this.#quads * 4,
      paramBytes,
      roots: this.#roots.length,
      sites: this.#code.instructions.length,
      stateBytes: 0,
      sharedBytes: facts.sharedBytes,
    });
  }

  compile(): CompiledKernel {
    const m = this.#module;
    m.importMemory({ initial: 1, maximum: 65536, shared: false });
    m.importFunction("translate", ["i32", "i32", "i32"], []);
    accessFunctions(m, this.#layout, this.#quads * 4);
    this.#writeRun();
    m.export("run");
    const bytes = m.finish();
    return {
      name: this.#ir.name,
      bytes,
      lanes: this.#quads * 4,
      layout: this.#layout,
      roots: this.#roots,
      sites: this.#sites,
      imports: m.imports,
    };
  }

  /** `run(context, from, to)`: the blocks with these tickets. */
  #writeRun(): void {
    const w = this.#module.function("run", ["i32", "i32", "i32"], []);
    const context = 0;
    const [ticket, last] = [1, 2];
    const analysis = new Analysis(this.#code, {
      special: ({ name }) => {
        if (name === "tid.x") return this.#shape.rows ? { kind: "affine", stride: 1 } : vector;
        if (name === "tid.y" || name === "tid.z") return this.#shape.rows ? uniform : vector;
        return name === "laneid" ? { kind: "affine", stride: 1 } : uniform;
      },
      params: new Map(),
      full: this.#shape.full,
      stalls: () => false,
    });
    const specials = new Specials(w, this.#layout, context, this.#shape.rows, this.#quads, this.#code);
    const chunk = new Chunk(
      w,
      analysis,
      this.#quads,
      (leaf) => specials.value(leaf),
      () => {
        throw new Unsupported("a frame");
      },
    );
    const body = new Body(chunk, {
      context,
      layout: this.#layout,
      reachOf: (_, access, address) => this.#reachOf(w, context, access, address),
      siteOf: (instruction) => this.#sites.push({ function: this.#ir.name, instruction, record: this.#record }) - 1,
    });
    this.#roots.forEach((root, i) => {
      this.#rootReaches.set(root, loadReach(w, context, this.#layout.roots + i * reachBytes));
    });
    const threads = w.local("i32");
    const first = specials.first;
    specials.loadGrid();
    w.get(context);
    w.memory("i32.load", 4, this.#layout.words.threads);
    w.set(threads);
    const none = w.begin("block");
    w.value(wasm.op("i32.ge_u", wasm.local("i32", ticket), wasm.local("i32", last)));
    w.brIf(none);
    const blocks = w.begin("loop");
    specials.startBlock(ticket);
    w.assign([{ local: first, value: wasm.i32(0) }]);
    const chunks = w.begin("loop");
    specials.startChunk();
    this.#activate(chunk, threads, first);
    this.#clearRegisters(chunk);
    body.flow.reset();
    body.flow.write();
    w.value(wasm.op("i32.add", wasm.local("i32", first), wasm.i32(chunk.lanes)));
    w.tee(first);
    w.get(threads);
    w.op("i32.lt_u");
    w.brIf(chunks);
    w.end();
    w.value(wasm.op("i32.add", wasm.local("i32", ticket), wasm.i32(1)));
    w.tee(ticket);
    w.get(last);
    w.op("i32.lt_u");
    w.brIf(blocks);
    w.end();
    w.end();
  }

  /** The lanes that have a thread. */
  #activate(chunk: Chunk, threads: number, first: number): void {
    const left = wasm.op("i32x4.splat", wasm.op("i32.sub", wasm.local("i32", threads), wasm.local("i32", first)));
    chunk.writer.assign(
      chunk.active.map((local, q) => ({
        local,
        value: this.#shape.full
          ? wasm.i32x4(-1)
          : wasm.op("i32x4.lt_s", wasm.lanes([4 * q, 4 * q + 1, 4 * q + 2, 4 * q + 3]), left),
      })),
    );
  }

  /** Registers that are read before they are written hold zeros. */
  #clearRegisters(chunk: Chunk): void {
    const zero = { i32: wasm.i32(0), i64: wasm.i64(0n), v128: wasm.i32x4(0), f32: wasm.f32(0), f64: wasm.f64(0) };
    this.#code.liveness.liveIn(0).forEach((r) => {
      chunk.writer.assign(chunk.locals(r).map((local) => ({ local, value: zero[chunk.writer.typeOf(local)] })));
    });
  }

  #reachOf(w: FunctionWriter, context: number, access: Access, address: Expr): Reach {
    const { offset } = splitOffset(address);
    const layout = this.#layout;
    this.#record = null;
    switch (access.space) {
      case "kernel-param": {
        const { start } = windows["kernel-param"];
        const bytes = layout.roots - layout.params;
        return knownReach(start, start + bytes, this.#windowDelta(context, layout.params, start));
      }
      case "shared": {
        const at = Number(offset);
        const found = this.#facts.shared.find((e) => at >= e.start && at < e.end) ?? this.#facts.shared[0];
        if (found === undefined) break;
        return knownReach(found.start, found.end, this.#windowDelta(context, layout.shared, windows.shared.start));
      }
      default:
        break;
    }
    const root = this.#rootOf(address, new Set());
    if (root !== null) return this.#rootReaches.get(root)!;
    this.#record = this.#records++;
    return loadReach(w, context, layout.sites + this.#record * reachBytes);
  }

  #windowDelta(context: number, at: number, start: number): Wasm {
    return wasm.op("i32.add", wasm.local("i32", context), wasm.i32(at - start));
  }

  /** The parameter from which an address is reckoned, if it is one. */
  #rootOf(expr: Expr, seen: Set<number>): number | null {
    if (expr.kind === "prim" && (expr.prim === "i64.add" || expr.prim === "i64.sub")) {
      const [a, b] = expr.args.map((arg) => this.#rootOf(arg, seen));
      return a ?? b ?? null;
    }
    if (expr.kind !== "reg" || seen.has(expr.reg)) return null;
    seen.add(expr.reg);
    for (const { op, dst } of this.#writers(expr.reg)) {
      if (op.kind === "pure") {
        const value = op.values[dst.indexOf(expr.reg)];
        const root = value === undefined ? null : this.#rootOf(value, seen);
        if (root !== null) return root;
      }
      if (op.kind === "load" && op.access.space === "kernel-param" && op.address.kind === "const") {
        const at = Number(op.address.value) - windows["kernel-param"].start;
        if (this.#roots.includes(at)) return at;
      }
    }
    return null;
  }

  #writerIndex: Map<number, Prepared["instructions"][number][]> | null = null;

  #writers(register: number): readonly Prepared["instructions"][number][] {
    if (this.#writerIndex === null) {
      this.#writerIndex = new Map();
      for (const i of this.#code.instructions) {
        for (const to of i.dst) {
          if (typeof to !== "number") continue;
          const list = this.#writerIndex.get(to);
          if (list === undefined) this.#writerIndex.set(to, [i]);
          else list.push(i);
        }
      }
    }
    return this.#writerIndex.get(register) ?? [];
  }
}

/** A reach that the launcher has put into the context. */
function loadReach(w: FunctionWriter, context: number, at: number): Reach {
  const [from, bytes, delta] = [w.local("i64"), w.local("i64"), w.local("i32")];
  w.get(context);
  w.memory("i64.load", 8, at);
  w.set(from);
  w.get(context);
  w.memory("i64.load32_u", 4, at + 8);
  w.set(bytes);
  w.get(context);
  w.memory("i32.load", 4, at + 12);
  w.set(delta);
  return { from: wasm.local("i64", from), bytes: wasm.local("i64", bytes), delta: wasm.local("i32", delta) };
}

/** The values of special registers, in locals that are filled where they begin to hold. */
class Specials {
  readonly first: number;
  readonly #writer: FunctionWriter;
  readonly #layout: ContextLayout;
  readonly #context: number;
  readonly #rows: boolean;
  readonly #quads: number;
  readonly #words = new Map<string, number>();
  readonly #tids = new Map<string, readonly number[]>();
  readonly #row: Record<"tid.x" | "tid.y" | "tid.z", number>;

  constructor(
    writer: FunctionWriter,
    layout: ContextLayout,
    context: number,
    rows: boolean,
    quads: number,
    code: Prepared,
  ) {
    this.#writer = writer;
    this.#layout = layout;
    this.#context = context;
    this.#rows = rows;
    this.#quads = quads;
    this.first = writer.local("i32");
    this.#row = { "tid.x": writer.local("i32"), "tid.y": writer.local("i32"), "tid.z": writer.local("i32") };
    void code;
    for (const name of [
      "ntid.x",
      "ntid.y",
      "ntid.z",
      "nctaid.x",
      "nctaid.y",
      "nctaid.z",
      "ctaid.x",
      "ctaid.y",
      "ctaid.z",
    ]) {
      this.#words.set(name, writer.local("i32"));
    }
  }

  value(leaf: Extract<Expr, { kind: "special" }>): Value {
    const { name, ty } = leaf;
    const scalar = (value: Wasm): Value => ({ kind: "uniform", ty: "i32", scalar: value });
    if (ty !== "i32") throw new Unsupported(name);
    if (name === "tid.x" || name === "tid.y" || name === "tid.z") {
      if (!this.#rows) {
        const locals = this.#tids.get(name);
        if (locals === undefined) throw new Unsupported(`${name} of any block`);
        return { kind: "vector", ty: "i32", quads: locals.map((l) => [wasm.local("v128", l)]) };
      }
      const base = wasm.local("i32", this.#row[name]);
      return name === "tid.x" ? { kind: "affine", ty: "i32", base, stride: 1 } : scalar(base);
    }
    const first = wasm.local("i32", this.first);
    if (name === "laneid")
      return { kind: "affine", ty: "i32", base: wasm.op("i32.and", first, wasm.i32(31)), stride: 1 };
    if (name === "warpid") return scalar(wasm.op("i32.shr_u", first, wasm.i32(5)));
    const word = this.#words.get(name);
    if (word === undefined) throw new Unsupported(name);
    return scalar(wasm.local("i32", word));
  }

  loadGrid(): void {
    for (const [name, local] of this.#words) if (isHeaderWord(name)) this.#load(local, this.#layout.words[name]);
    void this.#quads;
  }

  /** The block's numbers, from its place in the order of the grid. */
  startBlock(ticket: number): void {
    const w = this.#writer;
    this.#store(ticket, this.#layout.words.ticket);
    const local = (name: string): Wasm => wasm.local("i32", this.#words.get(name)!);
    const t = wasm.local("i32", ticket);
    w.assign([
      { local: this.#words.get("ctaid.x")!, value: wasm.op("i32.rem_u", t, local("nctaid.x")) },
      {
        local: this.#words.get("ctaid.y")!,
        value: wasm.op("i32.rem_u", wasm.op("i32.div_u", t, local("nctaid.x")), local("nctaid.y")),
      },
      {
        local: this.#words.get("ctaid.z")!,
        value: wasm.op("i32.div_u", wasm.op("i32.div_u", t, local("nctaid.x")), local("nctaid.y")),
      },
    ]);
  }

  startChunk(): void {
    const w = this.#writer;
    this.#store(this.first, this.#layout.words.first);
    const first = wasm.local("i32", this.first);
    const [x, y] = [wasm.local("i32", this.#words.get("ntid.x")!), wasm.local("i32", this.#words.get("ntid.y")!)];
    w.assign([
      { local: this.#row["tid.x"], value: wasm.op("i32.rem_u", first, x) },
      { local: this.#row["tid.y"], value: wasm.op("i32.rem_u", wasm.op("i32.div_u", first, x), y) },
      { local: this.#row["tid.z"], value: wasm.op("i32.div_u", wasm.op("i32.div_u", first, x), y) },
    ]);
  }

  #store(local: number, at: number): void {
    this.#writer.get(this.#context);
    this.#writer.get(local);
    this.#writer.memory("i32.store", 4, at);
  }

  #load(local: number, at: number): void {
    this.#writer.get(this.#context);
    this.#writer.memory("i32.load", 4, at);
    this.#writer.set(local);
  }
}
