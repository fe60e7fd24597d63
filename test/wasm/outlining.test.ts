import { describe, expect, test } from "vitest";
import { type FunctionWriter, ModuleWriter, wasm, type WasmTy } from "../../src/wasm/index.ts";
import type { Label } from "../../src/wasm/function-parts.ts";

const always = { smallest: 0, leastShare: 0, fewestBytes: 1, bytesForValue: 0 };
const never = { ...always, smallest: Number.POSITIVE_INFINITY };

/** Numbers from 0 up to, but not including, `below`. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) % below;
  };
}

/** Writes statements at random, over locals that hold i32 and v128, of which some are noted as rare. */
class RandomCode {
  readonly #w: FunctionWriter;
  readonly #pick: (below: number) => number;
  readonly #numbers: readonly number[];
  readonly #vectors: readonly number[];
  /** Rounds that are left in all loops together. */
  readonly #fuel: number;
  readonly #labels: { readonly label: Label; readonly isLoop: boolean }[] = [];

  constructor(w: FunctionWriter, pick: (below: number) => number) {
    this.#w = w;
    this.#pick = pick;
    // Numbers of locals take two bytes in some functions.
    for (let i = 260 * pick(2); i > 0; i--) w.local("i32");
    this.#numbers = [0, 1, 2, ...Array.from({ length: 5 }, () => w.local("i32"))];
    this.#vectors = Array.from({ length: 4 }, () => w.local("v128"));
    this.#fuel = w.local("i32");
    w.assign([{ local: this.#fuel, value: wasm.i32(40) }]);
  }

  write(): void {
    this.#statements(3, 5);
    const hash = this.#w.local("i32");
    const mix = (value: Parameters<typeof wasm.op>[1]) =>
      wasm.op("i32.xor", wasm.op("i32.mul", wasm.local("i32", hash), wasm.i32(31)), value);
    for (const local of this.#numbers) this.#w.assign([{ local: hash, value: mix(wasm.local("i32", local)) }]);
    for (const local of this.#vectors) {
      const lane = wasm.op("v128.any_true", wasm.op("v128.xor", wasm.local("v128", local), wasm.i32x4(5)));
      this.#w.assign([{ local: hash, value: mix(lane) }]);
    }
    this.#w.get(hash);
    this.#w.globalGet(0);
    this.#w.op("i32.xor");
  }

  #one<T>(of: readonly T[]): T {
    return of[this.#pick(of.length)]!;
  }

  #number = () => wasm.local("i32", this.#one(this.#numbers));

  #statements(depth: number, count: number): void {
    for (let i = 0; i < count; i++) this.#statement(depth);
  }

  #inside(depth: number): () => void {
    return () => this.#statements(depth - 1, 1 + this.#pick(4));
  }

  #labelled(what: "block" | "loop", depth: number): void {
    const label = this.#w.begin(what);
    this.#labels.push({ label, isLoop: what === "loop" });
    this.#inside(depth)();
    this.#labels.pop();
    this.#w.end();
  }

  #condition(): void {
    this.#w.value(wasm.op("i32.and", this.#number(), wasm.i32(1 + this.#pick(3))));
  }

