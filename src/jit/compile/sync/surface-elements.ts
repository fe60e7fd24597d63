import type { Destination, Expr, SurfaceAccess, UnitOpOf } from "../../../ir/index.ts";
import { type MemoryOp, type Wasm, wasm } from "../../../wasm/index.ts";
import {
  type FetchedGeometry,
  fetchedGeometries,
  imageWords,
  imageWordsAt,
  fetchNumber,
} from "../../abi/image-words.ts";
import type { Chunk } from "../emit/chunk.ts";
import { eachLaneIn } from "../lanes/each-lane.ts";
import { fitted } from "../lanes/register-class.ts";
import { isWide, vectorOf } from "../lanes/value.ts";
import type { FunctionContext } from "../module/function-context.ts";
import { eachHandle, type GroupAccess } from "./handle-groups.ts";
import { callHost, importHost } from "../module/host-calls.ts";
import { type Places, SurfaceUpdates } from "./surface-updates.ts";

const { op } = wasm;

/** What an operation on a surface accesses. */
type SurfaceOp = UnitOpOf<"surface-load" | "surface-store" | "surface-reduce">;
const accessOf = (unit: SurfaceOp): SurfaceAccess => (unit.op === "surface-reduce" ? unit.reduction : unit.access);

/**
 * Writes loads, stores and reductions of elements of surfaces, as `program/images/surface.ts` performs them. What it
 * would report, surfaces that do not fit, and stores by handles that differ between lanes are the launcher's.
 */
export class SurfaceElements {
  readonly #chunk: Chunk;
  readonly #at: FunctionContext;

  constructor(chunk: Chunk, at: FunctionContext) {
    this.#chunk = chunk;
    this.#at = at;
  }

