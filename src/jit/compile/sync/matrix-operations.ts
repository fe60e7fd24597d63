import { type Arrangement, type Destination, fragmentOf, type MatrixProduct, type WarpOp } from "../../../ir/index.ts";
import { type Tile, tileFunctions, tileOf, wideBytes } from "../../../tiles/index.ts";
import { type ModuleWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { Faults } from "../emit/faults.ts";
import { canonicalNan } from "../lanes/canonical-nan.ts";
import type { Mask } from "../lanes/mask.ts";
import { type Value, vectorOf } from "../lanes/value.ts";
import type { Place } from "../emit/register-locals.ts";
import type { FunctionContext } from "../module/function-context.ts";
import { callHost, importHost } from "../module/host-calls.ts";
import { fragmentsOf } from "../plan/memory-registers.ts";
import { type Side, TilePlan, tileSlots } from "./tile-plan.ts";

/**
 * The destination of results: the registers of a block's instruction, in the lanes of `guard` (null: in all that are
 * active).
 */
export interface Results {
  readonly block: number;
  readonly instruction: number;
  readonly dst: readonly Destination[];
  readonly guard: Mask;
}

/** Registers of a product, by their numbers among its operands, and where they lie in memory, if they do. */
interface Fragment {
  readonly from: number;
  readonly end: number;
  readonly place: Place | null;
}

/**
 * Whether a tile's result may not be written where it belongs, as operands lie there: those of sums are needed if the
 * tile cannot form them; those of integers are not, and accumulators may be where the result goes.
 */
function overlaps(tile: Tile, dst: readonly Destination[], { a, b, c }: ReturnType<typeof fragmentsOf>): boolean {
  const results = new Set(dst);
  const isIn = (registers: readonly number[] | null): boolean => registers?.some((r) => results.has(r)) === true;
  if (tile.kind === "integer") return isIn(c) && c!.join() !== dst.join();
  return isIn(a) || isIn(b) || isIn(c);
}

type Operation<K extends WarpOp["op"]> = Extract<WarpOp, { op: K }>;

/** The same arrangement of words, if the parts of each word stay together. */
function wholeWords(arrangement: Arrangement): Arrangement {
  const parts = 32 / arrangement.bits;
  const isWhole = (first: number, i: number, from: readonly number[]): boolean =>
    i % parts !== 0 ||
    (first < 0
      ? from.slice(i, i + parts).every((part) => part < 0)
      : first % parts === 0 && from.slice(i, i + parts).every((part, j) => part === first + j));
  if (!arrangement.from.every((from) => from.every(isWhole))) return arrangement;
  const words = (from: readonly number[]): number[] =>
    from.filter((_, i) => i % parts === 0).map((first) => (first < 0 ? -1 : first / parts));
  return { bits: 32, from: arrangement.from.map(words) };
}

/** Bytes of a 32-bit register of all lanes. */
const bytesOfRegister = 128;

/** Bytes of the context that the tiles of some products need. */
export function tileBytes(products: readonly MatrixProduct[]): { readonly left: number; readonly right: number } {
  const tiles = products.flatMap((product) => tileOf(product) ?? []).map(wideBytes);
  const most = (side: Side): number => tileSlots[side] * Math.max(0, ...tiles.map((bytes) => bytes[side]));
  return { left: most("left"), right: most("right") };
}

const vector = (ty: "i32" | "i64", quads: readonly (readonly Wasm[])[]): Value => ({ kind: "vector", ty, quads });

/** Writes operations on matrices in the registers of a whole warp: a chunk has all its lanes. */
export class MatrixOperations {
  readonly #chunk: Chunk;
  readonly #function: FunctionContext;
  readonly #module: ModuleWriter;
  readonly #faults: Faults;
  /** The locals that hold parts of the results until `release`. */
  readonly #taken: number[] = [];
  #plan: TilePlan | null = null;

  constructor(chunk: Chunk, context: FunctionContext, module: ModuleWriter) {
    this.#chunk = chunk;
    this.#function = context;
    this.#module = module;
    this.#faults = new Faults(chunk, context);
  }

  /** Ends the launch unless all 32 lanes of a warp are here, if any is. `present`: those that are, as bits. */
  align(lanes: Mask, present: Wasm, instruction: number): void {
    const { writer, lanes: width } = this.#chunk;
    if (lanes === null && width === 32) return;
    const here = writer.local("i32");
    writer.assign([{ local: here, value: present }]);
    const some = wasm.op("i32.ne", wasm.local("i32", here), wasm.i32(0));
    writer.value(wasm.op("i32.and", some, wasm.op("i32.ne", wasm.local("i32", here), wasm.i32(-1))));
    writer.expect(false);
    writer.if(() => this.#faults.raise(instruction, lanes));
    writer.release(here);
  }

  /** Stores the operands, from which each lane takes its parts. */
  arrange({ operands, arrangement }: Operation<"arrange">): readonly Value[] {
    const { writer, quads } = this.#chunk;
    const { context, layout } = this.#function;
    this.#store(operands, layout.values);
    const { bits, from } = wholeWords(arrangement);
    const load = { 8: "v128.load8_lane", 16: "v128.load16_lane", 32: "v128.load32_lane" } as const;
    const parts = 128 / bits;
    return from.map((sources) => {
      const found = Array.from({ length: quads }, (_, q) => {
        const local = this.#local();
        writer.assign([{ local, value: wasm.i32x4(0) }]);
        for (let part = 0; part < parts; part++) {
          const source = sources[q * parts + part]!;
          if (source < 0) continue;
          writer.get(context);
          writer.get(local);
          writer.memory(load[bits], bits / 8, layout.values + (source * bits) / 8, part);
          writer.set(local);
        }
        return [wasm.local("v128", local)];
      });
      return vector("i32", found);
    });
  }

  /** Returns the results, or null if it has written them. */
  multiply(op: Operation<"multiply">, results: Results): readonly Value[] | null {
    const { instruction } = results;
    const tile = this.#function.unit.shape.exactSums ? null : tileOf(op.product);
    if (tile !== null) return this.#multiplyTile(op, tile, results);
    const { layout } = this.#function;
    this.#store(op.operands, layout.fragments);
    this.#multiplyInHost(instruction);
    return this.#loadResult(op, layout.fragments);
  }

  /** Widens what is not yet widened, and multiplies. What the tile's functions cannot do the launcher does. */
  #multiplyTile(op: Operation<"multiply">, tile: Tile, results: Results): readonly Value[] | null {
    const { writer } = this.#chunk;
    const { layout } = this.#function;
    const { operands, product } = op;
    const names = tileFunctions(this.#module, tile);
    const own = fragmentsOf(product, operands);
    const afterA = fragmentOf(product, "a").registers;
    const afterB = afterA + fragmentOf(product, "b").registers;
    const fragment = (name: keyof typeof own, from: number, end: number): Fragment => {
      return { from, end, place: own[name] && this.#chunk.fragment(own[name]) };
    };
    const a = fragment("a", 0, afterA);
    const b = fragment("b", afterA, afterB);
    const c = fragment("c", afterB, operands.length);
    this.#plan ??= new TilePlan(this.#chunk.analysis);
    const slots = this.#plan.of(results.instruction);
    /** Where a fragment lies; if it is not one in memory, its registers are stored. */
    const load = ({ from, end, place }: Fragment): Place => {
      if (place !== null) return place;
      this.#store(operands.slice(from, end), this.#scratch(from).offset);
      return this.#scratch(from);
    };
    const widen = (side: Side, matrix: Fragment, start: number): Place => {
      const { number, isFilled } = slots[side];
      const at = { base: this.#function.context, offset: start + number * wideBytes(tile)[side] };
      if (!isFilled) {
        this.#push(load(matrix));
        this.#push(at);
        writer.call(names[side]);
      }
      return at;
    };
    const left = widen("left", a, layout.leftTiles);
    const right = widen("right", b, layout.rightTiles);
    const start = load(c);
    const target = this.#target(results);
    const isDirect = target !== null && !overlaps(tile, results.dst, own);
    const result = isDirect ? target : this.#scratch(operands.length);
    for (const at of [left, right, start, result]) this.#push(at);
    writer.call(names.multiply);
    writer.expect(false);
    writer.if(() => {
      this.#storeFragments(operands, [a, b, c]);
      this.#multiplyInHost(results.instruction);
      this.#push(result);
      this.#push(this.#scratch(0));
      writer.i32(bytesOfRegister * fragmentOf(product, "d").registers);
      writer.memoryCopy();
    });
    if (target === null) return this.#loadResult(op, result.offset);
    if (!isDirect) {
      this.#push(result);
      this.#push(target);
      writer.call(names.move);
    }
    return null;
  }

  /** A place among the operands of a product, from a register on, where no fragment lies. */
  #scratch(register: number): Place {
    const { context, layout } = this.#function;
    return { base: context, offset: layout.fragments + bytesOfRegister * register };
  }

  #push({ base, offset }: Place): void {
    const { writer } = this.#chunk;
    writer.get(base);
    writer.i32(offset);
    writer.op("i32.add");
  }

  /** Where the registers of a result lie in memory, if all lanes write them; else null. */
  #target({ block, dst, guard }: Results): Place | null {
    const registers = dst.flatMap((to) => (typeof to === "number" ? [to] : []));
    if (guard !== null || registers.length < dst.length) return null;
    if (!registers.every((r) => this.#chunk.writesAll(block, r))) return null;
    return this.#chunk.fragment(registers);
  }

  /** Stores the operands of a product one after the other. */
  #storeFragments(operands: WarpOp["operands"], fragments: readonly Fragment[]): void {
    const { writer } = this.#chunk;
    for (const { from, end, place } of fragments) {
      if (place === null) this.#store(operands.slice(from, end), this.#scratch(from).offset);
      else {
        this.#push(this.#scratch(from));
        this.#push(place);
        writer.i32(bytesOfRegister * (end - from));
        writer.memoryCopy();
      }
    }
  }

  /** Lets the launcher multiply what the lanes have stored at `fragments`. */
  #multiplyInHost(instruction: number): void {
    const { writer } = this.#chunk;
    const { context, siteOf } = this.#function;
    writer.get(context);
    writer.i32(siteOf(instruction, null));
    importHost(this.#module, "multiply");
    callHost(writer, "multiply");
  }

  #loadResult({ product }: Operation<"multiply">, from: number): readonly Value[] {
    const { writer, quads } = this.#chunk;
    const { registers, registerBits } = fragmentOf(product, "d");
    const wide = registerBits / 32;
    let at = from;
    const load = (): Wasm => {
      const local = this.#local();
      writer.get(this.#function.context);
      writer.memory("v128.load", 16, at);
      writer.set(local);
      at += 16;
      return wasm.local("v128", local);
    };
    return Array.from({ length: registers }, () =>
      vector(
        wide === 2 ? "i64" : "i32",
        Array.from({ length: quads }, () => Array.from({ length: wide }, load)),
      ),
    );
  }

  /** Stores operands one after the other, `at` bytes after the beginning of the context. */
  #store(operands: WarpOp["operands"], at: number): void {
    const { writer, quads } = this.#chunk;
    let next = at;
    for (const operand of operands) {
      for (const part of vectorOf(canonicalNan(this.#chunk.value(operand)), quads).quads.flat()) {
        writer.get(this.#function.context);
        writer.value(part);
        writer.memory("v128.store", 16, next);
        next += 16;
      }
    }
  }

  /** A local that holds a part of the results until `release`. */
  #local(): number {
    const local = this.#chunk.writer.local("v128");
    this.#taken.push(local);
    return local;
  }

  /** The results have been written. */
  release(): void {
    for (const local of this.#taken.splice(0)) this.#chunk.writer.release(local);
  }
}