  /** Branches to an enclosing label: to a loop's only while there is fuel. */
  #branch(): void {
    if (this.#labels.length === 0) return;
    const { label, isLoop } = this.#one(this.#labels);
    const w = this.#w;
    if (isLoop) {
      const left = wasm.op("i32.sub", wasm.local("i32", this.#fuel), wasm.i32(1));
      w.assign([{ local: this.#fuel, value: left }]);
      this.#condition();
      w.value(wasm.op("i32.gt_s", wasm.local("i32", this.#fuel), wasm.i32(0)));
      w.op("i32.and");
      w.brIf(label);
    } else if (this.#pick(3) === 0) w.br(label);
    else {
      this.#condition();
      if (this.#pick(2) === 0) w.expect(this.#pick(2) === 0);
      w.brIf(label);
    }
  }

  #table(depth: number): void {
    const w = this.#w;
    const labels = [0, 1, 2].map(() => w.begin("block"));
    this.#inside(depth)();
    w.value(this.#number());
    w.brTable(labels.slice(0, 2), labels[2]!);
    for (let i = 0; i < 3; i++) {
      w.end();
      this.#inside(depth)();
    }
  }

  #statement(depth: number): void {
    const w = this.#w;
    const simple = depth === 0;
    switch (this.#pick(simple ? 3 : 12)) {
      case 0: {
        const op = this.#one(["i32.add", "i32.mul", "i32.xor"] as const);
        const value = wasm.op(op, wasm.op("i32.add", this.#number(), wasm.i32(this.#pick(1000))), this.#number());
        w.assign([{ local: this.#one(this.#numbers), value }]);
        break;
      }
      case 1: {
        const [a, b] = [0, 1].map(() => wasm.local("v128", this.#one(this.#vectors)));
        const value = this.#pick(2) === 0 ? wasm.op("i32x4.splat", this.#number()) : wasm.op("i32x4.add", a!, b!);
        w.assign([{ local: this.#one(this.#vectors), value }]);
        break;
      }
      case 2:
        if (this.#pick(2) === 0) {
          w.value(this.#number());
          w.call("twice");
          w.set(this.#one(this.#numbers));
        } else this.#branch();
        break;
      case 3:
        this.#labelled("block", depth);
        break;
      case 4:
        this.#labelled("loop", depth);
        break;
      case 5:
        this.#table(depth);
        break;
      case 6:
        w.rarely(true, this.#inside(depth));
        break;
      case 7: {
        // Code that is cut out, and written at two places: no branch leaves it.
        const around = this.#labels.splice(0);
        const code = w.cut(this.#inside(depth));
        this.#labels.push(...around);
        for (let i = 0; i < 2; i++) {
          this.#statement(0);
          code.write();
        }
        code.release();
        break;
      }
      case 8:
        w.call("count");
        break;
      case 9:
        w.forget(this.#one([...this.#numbers, ...this.#vectors]));
        break;
      default: {
        this.#condition();
        if (this.#pick(3) > 0) w.expect(this.#pick(2) === 0);
        const hasElse = this.#pick(2) === 0;
        w.if(this.#inside(depth), hasElse ? this.#inside(depth) : null);
      }
    }
  }
}

type Limits = typeof always;

function compiled(limits: Limits, write: (w: FunctionWriter) => void): { f: (...args: number[]) => number; n: number } {
  const module = new ModuleWriter(undefined, limits);
  const f = module.function("f", ["i32", "i32", "i32"], ["i32"]);
  // Counts its calls, from which nothing is left on the stack.
  const calls = module.global(0);
  const count = module.function("count", [], []);
  count.globalGet(calls);
  count.i32(1);
  count.op("i32.add");
  count.globalSet(calls);
  const twice = module.function("twice", ["i32"], ["i32"]);
  twice.value(wasm.op("i32.add", wasm.local("i32", 0), wasm.local("i32", 0)));
  write(f);
  module.export("f");
  const bytes = module.finish();
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  return { f: exports.f as (...args: number[]) => number, n: bytes.length };
}

const inputs = [0, 1, 2, 3, 5, 12, -1, 0x7fff_ffff];

describe("code that becomes functions", () => {
  test("does what it does in place, in random functions", () => {
    let divided = 0;
    for (let seed = 1; seed <= 400; seed++) {
      const write = (w: FunctionWriter): void => new RandomCode(w, randomFrom(seed)).write();
      const [whole, parts] = [compiled(never, write), compiled(always, write)];
      if (whole.n !== parts.n) divided++;
      for (const a of inputs) {
        const args = [a, Math.imul(a, 7) + 3, seed];
        expect(parts.f(...args), `seed ${seed}, ${args}`).toBe(whole.f(...args));
      }
    }
    expect(divided).toBeGreaterThan(300);
  });

  test("keeps what a condition may not assign", () => {
    const { f } = compiled(always, (w) => {
      const kept = w.local("i32");
      w.assign([{ local: kept, value: wasm.i32(7) }]);
      w.value(wasm.local("i32", 0));
      w.expect(false);
      w.if(() => {
        w.value(wasm.local("i32", 1));
        w.if(() => w.assign([{ local: kept, value: wasm.i32(9) }]));
      });
      w.get(kept);
    });
    expect([f(0, 1, 0), f(1, 0, 0), f(1, 1, 0)]).toEqual([7, 7, 9]);
  });

  test("keeps what the next round of a loop reads", () => {
    const { f } = compiled(always, (w) => {
      const [sum, i] = [w.local("i32"), w.local("i32")];
      w.loop((again) => {
        w.value(wasm.op("i32.and", wasm.local("i32", i), wasm.i32(1)));
        w.expect(false);
        const value = wasm.op("i32.add", wasm.local("i32", sum), wasm.local("i32", i));
        w.if(() => w.assign([{ local: sum, value }]));
        w.assign([{ local: i, value: wasm.op("i32.add", wasm.local("i32", i), wasm.i32(1)) }]);
        w.value(wasm.op("i32.lt_u", wasm.local("i32", i), wasm.local("i32", 0)));
        w.brIf(again);
      });
      w.get(sum);
    });
    expect([f(1, 0, 0), f(6, 0, 0), f(9, 0, 0)]).toEqual([0, 9, 16]);
  });

  test("keeps what the next round of a loop around its own reads", () => {
    const { f } = compiled(always, (w) => {
      const [sum, last, i, rounds] = [w.local("i32"), w.local("i32"), w.local("i32"), w.local("i32")];
      const plus = (local: number, value: number): void =>
        w.assign([{ local, value: wasm.op("i32.add", wasm.local("i32", local), wasm.i32(value)) }]);
      w.loop((outer) => {
        w.assign([{ local: sum, value: wasm.op("i32.add", wasm.local("i32", sum), wasm.local("i32", last)) }]);
        w.assign([{ local: i, value: wasm.i32(0) }]);
        w.block((done) => {
          w.loop((inner) => {
            w.value(wasm.op("i32.ge_u", wasm.local("i32", i), wasm.local("i32", 0)));
            w.brIf(done);
            w.value(wasm.op("i32.eqz", wasm.op("i32.and", wasm.local("i32", i), wasm.i32(1))));
            w.expect(false);
            w.if(() => {
              plus(i, 1);
              w.assign([{ local: last, value: wasm.local("i32", i) }]);
              w.br(inner);
            });
            plus(i, 1);
            w.assign([{ local: last, value: wasm.i32(0) }]);
            w.br(inner);
          });
        });
        plus(rounds, 1);
        w.value(wasm.op("i32.lt_u", wasm.local("i32", rounds), wasm.i32(3)));
        w.brIf(outer);
      });
      w.get(sum);
    });
    expect([f(0, 0, 0), f(4, 0, 0), f(5, 0, 0)]).toEqual([0, 0, 10]);
  });

  test("leaves for several labels, and around a loop", () => {
    const { f } = compiled(always, (w) => {
      const rounds = w.local("i32");
      const end = w.begin("block");
      const other = w.begin("block");
      w.loop((again) => {
        w.rarely(true, () => {
          w.assign([{ local: rounds, value: wasm.op("i32.add", wasm.local("i32", rounds), wasm.i32(1)) }]);
          w.value(wasm.op("i32.lt_u", wasm.local("i32", rounds), wasm.local("i32", 0)));
          w.brIf(again);
          w.value(wasm.local("i32", 1));
          w.brIf(other);
          w.value(wasm.local("i32", 2));
          w.brIf(end);
        });
        w.assign([{ local: rounds, value: wasm.op("i32.add", wasm.local("i32", rounds), wasm.i32(100)) }]);
      });
      w.br(end);
      w.end();
      w.assign([{ local: rounds, value: wasm.op("i32.add", wasm.local("i32", rounds), wasm.i32(1000)) }]);
      w.end();
      w.get(rounds);
    });
    expect([f(3, 0, 0), f(3, 1, 0), f(3, 0, 1), f(0, 0, 0)]).toEqual([103, 1003, 3, 101]);
  });

  test("stays where it is if it returns from the function", () => {
    const write = (w: FunctionWriter): void => {
      w.value(wasm.local("i32", 0));
      w.expect(false);
      w.if(() => {
        w.i32(4);
        w.return();
      });
      w.i32(5);
    };
    expect(compiled(always, write).n).toBe(compiled(never, write).n);
    expect(compiled(always, write).f(1, 0, 0)).toBe(4);
  });

  test("passes values of all types", () => {
    const types: readonly WasmTy[] = ["i32", "i64", "f32", "f64", "v128"];
    const { f } = compiled(always, (w) => {
      const locals = types.map((ty) => w.local(ty));
      const zero = w.local("i32");
      w.value(wasm.local("i32", 0));
      w.expect(false);
      w.if(() => {
        locals.forEach((local, i) => {
          if (types[i] === "v128") w.value(wasm.i32x4(3));
          else {
            w.i32(i + 1);
            if (types[i] === "i64") w.op("i64.extend_i32_u");
            if (types[i] === "f32") w.op("f32.convert_i32_s");
            if (types[i] === "f64") w.op("f64.convert_i32_s");
          }
          w.set(local);
        });
      });
      w.get(locals[0]!);
      w.get(locals[1]!);
      w.op("i32.wrap_i64");
      w.op("i32.add");
      w.get(locals[2]!);
      w.op("i32.reinterpret_f32");
      w.op("i32.add");
      w.get(locals[4]!);
      w.op("v128.any_true");
      w.op("i32.add");
      w.get(zero);
      w.op("i32.add");
    });
    const bits = new Int32Array(new Float32Array([3]).buffer)[0]!;
    expect([f(0, 0, 0), f(1, 0, 0)]).toEqual([0, 1 + 2 + bits + 1]);
  });
});