  /**
   * A function that writes an access for lanes, given what writes it for the launcher; null for one that is always the
   * launcher's.
   */
  of(
    unit: SurfaceOp,
    operands: readonly Expr[],
    dst: readonly Destination[],
  ): ((lanes: readonly Wasm[], byHost: (lanes?: readonly Wasm[]) => void) => void) | null {
    const access = accessOf(unit);
    const geometry = fetchedGeometries.find((one) => one === access.geometry);
    const operand = operands[0]!;
    const handle = this.#chunk.value(operand);
    if (geometry === undefined || handle.ty !== "i64") return null;
    if (handle.kind === "uniform") {
      const perform = this.#access(geometry, unit, { operands, dst, isGroup: false });
      return (lanes, byHost) => perform(handle.scalar, lanes, byHost);
    }
    // Where lanes store to the same place, the last one of all counts.
    if (unit.op === "surface-store") return null;
    const redoes = unit.op === "surface-load";
    const perform = this.#access(geometry, unit, { operands, dst, isGroup: true });
    return (lanes, byHost) => eachHandle(this.#chunk, this.#at, { operand, lanes, redoes }, perform, byHost);
  }

  /** A function that writes an access for lanes that have the same handle. `isGroup`: others may have another one. */
  #access(
    geometry: FetchedGeometry,
    unit: SurfaceOp,
    {
      operands,
      dst,
      isGroup,
    }: { readonly operands: readonly Expr[]; readonly dst: readonly Destination[]; readonly isGroup: boolean },
  ): GroupAccess {
    const access = accessOf(unit);
    return (handle, lanes, byHost) => {
      const { writer: w } = this.#chunk;
      importHost(this.#at.unit.module, "image");
      const [isOwn, form] = [w.local("i32"), w.local("i32")];
      const updates = new SurfaceUpdates(this.#chunk, this.#at);
      w.get(this.#at.context);
      w.value(op("i32.wrap_i64", op("i64.shr_u", handle, wasm.i64(32n))));
      w.value(op("i32.wrap_i64", handle));
      w.value(
        wasm.i32(
          fetchNumber({ geometry, from: access.formatted ? "formatted" : "surface", level: "base", hasSampler: false }),
        ),
      );
      w.i32(0);
      callHost(w, "image");
      w.set(form);
      w.assign([{ local: isOwn, value: op("i32.ne", wasm.local("i32", form), wasm.i32(0)) }]);
      const places = this.#chunk.active.map((): Places => ({ at: w.local("v128"), moves: w.local("v128") }));
      w.get(isOwn);
      w.if(() => {
        this.#locate(access, operands, lanes, places, isOwn);
        if (unit.op === "surface-reduce") updates.check(unit.reduction, places, form, isOwn);
      });
      w.get(isOwn);
      w.if(() => {
        if (unit.op === "surface-load") this.#load(access, dst, places, isGroup ? lanes : null);
        else if (unit.op === "surface-reduce") updates.write(unit.reduction, operands[5]!, places, form);
        else if (access.formatted) this.#storeTexels(access, operands, places, form);
        else this.#store(access, operands, places);
      }, byHost);
      for (const { at, moves } of places) for (const local of [at, moves]) w.release(local);
      w.release(form);
      w.release(isOwn);
    };
  }

  #word(name: keyof typeof imageWords): number {
    const { writer: w } = this.#chunk;
    const local = w.local("i32");
    w.get(this.#at.context);
    w.memory("i32.load", 4, this.#wordsAt() + 4 * imageWords[name]);
    w.set(local);
    return local;
  }

  #wordsAt(): number {
    return this.#at.layout.fragments + imageWordsAt(this.#chunk.lanes);
  }

  /** Works out where each lane's element is; 0 in `isOwn` if there is something to report. */
  #locate(
    access: SurfaceAccess,
    operands: readonly Expr[],
    lanes: readonly Wasm[],
    places: readonly Places[],
    isOwn: number,
  ): void {
    const { writer: w, quads } = this.#chunk;
    // Texels are as wide as the surface says, and begin where they do.
    const bytes = access.formatted ? 1 : (access.count * access.bits) / 8;
    const names = ["base", "rowPitch", "slicePitch", "width", "height", "depth"] as const;
    const texelBytes = access.formatted ? this.#word("texelBytes") : null;
    const words = Object.fromEntries(names.map((name) => [name, this.#word(name)])) as Record<
      (typeof names)[number],
      number
    >;
    const i = (name: (typeof names)[number]): Wasm => wasm.local("i32", words[name]);
    const splat = (scalar: Wasm): Wasm => op("i32x4.splat", scalar);
    const last = (size: Wasm, n: number): Wasm => splat(op("i32.sub", size, wasm.i32(n)));
    const coordinate = (n: number): readonly Wasm[] => {
      const value = vectorOf(fitted(this.#chunk.value(operands[n]!), "b32", quads), quads);
      return value.quads.map(([quad]) => quad!);
    };
    const isArray = access.geometry.startsWith("a");
    const axes = Number(access.geometry.at(-2));
    // A row counts bytes, and holds at least one element.
    w.assign([{ local: isOwn, value: op("i32.ge_s", i("width"), wasm.i32(bytes)) }]);
    const used = [
      {
        values: coordinate(1),
        last: last(i("width"), bytes),
        pitch: texelBytes === null ? null : wasm.local("i32", texelBytes),
      },
      ...(axes > 1 ? [{ values: coordinate(2), last: last(i("height"), 1), pitch: i("rowPitch") }] : []),
      ...(axes > 2 ? [{ values: coordinate(3), last: last(i("depth"), 1), pitch: i("slicePitch") }] : []),
      ...(isArray ? [{ values: coordinate(4), last: last(i("depth"), 1), pitch: i("slicePitch") }] : []),
    ];
    const problem = w.local("v128");
    w.assign([{ local: problem, value: wasm.i32x4(0) }]);
    places.forEach(({ at, moves }, q) => {
      const outside = w.local("v128");
      w.assign([
        { local: outside, value: wasm.i32x4(0) },
        { local: at, value: splat(i("base")) },
      ]);
      const x = w.local("v128");
      w.assign([{ local: x, value: used[0]!.values[q]! }]);
      used.forEach(({ values, last: most, pitch }, n) => {
        const isLayer = isArray && n === used.length - 1;
        const own = w.local("v128");
        const clamped = w.local("v128");
        w.assign([{ local: own, value: n === 0 ? wasm.local("v128", x) : values[q]! }]);
        const given = wasm.local("v128", own);
        const within = isLayer
          ? op("i32x4.min_u", given, most)
          : op("i32x4.max_s", op("i32x4.min_s", given, most), wasm.i32x4(0));
        w.assign([{ local: clamped, value: within }]);
        const here = wasm.local("v128", clamped);
        // The nearest element of a row begins at a multiple of its size too.
        const whole = op("v128.and", here, wasm.i32x4(-bytes));
        const step = pitch === null ? whole : op("i32x4.mul", here, splat(pitch));
        w.assign([
          { local: outside, value: op("v128.or", wasm.local("v128", outside), op("i32x4.ne", here, given)) },
          { local: at, value: op("i32x4.add", wasm.local("v128", at), step) },
        ]);
        w.release(clamped);
        w.release(own);
      });
      const isOut = wasm.local("v128", outside);
      const own = access.bounds === "zero" ? op("v128.andnot", lanes[q]!, isOut) : lanes[q]!;
      const rest = op("v128.and", wasm.local("v128", x), wasm.i32x4(bytes - 1));
      const isUneven = op("i32x4.ne", rest, wasm.i32x4(0));
      const wrong = access.bounds === "trap" ? op("v128.or", isUneven, isOut) : isUneven;
      w.assign([{ local: moves, value: own }]);
      w.assign([
        {
          local: problem,
          value: op("v128.or", wasm.local("v128", problem), op("v128.and", wrong, wasm.local("v128", moves))),
        },
      ]);
      w.release(outside);
      w.release(x);
    });
    const isFine = op("i32.eqz", op("v128.any_true", wasm.local("v128", problem)));
    w.assign([{ local: isOwn, value: op("i32.and", wasm.local("i32", isOwn), isFine) }]);
    w.release(problem);
    for (const local of [...Object.values(words), ...(texelBytes === null ? [] : [texelBytes])]) w.release(local);
  }

  /**
   * Loads elements, zeros for lanes outside, to where the launcher would leave them. `group`: for these lanes alone;
   * null: for all.
   */
  #load(
    { bits }: SurfaceAccess,
    dst: readonly Destination[],
    places: readonly Places[],
    group: readonly Wasm[] | null,
  ): void {
    const { writer: w, quads } = this.#chunk;
    const load = ({ 8: "i32.load8_u", 16: "i32.load16_u", 32: "i32.load", 64: "i64.load" } as const)[bits];
    const isLong = bits === 64;
    const size = bits / 8;
    let place = 0;
    dst.forEach((to, n) => {
      if (to === null) return;
      places.forEach(({ at, moves }, q) => {
        const loadLane = (lane: number): void => {
          const mask = wasm.lane("i32x4.extract_lane", lane, wasm.local("v128", moves));
          w.get(this.#at.context);
          w.value(wasm.lane("i32x4.extract_lane", lane, wasm.local("v128", at)));
          w.memory(load, Math.min(size, 4), n * size);
          w.value(isLong ? op("i64.extend_i32_s", mask) : mask);
          w.op(isLong ? "i64.and" : "i32.and");
          const own = isLong ? 32 * q + 8 * lane : 16 * q + 4 * lane;
          w.memory(
            isLong ? "i64.store" : "i32.store",
            Math.min(size, 4),
            this.#at.layout.fragments + 16 * quads * place + own,
          );
        };
        if (group === null) for (let lane = 0; lane < 4; lane++) loadLane(lane);
        else eachLaneIn(w, group[q]!, loadLane);
      });
      place += isLong ? 2 : 1;
    });
  }

  #store({ bits, count }: SurfaceAccess, operands: readonly Expr[], places: readonly Places[]): void {
    const { writer: w, quads } = this.#chunk;
    const store: MemoryOp = ({ 8: "i32.store8", 16: "i32.store16", 32: "i32.store", 64: "i64.store" } as const)[bits];
    const size = bits / 8;
    const values = Array.from({ length: count }, (_, n) => {
      const operand = operands[5 + n]!;
      return vectorOf(fitted(this.#chunk.value(operand), isWide(operand.ty) ? "b64" : "b32", quads), quads);
    });
    places.forEach(({ at, moves }, q) => {
      const kept = values.map(({ quads: parts }) =>
        parts[q]!.map((part) => {
          const local = w.local("v128");
          w.assign([{ local, value: part }]);
          return local;
        }),
      );
      eachLaneIn(w, wasm.local("v128", moves), (lane) => {
        values.forEach(({ ty }, n) => {
          w.value(wasm.lane("i32x4.extract_lane", lane, wasm.local("v128", at)));
          const part = kept[n]!;
          w.value(
            isWide(ty)
              ? wasm.lane("i64x2.extract_lane", lane & 1, wasm.local("v128", part[lane >> 1]!))
              : wasm.lane("i32x4.extract_lane", lane, wasm.local("v128", part[0]!)),
          );
          w.memory(store, Math.min(size, 4), n * size);
        });
      });
      for (const local of kept.flat()) w.release(local);
    });
  }

  /** Stores texels in the surface's format; channels for which nothing is given become 0. */
  #storeTexels({ count }: SurfaceAccess, operands: readonly Expr[], places: readonly Places[], form: number): void {
    const { writer: w, quads } = this.#chunk;
    const name = this.#at.unit.imageHelpers.store();
    const values = Array.from({ length: count }, (_, n) =>
      vectorOf(fitted(this.#chunk.value(operands[5 + n]!), "b32", quads), quads),
    );
    places.forEach(({ at, moves }, q) => {
      w.value(op("i32.add", wasm.local("i32", this.#at.context), wasm.i32(this.#wordsAt())));
      w.get(form);
      w.get(at);
      w.get(moves);
      for (let c = 0; c < 4; c++) {
        const value = values[c];
        w.value(value === undefined ? wasm.i32x4(0) : value.quads[q]![0]!);
      }
      w.call(name);
    });
  }
}
