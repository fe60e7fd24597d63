import { expect, test } from "vitest";
import {
  type LibraryFunction,
  limits,
  ModuleWriter,
  noFeatures,
  TooLarge,
  type Wasm,
  wasm,
} from "../../src/wasm/index.ts";

const instance = (module: ModuleWriter, env: Record<string, unknown> = {}) =>
  new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env }).exports as Record<
    string,
    (...args: number[]) => number
  >;
const [a, b] = [wasm.operand("i32", 0), wasm.operand("i32", 1)];
const define = (module: ModuleWriter, name: string, value: Wasm): void => {
  module.function(name, ["i32", "i32"], ["i32"]).value(value, [0, 1]);
  module.export(name);
};

test("functions may be imported after others are written, and called before they are added", () => {
  const module = new ModuleWriter();
  define(module, "sum", wasm.op("i32.add", a!, b!));
  const outer = module.function("outer", ["i32"], ["i32"]);
  outer.get(0);
  outer.i32(5);
  outer.call("later");
  module.export("outer");
  define(module, "later", wasm.op("i32.sub", wasm.import("twice", "i32", a!), b!));
  expect(module.imports).toEqual(["twice"]);
  const { sum, outer: call } = instance(module, { twice: (x: number) => 2 * x });
  expect([sum!(3, 4), call!(10)]).toEqual([7, 15]);
});

test("a call is replaced by the machine's native operation", () => {
  const difference: LibraryFunction = {
    name: "difference",
    params: ["i32", "i32"],
    result: "i32",
    body: (x, y) => wasm.op("i32.sub", x!, y!),
    native: { feature: "fusedMadd", body: (x, y) => wasm.op("i32.add", x!, wasm.op("i32.mul", y!, wasm.i32(-1))) },
  };
  const sizes = [false, true].map((fusedMadd) => {
    const module = new ModuleWriter({ ...noFeatures, fusedMadd });
    const call = wasm.call(difference, a!, b!);
    define(module, "f", wasm.op("i32.mul", call, call));
    expect(instance(module)["f"]!(7, 2)).toBe(25);
    return module.finish().length;
  });
  expect(sizes[0]).not.toBe(sizes[1]);
});

test("a branch that is not taken computes nothing, not even a part that it uses twice", () => {
  const module = new ModuleWriter();
  const calls: string[] = [];
  const part = (name: string): Wasm => wasm.import(name, "i32", a!);
  const square = (x: Wasm): Wasm => wasm.op("i32.mul", x, x);
  const both = part("both");
  const then = wasm.op("i32.add", square(part("then")), both);
  const otherwise = wasm.op("i32.add", square(part("otherwise")), both);
  define(module, "f", wasm.if(b!, then, otherwise));
  const env = Object.fromEntries(
    ["both", "then", "otherwise"].map((name) => [name, (x: number) => (calls.push(name), x)]),
  );
  const { f } = instance(module, env);
  expect(f!(3, 1)).toBe(12);
  expect(calls.sort()).toEqual(["both", "then"]);
});

test("branch hints go by the offset in the function", () => {
  const module = new ModuleWriter();
  const f = module.function("f", ["i32"], ["i32"]);
  module.export("f");
  f.call("before");
  f.local("i64");
  f.get(0);
  f.expect(true);
  f.if(() => {
    f.i32(7);
    f.return();
  });
  f.block((end) => {
    f.get(0);
    f.expect(false);
    f.brIf(end);
    f.get(0);
    f.brIf(end);
  });
  f.i32(9);
  module.function("before", [], []);
  const compiled = new WebAssembly.Module(module.finish());
  const [hints] = WebAssembly.Module.customSections(compiled, "metadata.code.branch_hint");
  // One function, index 0, with two hints. The `if` comes after 3 bytes of locals, 2 of the call and 2 of `local.get`.
  // It takes 6 bytes; after it come `block` and `local.get` with 2 bytes each, then the `br_if`.
  expect([...new Uint8Array(hints!)]).toEqual([1, 0, 2, 7, 1, 1, 17, 1, 0]);
  const { f: run } = new WebAssembly.Instance(compiled, {}).exports as Record<string, (x: number) => number>;
  expect([run!(1), run!(0)]).toEqual([7, 9]);
});

test("lasting values beyond the spill budget are in memory and behave like locals", () => {
  const module = new ModuleWriter();
  module.importMemory({ initial: 1, maximum: 1, shared: false });
  const w = module.function("f", ["i32"], ["i32"]);
  w.keepIn({ base: 0, offset: 64, bytes: 16 * 4, mostLocals: 2 });
  const [first, second, ...others] = Array.from({ length: 8 }, () => w.lasting("i32")) as [number, number, ...number[]];
  w.assign([first, second, ...others].map((local, i) => ({ local, value: wasm.i32(10 ** i) })));
  // A swap: both values are read before either is written.
  w.assign([
    { local: first, value: wasm.local("i32", others[0]!) },
    { local: others[0]!, value: wasm.local("i32", first) },
  ]);
  const weighted = [first, second, ...others].map((l, i) => wasm.op("i32.mul", wasm.local("i32", l), wasm.i32(i + 1)));
  w.value(weighted.reduce((sum, part) => wasm.op("i32.add", sum, part)));
  module.export("f");
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  expect(instance(module, { memory })["f"]!(1024)).toBe(87_654_123);
  // The third to the sixth value, in the spill area.
  const words = new Int32Array(memory.buffer, 1024 + 64, 16);
  expect([0, 4, 8, 12].map((i) => words[i])).toEqual([1, 1000, 10_000, 100_000]);
});

test("a function may be as large as hosts accept, and no larger", () => {
  const sized = (bytes: number, locals: number): ModuleWriter => {
    const module = new ModuleWriter();
    const w = module.function("f", [], []);
    for (let i = 0; i < locals; i++) w.local("i32");
    // Three bytes each.
    for (let i = 0; i < bytes / 3; i++) {
      w.i32(1);
      w.drop();
    }
    return module;
  };
  expect(() => instance(sized(300, limits.locals))).not.toThrow();
  expect(() => sized(300, limits.locals + 1).finish()).toThrow(TooLarge);
  expect(() => instance(sized(limits.functionBytes - 300, 1))).not.toThrow();
  expect(() => sized(limits.functionBytes + 300, 1).finish()).toThrow(TooLarge);
});
