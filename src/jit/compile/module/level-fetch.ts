import { type FunctionWriter, type ModuleWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { coordinatesOf } from "../../../ir/index.ts";
import { imageWords, imageWordsAt, levelModes, levelRegisters } from "../../abi/image-words.ts";
import type { FetchKind } from "./fetch-kind.ts";
import { callHost, importHost } from "./host-calls.ts";
import { assignKeeping, floatsOfDoubles, halvesOfDoubles } from "./texel-values.ts";

const { op } = wasm;
const v = (local: number): Wasm => wasm.local("v128", local);
const channels = [0, 1, 2, 3] as const;
const halves = [0, 1] as const;

/** What a function needs that fetches from the levels which its lanes choose. */
export interface LevelFetch {
  readonly kind: FetchKind;
  /** Registers between coordinates and offsets: a level, or two gradients. */
  readonly levelWords: number;
  /** The byte of the context at which `fragments` begin, and the quads of a chunk. */
  readonly fragments: number;
  readonly quads: number;
  /** The functions that fetch from one level: rounded results, and those of binary64 (null: of integers). */
  readonly plain: string;
  readonly wide: string | null;
}

/**
 * Writes a function (context, instruction, lanes) that fetches for a chunk, given operands at `levelRegisters`. Where
 * lanes choose different levels, one after the other is fetched from. It returns 1, or 0 if the launcher has to fetch.
 */
export class LevelFetchWriter {
  readonly #w: FunctionWriter;
  readonly #from: LevelFetch;

  constructor(module: ModuleWriter, name: string, from: LevelFetch) {
    importHost(module, "chooseLevels");
    importHost(module, "nextLevel");
    this.#w = module.function(name, ["i32", "i32", "i32"], ["i32"]);
    this.#from = from;
  }

  write(): void {
    const w = this.#w;
    const { kind, quads, wide, plain } = this.#from;
    const [mode, form] = [w.local("i32"), w.local("i32")];
    for (let n = 0; n < 3; n++) w.get(n);
    callHost(w, "chooseLevels");
    w.set(mode);
    this.#returnIf(op("i32.eqz", wasm.local("i32", mode)));
    const isSummed = op("i32.eq", wasm.local("i32", mode), wasm.i32(levelModes.summed));
    // Sums of one texel keep its sign.
    if (wide !== null) this.#eachSum((quad, n) => this.#store(levelRegisters.sums + n, quad, wasm.f64x2(-0)));
    w.block((done) => {
      w.loop((again) => {
        w.get(0);
        callHost(w, "nextLevel");
        w.set(form);
        w.value(op("i32.eqz", wasm.local("i32", form)));
        w.brIf(done);
        for (let quad = 0; quad < quads; quad++) {
          const weights = this.#keep(this.#load(levelRegisters.weights, quad));
          const counts = this.#keep(op("i32x4.ge_s", v(weights), wasm.i32x4(0)));
          w.value(op("v128.any_true", v(counts)));
          w.if(() => {
            if (wide === null) this.#take(plain, form, quad, counts);
            else {
              w.value(isSummed);
              w.if(
                () => this.#add(wide, form, quad, weights, counts),
                () => this.#take(plain, form, quad, counts),
              );
            }
          });
          w.release(weights);
          w.release(counts);
        }
        if (kind.geometry.endsWith("cube")) this.#returnIf(this.#word(imageWords.unsettled));
        w.br(again);
      });
    });
    if (wide !== null) {
      w.value(isSummed);
      w.if(() => {
        for (let quad = 0; quad < quads; quad++) this.#divide(quad);
      });
    }
    w.i32(1);
  }

  #returnIf(condition: Wasm): void {
    this.#w.value(condition);
    this.#w.if(() => {
      this.#w.i32(0);
      this.#w.return();
    });
  }

  #eachSum(visit: (quad: number, n: number) => void): void {
    for (let quad = 0; quad < this.#from.quads; quad++) for (let n = 0; n < 8; n++) visit(quad, n);
  }

  /** A vector of a register; sums have two for each quad, one after the other. */
  #at(register: number, quad: number): number {
    return this.#from.fragments + 16 * (register * this.#from.quads + quad);
  }

  #keep(value: Wasm): number {
    const local = this.#w.local(value.ty);
    this.#w.assign([{ local, value }]);
    return local;
  }

  #load(register: number, quad: number): Wasm {
    const local = this.#w.local("v128");
    this.#w.get(0);
    this.#w.memory("v128.load", 16, this.#at(register, quad));
    this.#w.set(local);
    // The caller uses the value before it takes another local.
    this.#w.release(local);
    return v(local);
  }

  #word(n: number): Wasm {
    const local = this.#w.local("i32");
    this.#w.get(0);
    this.#w.memory("i32.load", 4, this.#from.fragments + imageWordsAt(4 * this.#from.quads) + 4 * n);
    this.#w.set(local);
    this.#w.release(local);
    return wasm.local("i32", local);
  }

  #store(register: number, quad: number, value: Wasm): void {
    this.#w.get(0);
    this.#w.value(value);
    this.#w.memory("v128.store", 16, this.#at(register, quad));
  }

  /** Calls a function that fetches for a quad. Its results are in locals. */
  #fetch(name: string, form: number, quad: number, results: number): number[] {
    const w = this.#w;
    const { kind, levelWords, fragments, quads } = this.#from;
    w.value(op("i32.add", wasm.local("i32", 0), wasm.i32(fragments + imageWordsAt(4 * quads))));
    w.get(form);
    const first = levelRegisters.operands + 4;
    const place = coordinatesOf[kind.geometry];
    const rest = kind.offsets + Number(kind.compares);
    for (let n = 0; n < place + rest; n++) {
      w.get(0);
      w.memory("v128.load", 16, this.#at(first + (n < place ? n : n + levelWords), quad));
    }
    w.call(name);
    const locals = Array.from({ length: results }, () => w.local("v128"));
    for (const local of [...locals].reverse()) w.set(local);
    return locals;
  }

  /** Takes texels of a level as results of some lanes. */
  #take(name: string, form: number, quad: number, counts: number): void {
    const texels = this.#fetch(name, form, quad, 4);
    for (const c of channels) {
      const old = this.#load(levelRegisters.results + c, quad);
      this.#store(levelRegisters.results + c, quad, wasm.blend(v(counts), v(texels[c]!), old));
      this.#w.release(texels[c]!);
    }
  }

  /** Adds texels of a level, by their weights, to the sums of some lanes. */
  #add(name: string, form: number, quad: number, weights: number, counts: number): void {
    const w = this.#w;
    const texels = this.#fetch(name, form, quad, 8);
    for (const h of halves) {
      const places = h === 0 ? ([0, 0, 1, 1] as const) : ([2, 2, 3, 3] as const);
      const weight = h === 0 ? v(weights) : wasm.shuffle32(v(weights), v(weights), [2, 3, 2, 3]);
      const factor = this.#keep(op("f64x2.convert_low_i32x4_s", weight));
      const isCounted = this.#keep(wasm.shuffle32(v(counts), v(counts), places));
      for (const c of channels) {
        const old = this.#keep(this.#load(levelRegisters.sums + 2 * c + h, quad));
        const sum = op("f64x2.add", v(old), op("f64x2.mul", v(texels[2 * c + h]!), v(factor)));
        this.#store(levelRegisters.sums + 2 * c + h, quad, wasm.blend(v(isCounted), sum, v(old)));
        w.release(old);
      }
      w.release(factor);
      w.release(isCounted);
    }
    for (const local of texels) w.release(local);
  }

  /** Divides sums, and rounds them to results; there is one NaN. */
  #divide(quad: number): void {
    const w = this.#w;
    const divisors = this.#keep(this.#load(levelRegisters.weights, quad));
    const isOne = this.#keep(op("i32x4.eq", v(divisors), wasm.i32x4(0)));
    const factors = halves.map((h) => {
      const places = h === 0 ? ([0, 0, 1, 1] as const) : ([2, 2, 3, 3] as const);
      const divisor = wasm.blend(v(isOne), wasm.i32x4(256), v(divisors));
      const own = h === 0 ? divisor : wasm.shuffle32(divisor, divisor, [2, 3, 2, 3]);
      return {
        divisor: this.#keep(op("f64x2.convert_low_i32x4_s", own)),
        // Sums of several begin with 0, so that none is -0.
        zero: this.#keep(op("v128.and", wasm.shuffle32(v(isOne), v(isOne), places), wasm.f64x2(-0))),
      };
    });
    for (const c of channels) {
      const [low, high] = factors.map(({ divisor, zero }, h) => {
        const sum = op("f64x2.add", this.#load(levelRegisters.sums + 2 * c + h, quad), v(zero));
        return this.#keep(op("f64x2.div", sum, v(divisor)));
      });
      const rounded = this.#from.kind.halves ? halvesOfDoubles : floatsOfDoubles;
      assignKeeping(w, low!, (keep) => rounded(keep, v(low!), v(high!)));
      this.#store(levelRegisters.results + c, quad, v(low!));
      for (const local of [low!, high!]) w.release(local);
    }
    for (const { divisor, zero } of factors) for (const local of [divisor, zero]) w.release(local);
    for (const local of [divisors, isOne]) w.release(local);
  }
}
