import { type Access, windows } from "../ir/index.ts";
import type { Extent } from "../machine/extent.ts";
import type { Expr } from "../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import { reachBytes } from "./context-layout.ts";
import type { Frame } from "./frame.ts";
import type { Prepared } from "./prepare.ts";
import { knownReach, type Reach } from "./reach.ts";
import type { Unit } from "./unit.ts";

type Instruction = Prepared["instructions"][number];

/** What an address is reckoned from. */
type Root =
  /** The pointer at an offset among the kernel's parameters. */
  | { readonly kind: "param"; readonly offset: number }
  | { readonly kind: "variable"; readonly extent: Extent }
  | { readonly kind: "frame"; readonly variable: number };

/** What the accesses of a function will probably find: the variable or allocation in which their addresses begin. */
export class Reaches {
  readonly #unit: Unit;
  readonly #writer: FunctionWriter;
  readonly #code: Prepared;
  /** The local that holds the beginning of the context. */
  readonly #context: number;
  readonly #frame: Frame;
  readonly #roots = new Map<number, Reach>();
  #writers: Map<number, Instruction[]> | null = null;

  constructor(unit: Unit, writer: FunctionWriter, code: Prepared, context: number, frame: Frame) {
    this.#unit = unit;
    this.#writer = writer;
    this.#code = code;
    this.#context = context;
    this.#frame = frame;
  }

  /** Brings what the launcher knows of the kernel's pointers into locals. */
  loadRoots(): void {
    const { roots, layout } = this.#unit;
    roots.forEach((root, i) => {
      this.#roots.set(root, this.#load(layout.roots + i * reachBytes));
    });
  }

  /** The reach of an access, and the number of the record that the launcher is to keep up to date, or null. */
  of(access: Access, address: Expr): { readonly reach: Reach; readonly record: number | null } {
    const known = this.#known(access, address);
    if (known !== null) return { reach: known, record: null };
    const record = this.#unit.records++;
    return { reach: this.#load(this.#unit.layout.sites + record * reachBytes), record };
  }

  #known({ space }: Access, address: Expr): Reach | null {
    const { layout } = this.#unit;
    if (space === "kernel-param") {
      const { start } = windows["kernel-param"];
      return knownReach(start, start + layout.roots - layout.params, this.#windowDelta(layout.params, start));
    }
    const root = this.#rootOf(address, new Set());
    if (root === null) return null;
    if (root.kind === "param") return this.#roots.get(root.offset) ?? null;
    if (root.kind === "frame") {
      if (space === "generic") return this.#frame.reachOf(root.variable, true);
      return space === "local" || space === "call-param" ? this.#frame.reachOf(root.variable, false) : null;
    }
    const { start, end } = root.extent;
    return space === "shared" ? knownReach(start, end, this.#windowDelta(layout.shared, windows.shared.start)) : null;
  }

  #windowDelta(at: number, start: number): Wasm {
    return wasm.op("i32.add", wasm.local("i32", this.#context), wasm.i32(at - start));
  }

  /** A reach that the launcher has put into the context. */
  #load(at: number): Reach {
    const w = this.#writer;
    const [from, bytes, delta] = [w.local("i64"), w.local("i64"), w.local("i32")];
    w.get(this.#context);
    w.memory("i64.load", 8, at);
    w.set(from);
    w.get(this.#context);
    w.memory("i64.load32_u", 4, at + 8);
    w.set(bytes);
    w.get(this.#context);
    w.memory("i32.load", 4, at + 12);
    w.set(delta);
    return { from: wasm.local("i64", from), bytes: wasm.local("i64", bytes), delta: wasm.local("i32", delta) };
  }

  /** What an address is reckoned from: a parameter of the kernel, or a variable in its place. Null where that is not plain. */
  #rootOf(expr: Expr, seen: Set<number>): Root | null {
    if (expr.kind === "frame") return { kind: "frame", variable: expr.variable };
    if (expr.kind === "const" && typeof expr.value !== "boolean") return this.#variableAt(Number(expr.value));
    if (expr.kind === "prim") {
      if (!/^i(32|64)\.(add|sub)$|^i64\.extend|^i32\.wrap/.test(expr.prim)) return null;
      for (const arg of expr.args) {
        const root = this.#rootOf(arg, seen);
        if (root !== null) return root;
      }
      return null;
    }
    if (expr.kind !== "reg" || seen.has(expr.reg)) return null;
    seen.add(expr.reg);
    for (const { op, dst } of this.#writersOf(expr.reg)) {
      const root = op.kind === "pure" ? this.#rootOf(op.values[dst.indexOf(expr.reg)]!, seen) : this.#paramOf(op);
      if (root !== null) return root;
    }
    return null;
  }

  #paramOf(op: Instruction["op"]): Root | null {
    if (op.kind !== "load" || op.access.space !== "kernel-param" || op.address.kind !== "const") return null;
    const offset = Number(op.address.value) - windows["kernel-param"].start;
    return this.#unit.roots.includes(offset) ? { kind: "param", offset } : null;
  }

  #variableAt(address: number): Root | null {
    const extent = this.#unit.facts.shared.find((e) => address >= e.start && address < e.end);
    return extent === undefined ? null : { kind: "variable", extent };
  }

  #writersOf(register: number): readonly Instruction[] {
    if (this.#writers === null) {
      this.#writers = new Map();
      for (const instruction of this.#code.instructions) {
        for (const to of instruction.dst) {
          if (typeof to !== "number") continue;
          const list = this.#writers.get(to);
          if (list === undefined) this.#writers.set(to, [instruction]);
          else list.push(instruction);
        }
      }
    }
    return this.#writers.get(register) ?? [];
  }
}
