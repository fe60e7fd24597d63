import type { Wasm } from "./graph.ts";
import type { ModuleScope } from "./module-scope.ts";
import type { WasmTy } from "./operation.ts";
import type { ValueOp } from "./value-ops.ts";

/** Takes the instructions of a rendered graph; see `FunctionWriter`. */
export interface InstructionSink {
  get(local: number): void;
  tee(local: number): void;
  local(ty: WasmTy): number;
  release(local: number): void;
  constant(node: Extract<Wasm, { kind: "const" }>): void;
  op(op: ValueOp, immediates: readonly number[]): void;
  select(ty: WasmTy): void;
  if(then: () => void, otherwise: () => void, result: WasmTy): void;
  call(name: string): void;
  drop(): void;
}

/**
 * Writes code that leaves the values of graphs on the stack. `operands` are the locals that stand for the graphs'
 * operands.
 */
export function render(
  writer: InstructionSink,
  roots: readonly Wasm[],
  operands: readonly number[],
  module: ModuleScope,
): void {
  // Nearly all graphs are small and share nothing.
  const seen: Wasm[] = [];
  for (let i = 0; i < roots.length; i++) {
    if (isSmallTree(roots[i]!, seen)) continue;
    new Rendering(writer, operands, module).values(roots);
    return;
  }
  for (let i = 0; i < roots.length; i++) writeTree(writer, roots[i]!, operands);
}

/** The largest graph that is searched linearly for shared nodes. */
const maxNodes = 32;

/** Whether a graph consists of few operations, none of which is in `seen` already; adds them to `seen`. */
function isSmallTree(node: Wasm, seen: Wasm[]): boolean {
  if (!("args" in node)) return true;
  if ((node.kind !== "op" && node.kind !== "select") || seen.length === maxNodes || seen.includes(node)) return false;
  seen.push(node);
  const { args } = node;
  for (let i = 0; i < args.length; i++) if (!isSmallTree(args[i]!, seen)) return false;
  return true;
}

function writeTree(writer: InstructionSink, node: Wasm, operands: readonly number[]): void {
  if (writeLeaf(writer, node, operands)) return;
  if (node.kind === "op") {
    const { args } = node;
    for (let i = 0; i < args.length; i++) writeTree(writer, args[i]!, operands);
    writer.op(node.op, node.immediates);
  } else if (node.kind === "select") {
    const [p, a, b] = node.args;
    writeTree(writer, a, operands);
    writeTree(writer, b, operands);
    writeTree(writer, p, operands);
    writer.select(node.ty);
  }
}

/** Writes a leaf; returns false if the node is not one. */
function writeLeaf(w: InstructionSink, node: Wasm, operands: readonly number[]): boolean {
  switch (node.kind) {
    case "operand":
      w.get(operands[node.index]!);
      return true;
    case "local":
      w.get(node.local);
      return true;
    case "const":
      w.constant(node);
      return true;
    default:
      return false;
  }
}

/** Writes graphs, keeping parts that are used more than once in locals. */
class Rendering {
  readonly #writer: InstructionSink;
  readonly #operands: readonly number[];
  readonly #module: ModuleScope;
  readonly #uses = new Map<Wasm, number>();
  readonly #kept = new Map<Wasm, number>();
  #natives: Map<Wasm, Wasm> | null = null;

  constructor(writer: InstructionSink, operands: readonly number[], module: ModuleScope) {
    this.#writer = writer;
    this.#operands = operands;
    this.#module = module;
  }

  values(roots: readonly Wasm[]): void {
    for (const root of roots) this.#count(root);
    for (const root of roots) this.#write(root);
    for (const local of this.#kept.values()) this.#writer.release(local);
  }

  /**
   * Returns the node to write: the native replacement of a call if the machine has the feature, else the node itself.
   */
  #resolved(node: Wasm): Wasm {
    if (node.kind !== "call") return node;
    const { native } = node.function;
    if (native === undefined || !this.#module.features[native.feature]) return node;
    this.#natives ??= new Map();
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
    if (writeLeaf(w, node, this.#operands) || !("args" in node)) return;
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
      // Parts that both branches or later code may need have to be computed whichever branch is taken.
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
    if (node.kind === "op") w.op(node.op, node.immediates);
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

  /** Computes the parts of a branch that are also used outside it. */
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
