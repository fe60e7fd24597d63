import { isClock } from "../../../ir/clock.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { type ContextLayout, isHeaderWord, tidBytes } from "../../abi/context-layout.ts";
import { isRow, type LaunchShape } from "../../abi/launch-shape.ts";
import {
  type Dimension,
  dimensions,
  isDimension,
  type SpecialLeaf,
  specialShape,
} from "../analysis/values/special-registers.ts";
import type { KnownLanes } from "../analysis/values/known-lanes.ts";
import type { Value } from "../lanes/value.ts";
import { knownValue } from "./expressions.ts";
import { hostClock } from "../module/host-calls.ts";

/** What the number of a block follows from where blocks begin cluster by cluster. */
const clusterNames = ["x", "y", "z"].flatMap((d) => [
  ...[`ctaid.${d}`, `nctaid.${d}`, `clusterid.${d}`, `nclusterid.${d}`, `cluster_nctaid.${d}`],
]);

/**
 * Special registers, kept in locals that are assigned where their values change: at the beginning of the grid, a block
 * or a chunk.
 */
export class SpecialRegisters {
  /** Local: the number in its block of the chunk's first thread. */
  readonly first: number;
  readonly #writer: FunctionWriter;
  readonly #layout: ContextLayout;
  readonly #context: number;
  /** Whether a chunk is a hardware thread (vISA). */
  readonly #isThread: boolean;
  /** Locals of uniform special registers, by name; with chunks in rows, also the `tid` of the first lane. */
  readonly #words = new Map<string, number>();
  /** Locals of `tid`, one for each quad, if chunks are not in rows, or one for each row if they consist of these. */
  readonly #tids = new Map<Dimension, readonly number[]>();
  readonly #time: number | null;
  /** Whether blocks are certainly one row. */
  readonly #isRow: boolean;
  readonly #isUnused: boolean;
  /** Whether blocks begin cluster by cluster. */
  readonly #clustered: boolean;
  /** Whether `%laneid` or `%warpid` is read, which are computed from `first`. */
  readonly #readsFirst: boolean;

  readonly #shape: LaunchShape;
  /** Thread numbers that are the same in each chunk, by lane. */
  readonly #known: KnownLanes["numbers"];

  /** `used`: the names that `specialsOf` returns. */
  constructor(
    writer: FunctionWriter,
    layout: ContextLayout,
    context: number,
    shape: LaunchShape,
    { used, known }: { used: ReadonlySet<string>; readonly known: KnownLanes["numbers"] },
  ) {
    this.#known = known;
    this.#shape = shape;
    if (shape.clustered && used.size > 0) used = new Set([...used, ...clusterNames]);
    this.#clustered = shape.clustered;
    this.#writer = writer;
    this.#layout = layout;
    this.#context = context;
    this.#isRow = shape.block !== null && isRow(shape.block);
    this.#isThread = shape.width !== null;
    this.#isUnused = used.size === 0;
    this.#readsFirst = used.has("laneid") || used.has("warpid");
    this.first = writer.local("i32");
    for (const name of used) {
      if (isDimension(name) && !shape.rows && known.has(name)) continue;
      if (isDimension(name) && !shape.rows) {
        const length = rowLengthOf(name, shape);
        const count = length === null ? shape.quads : (4 * shape.quads) / length;
        const locals = Array.from({ length: count }, () => writer.local(length === null ? "v128" : "i32"));
        this.#tids.set(name, locals);
      } else if (isDimension(name) || isHeaderWord(name)) this.#words.set(name, writer.local("i32"));
    }
    this.#time = [...used].some(isClock) ? writer.local("i64") : null;
  }

