import type { Expr } from "../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import { type ContextLayout, isHeaderWord } from "./context-layout.ts";
import { type Shape, uniform, vector } from "./shape.ts";
import { Unsupported } from "./unsupported.ts";
import type { Value } from "./value.ts";

type SpecialLeaf = Extract<Expr, { kind: "special" }>;

/** How a special register varies over a chunk. `rows`: each chunk lies in one row of the block. */
export function specialShape({ name }: SpecialLeaf, rows: boolean): Shape {
  if (name === "tid.x") return rows ? { kind: "affine", stride: 1 } : vector;
  if (name === "tid.y" || name === "tid.z") return rows ? uniform : vector;
  return name === "laneid" ? { kind: "affine", stride: 1 } : uniform;
}

/** The values of special registers, in locals that are filled where they begin to hold. */
export class Specials {
  readonly first: number;
  readonly #writer: FunctionWriter;
  readonly #layout: ContextLayout;
  readonly #context: number;
  readonly #rows: boolean;
  readonly #words = new Map<string, number>();
  readonly #tids = new Map<string, readonly number[]>();
  readonly #row: Record<"tid.x" | "tid.y" | "tid.z", number>;

  constructor(writer: FunctionWriter, layout: ContextLayout, context: number, rows: boolean) {
    this.#writer = writer;
    this.#layout = layout;
    this.#context = context;
    this.#rows = rows;
    this.first = writer.local("i32");
    this.#row = { "tid.x": writer.local("i32"), "tid.y": writer.local("i32"), "tid.z": writer.local("i32") };
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
