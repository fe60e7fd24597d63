import type { WarpOp } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type ModuleWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { Unsupported } from "../../abi/refusal.ts";
import { readsOne } from "../../../ir/uniformity/warp-shape.ts";
import type { Chunk } from "../emit/chunk.ts";
import { constantLanes } from "../emit/lane-constants.ts";
import { canonicalNan } from "../lanes/canonical-nan.ts";
import { associativeOf } from "../lanes/lane-fold.ts";
import { allBits, anyOf, laneBits } from "../lanes/mask-bits.ts";
import { bothMasks, fullMask, type Mask } from "../lanes/mask.ts";
import { permuted, sourceOf, sourcesOf } from "../lanes/shuffle.ts";
import { isWide, type Value, vectorOf } from "../lanes/value.ts";
import type { FunctionContext } from "../module/function-context.ts";
import { reduceTiles, votesOfGroups } from "./group-results.ts";
import { MaskGroups } from "./mask-groups.ts";
import { MatrixOperations, type Results } from "./matrix-operations.ts";
import { keepsToOwnGroup, tileSizeOf } from "./own-groups.ts";
import { reduce } from "./warp-reduction.ts";

type Operation<K extends WarpOp["op"]> = Extract<WarpOp, { op: K }>;

/** Writes warp-wide operations. `lanes`: those that take part; null: all of the warp. */
export class WarpOperations {
  readonly #chunk: Chunk;
  readonly #function: FunctionContext;
  readonly #matrices: MatrixOperations;

  constructor(chunk: Chunk, context: FunctionContext, module: ModuleWriter) {
    this.#chunk = chunk;
    this.#function = context;
    this.#matrices = new MatrixOperations(chunk, context, module);
  }

