import type { Expr, SurfaceReduction } from "../../../ir/index.ts";
import { channelTypes } from "../../../numeric/texel.ts";
import { type FunctionWriter, type MemoryOp, type Wasm, wasm } from "../../../wasm/index.ts";
import { imageWords, imageWordsAt } from "../../abi/image-words.ts";
import type { Chunk } from "../emit/chunk.ts";
import { eachLaneIn } from "../lanes/each-lane.ts";
import { fitted } from "../lanes/register-class.ts";
import { type Vector, vectorOf } from "../lanes/value.ts";
import type { FunctionContext } from "../module/function-context.ts";

const { op } = wasm;

/** A quad's addresses, and which of its lanes access them. */
export interface Places {
  readonly at: number;
  readonly moves: number;
}

const formOf = (type: "u32" | "s32"): number => 1 + channelTypes.indexOf(type);

/** Writes reductions of elements of a surface, as `reduceSurface` in `program/images/surface.ts` performs them. */
export class SurfaceUpdates {
  readonly #chunk: Chunk;
  readonly #at: FunctionContext;

  constructor(chunk: Chunk, at: FunctionContext) {
    this.#chunk = chunk;
    this.#at = at;
  }

  /**
   * Sets `isOwn` to 0 if the launcher has to reduce: what it reports, and elements that no atomic operation of
   * WebAssembly can be at. `form`: a local, the number of the type of channels.
   */
  check({ type, bits }: SurfaceReduction, places: readonly Places[], form: number, isOwn: number): void {
    const { writer: w } = this.#chunk;
    const uneven = places.map(({ at, moves }) =>
      op("v128.and", op("v128.and", wasm.local("v128", at), wasm.i32x4(bits / 8 - 1)), wasm.local("v128", moves)),
    );
    const isEven = op(
      "i32.eqz",
      op(
        "v128.any_true",
        uneven.reduce((all, one) => op("v128.or", all, one)),
      ),
    );
    w.assign([{ local: isOwn, value: op("i32.and", wasm.local("i32", isOwn), isEven) }]);
    if (type !== "format") return;
    const channels = w.local("i32");
    w.get(this.#at.context);
    w.memory("i32.load", 4, this.#at.layout.fragments + imageWordsAt(this.#chunk.lanes) + 4 * imageWords.channels);
    w.set(channels);
    const is = (name: "u32" | "s32"): Wasm => op("i32.eq", wasm.local("i32", form), wasm.i32(formOf(name)));
    const fits = op("i32.eq", wasm.local("i32", channels), wasm.i32(bits / 32));
    const isInteger = op("i32.and", op("i32.or", is("u32"), is("s32")), fits);
    w.assign([{ local: isOwn, value: op("i32.and", wasm.local("i32", isOwn), isInteger) }]);
    w.release(channels);
  }

  write(reduction: SurfaceReduction, operand: Expr, places: readonly Places[], form: number): void {
    const { writer: w, quads } = this.#chunk;
    const isLong = reduction.bits === 64;
    const value = vectorOf(fitted(this.#chunk.value(operand), isLong ? "b64" : "b32", quads), quads);
    const isSigned = (): Wasm =>
      reduction.type === "format"
        ? op("i32.eq", wasm.local("i32", form), wasm.i32(formOf("s32")))
        : wasm.i32(Number(reduction.type === "signed"));
    const [at, given] = [w.local("i32"), w.local(isLong ? "i64" : "i32")];
    places.forEach((place, q) => {
      eachLaneIn(w, wasm.local("v128", place.moves), (lane) => {
        w.assign([
          { local: at, value: wasm.lane("i32x4.extract_lane", lane, wasm.local("v128", place.at)) },
          { local: given, value: laneOf(value, q, lane) },
        ]);
        this.#update(w, reduction, { at, given }, isSigned);
      });
    });
    w.release(at);
    w.release(given);
  }

  #update(
    w: FunctionWriter,
    { op: name, bits }: SurfaceReduction,
    { at, given }: { readonly at: number; readonly given: number },
    isSigned: () => Wasm,
  ): void {
    const ty = bits === 64 ? "i64" : "i32";
    const bytes = bits / 8;
    if (name !== "min" && name !== "max") {
      w.get(at);
      w.get(given);
      w.memory(`${ty}.atomic.rmw.${name}` as MemoryOp, bytes);
      w.drop();
      return;
    }
    const [seen, expected] = [w.local(ty), w.local(ty)];
    const less = (sign: "s" | "u"): Wasm => op(`${ty}.lt_${sign}`, wasm.local(ty, given), wasm.local(ty, expected));
    const isLess = wasm.select(isSigned(), less("s"), less("u"));
    const [one, other] = name === "min" ? [given, expected] : [expected, given];
    w.get(at);
    w.memory(`${ty}.atomic.load`, bytes);
    w.set(seen);
    w.loop((again) => {
      w.get(seen);
      w.set(expected);
      w.get(at);
      w.get(expected);
      w.value(wasm.select(isLess, wasm.local(ty, one), wasm.local(ty, other)));
      w.memory(`${ty}.atomic.rmw.cmpxchg`, bytes);
      w.set(seen);
      w.value(op(`${ty}.ne`, wasm.local(ty, seen), wasm.local(ty, expected)));
      w.brIf(again);
    });
    w.release(seen);
    w.release(expected);
  }
}

/** A lane's element of a value. */
function laneOf({ ty, quads }: Vector, quad: number, lane: number): Wasm {
  const parts = quads[quad]!;
  return ty === "i64" || ty === "f64"
    ? wasm.lane("i64x2.extract_lane", lane & 1, parts[lane >> 1]!)
    : wasm.lane("i32x4.extract_lane", lane, parts[0]!);
}