  value(leaf: SpecialLeaf): Value {
    const { name, ty } = leaf;
    if (isClock(name)) return this.#clock(name);
    const known = this.#known.get(name);
    if (known !== undefined) return knownValue(specialShape(leaf, this.#shape), ty, known);
    const tids = isDimension(name) ? this.#tids.get(name) : undefined;
    if (tids !== undefined && isDimension(name)) return this.#tid(name, tids);
    const first = wasm.local("i32", this.first);
    if (name === "laneid") {
      const base = this.#isThread ? wasm.i32(0) : wasm.op("i32.and", first, wasm.i32(31));
      return this.#numbers(base);
    }
    const word = name === "warpid" ? wasm.op("i32.shr_u", first, wasm.i32(5)) : this.#word(name);
    if (name === "tid.x") return this.#numbers(word);
    return { kind: "uniform", ty, scalar: ty === "i64" ? wasm.op("i64.extend_i32_u", word) : word };
  }

  /** The numbers of threads that lie in several rows. */
  #tid(name: Dimension, locals: readonly number[]): Value {
    const shape = specialShape({ kind: "special", name, ty: "i32" }, this.#shape);
    if (shape.kind !== "rows") return { kind: "vector", ty: "i32", quads: locals.map((l) => [wasm.local("v128", l)]) };
    const { x, length } = shape.rows;
    return { kind: "rows", ty: "i32", bases: locals.map((l) => wasm.local("i32", l)), stride: x, length };
  }

  /** The numbers of the chunk's lanes, given that of the first. */
  #numbers(first: Wasm): Value {
    if (this.#shape.scalar) return { kind: "uniform", ty: "i32", scalar: first };
    return { kind: "affine", ty: "i32", base: first, stride: 1 };
  }

  loadGrid(): void {
    for (const [name, local] of this.#words) {
      if (!isHeaderWord(name)) continue;
      this.#load(local, this.#layout.words[name]);
    }
  }

  /** At the beginning of a function that the kernel calls: loads everything from the context. */
  enter(): void {
    if (this.#isUnused) return;
    const w = this.#writer;
    const ticket = w.local("i32");
    this.loadGrid();
    this.#load(ticket, this.#layout.words.blockIndex);
    this.#load(this.first, this.#layout.words.first);
    this.firstBlock(ticket);
    this.#placeChunk();
    this.#loadAllTids();
    w.release(ticket);
  }

  /** Sets the registers of a block from its linear block index (`ticket`). */
  firstBlock(ticket: number): void {
    const t = wasm.local("i32", ticket);
    this.#set("smid", () => wasm.op("i32.rem_u", t, this.#word("nsmid")));
    if (this.#clustered) {
      this.#placeByCluster(t);
      return;
    }
    const row = (): Wasm => wasm.op("i32.div_u", t, this.#word("nctaid.x"));
    this.#set("ctaid.x", () => wasm.op("i32.rem_u", t, this.#word("nctaid.x")));
    this.#set("ctaid.y", () => wasm.op("i32.rem_u", row(), this.#word("nctaid.y")));
    this.#set("ctaid.z", () => wasm.op("i32.div_u", row(), this.#word("nctaid.y")));
    this.#placeInCluster();
  }

  /** Sets the registers of the nth block in the order of clusters. */
  #placeByCluster(n: Wasm): void {
    if (this.#isUnused) return;
    const word = (name: string): Wasm => this.#word(name);
    const [cx, cy, cz] = ["x", "y", "z"].map((d) => word(`cluster_nctaid.${d}`)) as [Wasm, Wasm, Wasm];
    const layer = wasm.op("i32.mul", cx, cy);
    const size = wasm.op("i32.mul", layer, cz);
    const [cluster, rank] = [wasm.op("i32.div_u", n, size), wasm.op("i32.rem_u", n, size)];
    const within = [rank, wasm.op("i32.div_u", rank, cx), wasm.op("i32.div_u", rank, layer)];
    const rows = wasm.op("i32.div_u", cluster, word("nclusterid.x"));
    const beyond = [cluster, rows, wasm.op("i32.div_u", rows, word("nclusterid.y"))];
    (["x", "y", "z"] as const).forEach((d, i) => {
      const first = wasm.op("i32.rem_u", beyond[i]!, word(`nclusterid.${d}`));
      const own = wasm.op("i32.rem_u", within[i]!, word(`cluster_nctaid.${d}`));
      this.#set(`ctaid.${d}`, () => wasm.op("i32.add", wasm.op("i32.mul", first, word(`cluster_nctaid.${d}`)), own));
    });
    this.#placeInCluster();
  }

  /** Sets the registers of a block that depend on which block of its cluster it is. */
  #placeInCluster(): void {
    for (const d of ["x", "y", "z"] as const) {
      const blocks = (): Wasm => this.#word(`cluster_nctaid.${d}`);
      this.#set(`clusterid.${d}`, () => wasm.op("i32.div_u", this.#word(`ctaid.${d}`), blocks()));
      this.#set(`cluster_ctaid.${d}`, () => wasm.op("i32.rem_u", this.#word(`ctaid.${d}`), blocks()));
    }
    const [x, y, z] = ["x", "y", "z"].map((d) => (): Wasm => this.#word(`cluster_ctaid.${d}`));
    const inLayer = (): Wasm => wasm.op("i32.add", wasm.op("i32.mul", z!(), this.#word("cluster_nctaid.y")), y!());
    this.#set("cluster_ctarank", () =>
      wasm.op("i32.add", wasm.op("i32.mul", inLayer(), this.#word("cluster_nctaid.x")), x!()),
    );
  }

  /**
   * Advances to the next block, whose index is `ticket`: without division, which is slow, where there are no clusters.
   */
  nextBlock(ticket: number): void {
    if (this.#clustered) {
      this.firstBlock(ticket);
      return;
    }
    this.#count("smid", "nsmid", 1);
    this.#count("ctaid.x", "nctaid.x", 1, () =>
      this.#count("ctaid.y", "nctaid.y", 1, () => this.#set("ctaid.z", () => this.#plus("ctaid.z", 1))),
    );
    this.#placeInCluster();
  }

  /** The number of blocks from this one to the end of its row of the grid; null if `%ctaid.x` is not used. */
  blocksInRow(): Wasm | null {
    return this.#words.has("ctaid.x") ? wasm.op("i32.sub", this.#word("nctaid.x"), this.#word("ctaid.x")) : null;
  }

  /**
   * The blocks of a row of the grid, and the number of rows from this one to the end of its plane; null if `%ctaid.y`
   * is not used.
   */
  rowsInPlane(): { readonly blocks: Wasm; readonly rows: Wasm } | null {
    if (!this.#words.has("ctaid.y")) return null;
    const rows = wasm.op("i32.sub", this.#word("nctaid.y"), this.#word("ctaid.y"));
    return { blocks: this.#word("nctaid.x"), rows };
  }

  startBlock(ticket: number): void {
    this.#store(ticket, this.#layout.words.blockIndex);
  }

  /** Sets `tid` for the first chunk of a block. */
  firstChunk(): void {
    for (const name of dimensions) this.#set(name, () => wasm.i32(0));
  }

  nextChunk(lanes: number): void {
    if (this.#isRow) {
      this.#set("tid.x", () => this.#plus("tid.x", lanes));
      return;
    }
    this.#count("tid.x", "ntid.x", lanes, () => this.nextRow());
  }

  /** Advances within a row to the chunk that begins at `x`. At the end of the row `nextRow` follows. */
  nextInRow(x: Wasm, lanes: number): void {
    this.#set("tid.x", () => x);
    if (this.#readsFirst) {
      const next = wasm.op("i32.add", wasm.local("i32", this.first), wasm.i32(lanes));
      this.#writer.assign([{ local: this.first, value: next }]);
    }
  }

  nextRow(): void {
    this.#set("tid.x", () => wasm.i32(0));
    this.#count("tid.y", "ntid.y", 1, () => this.#set("tid.z", () => this.#plus("tid.z", 1)));
  }

  /** Turns to the chunk of the block's first row that begins at `x`. */
  placeInRow(x: Wasm): void {
    this.#writer.assign([{ local: this.first, value: x }]);
    this.firstChunk();
    this.#set("tid.x", () => x);
  }

  startChunk(): void {
    this.#store(this.first, this.#layout.words.first);
    this.#loadAllTids();
  }

  #placeChunk(): void {
    const first = wasm.local("i32", this.first);
    const row = (): Wasm => wasm.op("i32.div_u", first, this.#word("ntid.x"));
    this.#set("tid.x", () => wasm.op("i32.rem_u", first, this.#word("ntid.x")));
    this.#set("tid.y", () => wasm.op("i32.rem_u", row(), this.#word("ntid.y")));
    this.#set("tid.z", () => wasm.op("i32.div_u", row(), this.#word("ntid.y")));
  }

  /** Increments a register; at the end of its range it restarts at 0, and `next` carries. */
  #count(name: string, range: string, by: number, next: () => void = () => {}): void {
    if (!this.#words.has(name)) return;
    const w = this.#writer;
    w.assign([{ local: this.#words.get(name)!, value: this.#plus(name, by) }]);
    w.value(wasm.op("i32.ge_u", this.#word(name), this.#word(range)));
    w.if(() => {
      this.#set(name, () => wasm.i32(0));
      next();
    });
  }

  #plus(name: string, by: number): Wasm {
    return wasm.op("i32.add", this.#word(name), wasm.i32(by));
  }

  #loadAllTids(): void {
    for (const [name, locals] of this.#tids) this.#loadTids(dimensions.indexOf(name), locals);
  }

  /** Loads those that are kept by rows, for invariants that are computed before the chunk begins. */
  loadRows(): void {
    for (const [name, locals] of this.#tids) {
      if (rowLengthOf(name, this.#shape) !== null) this.#loadTids(dimensions.indexOf(name), locals);
    }
  }

  /** Loads `tid` from the table in the context. */
  #loadTids(dimension: number, locals: readonly number[]): void {
    const w = this.#writer;
    const words = wasm.op("i32.shl", wasm.local("i32", this.first), wasm.i32(2));
    const at = wasm.op("i32.add", wasm.local("i32", this.#context), words);
    const table = this.#layout.tids + dimension * tidBytes;
    const length = rowLengthOf(dimensions[dimension]!, this.#shape);
    locals.forEach((local, i) => {
      w.value(at);
      if (length === null) w.memory("v128.load", 16, table + 16 * i);
      else w.memory("i32.load", 4, table + 4 * length * i);
      w.set(local);
    });
  }

  /** Reads the clock once for an instruction. */
  #clock(name: string): Value {
    const w = this.#writer;
    const time = this.#time!;
    w.value(hostClock());
    w.set(time);
    const now = wasm.local("i64", time);
    if (name === "clock64" || name === "globaltimer") return { kind: "uniform", ty: "i64", scalar: now };
    const half = name.endsWith("_hi") ? wasm.op("i64.shr_u", now, wasm.i64(32n)) : now;
    return { kind: "uniform", ty: "i32", scalar: wasm.op("i32.wrap_i64", half) };
  }

  #word(name: string): Wasm {
    return wasm.local("i32", this.#words.get(name)!);
  }

  /** Assigns a register, if it is used. */
  #set(name: string, value: () => Wasm): void {
    const local = this.#words.get(name);
    if (local !== undefined) this.#writer.assign([{ local, value: value() }]);
  }

  #load(local: number, at: number): void {
    this.#writer.get(this.#context);
    this.#writer.memory("i32.load", 4, at);
    this.#writer.set(local);
  }

  #store(local: number, at: number): void {
    this.#writer.get(this.#context);
    this.#writer.get(local);
    this.#writer.memory("i32.store", 4, at);
  }
}

/** The lanes of a row where `tid` is kept by rows; else null. */
function rowLengthOf(name: Dimension, shape: LaunchShape): number | null {
  const found = specialShape({ kind: "special", name, ty: "i32" }, shape);
  return found.kind === "rows" ? found.rows.length : null;
}