  /** The local with the address of the context. */
  get #context(): number {
    return this.#function.context;
  }

  /** The offset in the context of the space in which lanes exchange values. */
  get #values(): number {
    return this.#function.layout.values;
  }

  perform(op: WarpOp, lanes: Mask, results: Results): void {
    switch (op.op) {
      case "shfl":
        this.#shuffle(op, lanes, results);
        return;
      case "vote":
        this.#write(results, [this.#vote(op, lanes)]);
        return;
      case "match":
        this.#match(op, lanes, results);
        return;
      case "redux":
        this.#reduce(op, lanes, results);
        return;
      case "elect": {
        const leader = wasm.op("i32.ctz", this.present(lanes));
        const isLeader = this.#numbers().map((own) => wasm.op("i32x4.eq", own, wasm.op("i32x4.splat", leader)));
        this.#write(results, [scalar("i32", leader), vector(isLeader, "pred")]);
        return;
      }
      case "sync":
        return;
      case "align":
        this.#matrices.align(lanes, this.present(lanes), results.instruction);
        return;
      case "arrange":
        this.#write(results, this.#matrices.arrange(op));
        this.#matrices.release();
        return;
      case "multiply":
        this.#multiply(op, results);
        return;
      default:
        op satisfies never;
    }
  }

  /**
   * The same for groups of lanes, each of which names itself (`mask`): it takes as little of the others as if they
   * acted one after the other.
   */
  performApart(op: WarpOp, mask: Expr, lanes: Mask, results: Results): void {
    const chunk = this.#chunk;
    if (op.op === "sync") return;
    const named = chunk.value(mask);
    if (named.kind === "uniform" || (op.op === "shfl" && keepsToOwnGroup(op, mask, chunk.known))) {
      this.perform(op, lanes, results);
      return;
    }
    const masks = vectorOf(named, chunk.quads).quads.flat();
    const tile = op.op === "redux" ? tileSizeOf(mask, chunk.known) : null;
    const combine = op.op === "redux" ? associativeOf(op.combine) : null;
    const wordsOf = (expr: Expr): readonly Wasm[] => vectorOf(chunk.value(expr), chunk.quads).quads.flat();
    if (op.op === "vote") this.#write(results, [votesOfGroups(op.mode, wordsOf(op.operands[0]), lanes, masks)]);
    else if (op.op === "match") this.#match(op, lanes, results, masks);
    else if (op.op === "redux" && tile !== null && combine !== null) {
      const write = (total: Value): void => this.#write(results, [total]);
      reduceTiles(chunk.writer, combine, { words: wordsOf(op.operands[0]), lanes, size: tile }, write);
    } else this.#performGroups(op, masks, lanes ?? fullMask(chunk.quads), results);
  }

  #performGroups(op: WarpOp, masks: readonly Wasm[], lanes: readonly Wasm[], results: Results): void {
    const { writer } = this.#chunk;
    const arrived = writer.local("i32");
    writer.assign([{ local: arrived, value: laneBits(lanes) }]);
    const groups = new MaskGroups(this.#chunk, masks, lanes, arrived);
    groups.each((group) => this.perform(op, group, { ...results, guard: group }));
    groups.release();
    writer.release(arrived);
  }

  #multiply(op: Operation<"multiply">, results: Results): void {
    const values = this.#matrices.multiply(op, results);
    if (values !== null) this.#write(results, values);
    this.#matrices.release();
  }

  /** The lanes that take part, as bits. */
  present(lanes: Mask): Wasm {
    return lanes === null ? allBits(this.#chunk.lanes) : laneBits(lanes);
  }

  #write({ block, dst, guard }: Results, values: readonly Value[]): void {
    this.#chunk.write(block, dst, values, guard);
  }

  /** Vectors with the lanes' numbers. */
  #numbers(): readonly Wasm[] {
    return Array.from({ length: this.#chunk.quads }, (_, q) => wasm.lanes([0, 1, 2, 3].map((l) => 4 * q + l)));
  }

  /** The vectors of a 32-bit operand, with 0 in lanes that do not take part. */
  #operand(value: Value, lanes: Mask): readonly Wasm[] {
    if (isWide(value.ty)) throw new Unsupported("a warp-wide operation on 64 bits");
    return bothMasks(vectorOf(canonicalNan(value), this.#chunk.quads).quads.flat(), lanes)!;
  }

  /** Stores an operand in the context for every lane to read, `at` bytes after the beginning of the exchange space. */
  #show(operand: readonly Wasm[], at: number): void {
    const { writer } = this.#chunk;
    operand.forEach((part, i) => {
      writer.get(this.#context);
      writer.value(part);
      writer.memory("v128.store", 16, this.#values + at + 16 * i);
    });
  }

  #shuffle(op: Operation<"shfl">, lanes: Mask, results: Results): void {
    const chunk = this.#chunk;
    const [a, b, c] = op.operands;
    const { mode } = op;
    const operand = this.#operand(chunk.value(a), lanes);
    const count = chunk.value(b);
    const counts = this.#constants(count);
    if (counts !== null && c.kind === "const") {
      const sources = counts.map((n, lane) => sourceOf(mode, lane, n, c.value as number));
      const inRange = sources.every((s) => s.inRange)
        ? scalar("pred", wasm.i32(1))
        : vector(
            operand.map((_, q) => wasm.lanes(sources.slice(4 * q, 4 * q + 4).map((s) => -Number(s.inRange)))),
            "pred",
          );
      const first = sources[0]!.lane;
      const value = sources.every((s) => s.lane === first)
        ? scalar("i32", wasm.lane("i32x4.extract_lane", first & 3, operand[first >> 2]!))
        : vector(
            permuted(
              operand,
              sources.map((s) => s.lane),
            ),
          );
      this.#write(results, [value, inRange]);
      return;
    }
    if (readsOne(op) && count.kind === "uniform") {
      this.#show(operand, 0);
      const found = this.#loadOne(count.scalar);
      this.#write(results, [scalar("i32", wasm.local("i32", found)), scalar("pred", wasm.i32(1))]);
      chunk.writer.release(found);
      return;
    }
    const [distances, ranges] = [chunk.vector(b).quads.flat(), chunk.vector(c).quads.flat()];
    const sources = this.#numbers().map((own, q) => sourcesOf(mode, own, distances[q]!, ranges[q]!));
    const locals =
      (mode === "up" || mode === "down") && count.kind === "uniform"
        ? this.#shifted(mode, operand, count.scalar)
        : this.#picked(
            operand,
            sources.map((s) => s.lanes),
          );
    const value = sources.map((s, q) => wasm.blend(s.inRange, wasm.local("v128", locals[q]!), operand[q]!));
    this.#write(results, [
      vector(value),
      vector(
        sources.map((s) => s.inRange),
        "pred",
      ),
    ]);
    for (const local of locals) chunk.writer.release(local);
  }

  /** The constants, one for each lane, that a value is; null if it is none. */
  #constants(value: Value): readonly number[] | null {
    return constantLanes(vectorOf(value, this.#chunk.quads));
  }

  /** Loads the value of one lane. */
  #loadOne(number: Wasm): number {
    const { writer, lanes } = this.#chunk;
    const found = writer.local("i32");
    const bytes = wasm.op("i32.shl", wasm.op("i32.and", number, wasm.i32(lanes - 1)), wasm.i32(2));
    writer.value(wasm.op("i32.add", wasm.local("i32", this.#context), bytes));
    writer.memory("i32.load", 4, this.#values);
    writer.set(found);
    return found;
  }

  /** Loads for each lane the value `count` lanes below (up) or above (down). Beyond the ends it is arbitrary. */
  #shifted(mode: "up" | "down", operand: readonly Wasm[], count: Wasm): number[] {
    const { writer, lanes } = this.#chunk;
    const start = 4 * lanes;
    this.#show(operand, start);
    const bytes = wasm.op("i32.shl", wasm.op("i32.and", count, wasm.i32(lanes - 1)), wasm.i32(2));
    const at = writer.local("i32");
    const op = mode === "up" ? "i32.sub" : "i32.add";
    writer.assign([{ local: at, value: wasm.op(op, wasm.local("i32", this.#context), bytes) }]);
    const locals = operand.map((_, q) => {
      const local = writer.local("v128");
      writer.get(at);
      writer.memory("v128.load", 4, this.#values + start + 16 * q);
      writer.set(local);
      return local;
    });
    writer.release(at);
    return locals;
  }

  /** Loads for each lane the value of the lane with a number of its own. */
  #picked(operand: readonly Wasm[], numbers: readonly Wasm[]): number[] {
    const { writer } = this.#chunk;
    this.#show(operand, 0);
    const at = writer.local("v128");
    const base = wasm.op("i32x4.splat", wasm.local("i32", this.#context));
    const locals = numbers.map((part) => {
      const local = writer.local("v128");
      writer.assign([
        { local: at, value: wasm.op("i32x4.add", base, wasm.op("i32x4.shl", part, wasm.i32(2))) },
        { local, value: wasm.i32x4(0) },
      ]);
      for (let l = 0; l < 4; l++) {
        writer.value(wasm.lane("i32x4.extract_lane", l, wasm.local("v128", at)));
        writer.get(local);
        writer.memory("v128.load32_lane", 4, this.#values, l);
        writer.set(local);
      }
      return local;
    });
    writer.release(at);
    return locals;
  }

  #vote({ operands: [a], mode }: Operation<"vote">, lanes: Mask): Value {
    const value = this.#chunk.value(a);
    if (value.kind === "uniform") {
      const p = value.scalar;
      if (mode === "ballot") return scalar("i32", wasm.select(p, this.present(lanes), wasm.i32(0)));
      return scalar("pred", mode === "uni" ? wasm.i32(1) : p);
    }
    const votes = vectorOf(value, this.#chunk.quads).quads.flat();
    const present = bothMasks(votes, lanes)!;
    if (mode === "ballot") return scalar("i32", laneBits(present));
    const any = anyOf(present);
    if (mode === "any") return scalar("pred", any);
    const against = bothMasks(
      votes.map((v) => wasm.op("v128.not", v)),
      lanes,
    )!;
    const all = wasm.op("i32.eqz", anyOf(against));
    return scalar("pred", mode === "all" ? all : wasm.op("i32.or", all, wasm.op("i32.eqz", any)));
  }

  #reduce({ operands: [a], combine }: Operation<"redux">, lanes: Mask, results: Results): void {
    const chunk = this.#chunk;
    const { writer } = chunk;
    const operand = this.#operand(chunk.value(a), null);
    const total = writer.local("i32");
    reduce(writer, combine, operand, lanes, total, {
      show: () => this.#show(operand, 0),
      present: this.present(lanes),
      at: this.#values,
      context: this.#context,
    });
    this.#write(results, [scalar("i32", wasm.local("i32", total))]);
    writer.release(total);
  }

  /** `masks`: by lane, those of its group; null: they are one. */
  #match(op: Operation<"match">, lanes: Mask, results: Results, masks: readonly Wasm[] | null = null): void {
    const chunk = this.#chunk;
    const { writer } = chunk;
    const value = canonicalNan(chunk.value(op.operands[0]));
    const wide = isWide(value.ty);
    const parts = vectorOf(value, chunk.quads).quads.flat();
    const operand = parts.map((part) => {
      const local = writer.local("v128");
      writer.assign([{ local, value: part }]);
      return local;
    });
    this.#show(
      operand.map((l) => wasm.local("v128", l)),
      0,
    );
    const [rest, same, wanted] = [writer.local("i32"), writer.local("i32"), writer.local("v128")];
    const present = this.present(lanes);
    writer.assign([{ local: rest, value: present }]);
    const compare = (): void => {
      const shift = wasm.i32(wide ? 3 : 2);
      const lowest = wasm.op("i32.shl", wasm.op("i32.ctz", wasm.local("i32", rest)), shift);
      writer.value(wasm.op("i32.add", wasm.local("i32", this.#context), lowest));
      writer.memory(wide ? "v128.load64_splat" : "v128.load32_splat", wide ? 8 : 4, this.#values);
      writer.set(wanted);
    };
    const equal = (): readonly Wasm[] => {
      const each = operand.map((l) =>
        wasm.op(wide ? "i64x2.eq" : "i32x4.eq", wasm.local("v128", l), wasm.local("v128", wanted)),
      );
      const whole = wide
        ? this.#numbers().map((_, q) => wasm.shuffle32(each[2 * q]!, each[2 * q + 1]!, [0, 2, 4, 6]))
        : each;
      return bothMasks(whole, lanes)!;
    };
    if (op.mode === "all" && masks === null) {
      compare();
      const agree = wasm.op("i32.eq", laneBits(equal()), wasm.local("i32", rest));
      writer.assign([{ local: same, value: agree }]);
      const found = wasm.select(wasm.local("i32", same), wasm.local("i32", rest), wasm.i32(0));
      this.#write(results, [scalar("i32", found), scalar("pred", wasm.local("i32", same))]);
    } else {
      const found = this.#numbers().map(() => writer.local("v128"));
      writer.loop((again) => {
        compare();
        const equals = equal();
        writer.assign([{ local: same, value: laneBits(equals) }]);
        const all = wasm.op("i32x4.splat", wasm.local("i32", same));
        writer.assign(
          found.map((local, q) => ({ local, value: wasm.blend(equals[q]!, all, wasm.local("v128", local)) })),
        );
        writer.value(wasm.op("i32.xor", wasm.local("i32", rest), wasm.local("i32", same)));
        writer.tee(rest);
        writer.brIf(again);
      });
      const alike = found.map((l, q) => {
        const each = wasm.local("v128", l);
        return masks === null ? each : wasm.op("v128.and", each, masks[q]!);
      });
      if (op.mode === "any") this.#write(results, [vector(alike)]);
      else {
        const own = masks!.map((part) => wasm.op("v128.and", part, wasm.op("i32x4.splat", present)));
        const agree = alike.map((part, q) => wasm.op("i32x4.eq", part, own[q]!));
        const all = agree.map((part, q) => wasm.op("v128.and", part, own[q]!));
        this.#write(results, [vector(all), vector(agree, "pred")]);
      }
      for (const local of found) writer.release(local);
    }
    for (const local of [...operand, rest, same, wanted]) writer.release(local);
  }
}

const scalar = (ty: "i32" | "pred", value: Wasm): Value => ({ kind: "uniform", ty, scalar: value });
const vector = (quads: readonly Wasm[], ty: "i32" | "pred" = "i32"): Value => ({
  kind: "vector",
  ty,
  quads: quads.map((q) => [q]),
});
