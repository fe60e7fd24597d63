import { expect, test } from "vitest";
import type { FunctionWriter } from "../../src/wasm/function-writer.ts";
import { type MemoryOp, memoryOps } from "../../src/wasm/memory-ops.ts";
import { machineFeatures, ModuleWriter, type WasmTy } from "../../src/wasm/index.ts";
import { type ValueOp, valueOps } from "../../src/wasm/value-ops.ts";
import { compilerForTests, whyNoMachineCode, widths } from "./native.ts";

/*
 * Every operation of modules, in machine code and as the host's WebAssembly has it. Vectors are computed four at a
 * time, as the stores of neighbouring ones are, and once alone; halves of them in all orders.
 */

/** Bytes of a round's operands: five vectors for each of three. */
const operandVectors = 5;
const operandBytes = 16 * operandVectors;
const roundBytes = 3 * operandBytes;
const rounds = 60;
const inputs = 1024;
const outputs = inputs + rounds * roundBytes;
/** Eight vectors, and what keeps them apart from those of the next slot. */
const slotBytes = 144;
const outputBytes = 0x20000;

/** Numbers at which something changes, and others. */
const words = [
  0, 1, -1, 2, 31, 0x7fffffff, -0x80000000, 0x7f800000, -0x800000, 0x7fc00000, 0x7fa00001, 0x3f800000, 0x3f7fffff,
  0x4f000000, 0x4f800000, -0x31000000, 0x5f000000, 0x5f800000, 0x80, 0xff, 0x7f80ff01, 0x3fe00000, 0x41dfffff,
  0x41e00000, 0x43e00000, 0x43f00000, 0x3ff80000, 0x40080000, 0x7ff00000, 0x7ff80000, -0x7ffffff, 0x00800000,
];

/** Results of which only that they are NaNs is the same. */
const mayBeNan = /^f(32|64)(x\d)?\.(add|sub|mul|div|sqrt|min|max|ceil|floor|trunc|nearest|demote|promote|relaxed_madd)/;

const isDivision = /^i(32|64)\.(div|rem)_/;

interface Slot {
  readonly op: ValueOp | MemoryOp;
  readonly at: number;
  /** Bytes of an element of the result, if it is a float. */
  readonly element: 4 | 8 | null;
}

const storeOf: Readonly<Record<WasmTy, MemoryOp>> = {
  i32: "i32.store",
  i64: "i64.store",
  f32: "f32.store",
  f64: "f64.store",
  v128: "v128.store",
};
const loadOf: Readonly<Record<WasmTy, MemoryOp>> = {
  i32: "i32.load",
  i64: "i64.load",
  f32: "f32.load",
  f64: "f64.load",
  v128: "v128.load",
};

/** Writes the module's functions: each runs a round (its first parameter) of some operations. */
class Writer {
  readonly module = new ModuleWriter(machineFeatures());
  readonly slots: Slot[] = [];
  #f!: FunctionWriter;
  #input = 0;
  #output = 0;
  /** The locals that have the vectors of all operands. */
  #vectors: readonly number[] = [];

  /** Begins a function. */
  begin(name: string): void {
    const f = this.module.function(name, ["i32"], []);
    this.#f = f;
    this.#input = f.local("i32");
    this.#output = f.local("i32");
    for (const [local, base, stride] of [
      [this.#input, inputs, roundBytes],
      [this.#output, outputs, outputBytes],
    ] as const) {
      f.get(0);
      f.constant({ kind: "const", ty: "i32", value: stride });
      f.op("i32.mul");
      f.constant({ kind: "const", ty: "i32", value: base });
      f.op("i32.add");
      f.set(local);
    }
    this.#vectors = Array.from({ length: 3 * operandVectors }, () => f.local("v128"));
    this.#vectors.forEach((local, i) => {
      f.get(this.#input);
      f.memory("v128.load", 1, 16 * i);
      f.set(local);
    });
  }

  value(op: ValueOp): void {
    const { params, result } = valueOps[op];
    const at = this.#slot(op);
    const isVector = result === "v128" || params.includes("v128" as never);
    for (let n = 0; n < (isVector ? 5 : 1); n++) {
      this.#f.get(this.#output);
      params.forEach((ty: WasmTy, i: number) => {
        this.#operand(ty, i, n);
        if (isDivision.test(op) && i === 1) this.#makeDivisor(ty);
        if (op === "v128.bitselect" && i === 2) this.#makeMask();
      });
      this.#f.op(op, immediatesOf(op, n));
      this.#f.memory(storeOf[result as WasmTy], 1, at + (result === "v128" ? 16 * (n < 4 ? n : 5) : 8 * n));
    }
  }

  access(op: MemoryOp): void {
    const { params, result } = memoryOps[op];
    const at = this.#slot(op);
    const lane = op.endsWith("_lane") ? 1 : undefined;
    // What is stored to, or changed, is the operand `a` first.
    this.#f.get(this.#output);
    this.#operand("v128", 0, 0);
    this.#f.memory("v128.store", 1, at);
    this.#f.get(this.#output);
    this.#f.get(this.#output);
    (params.slice(1) as WasmTy[]).forEach((ty, i) => {
      if (params.length > 2 && i === 0) this.#expected(op, ty);
      else this.#operand(ty, i + 1, 0);
    });
    this.#f.memory(op, alignmentOf(op), at, lane);
    if (result === null) this.#f.drop();
    else this.#f.memory(storeOf[result as WasmTy], 1, at + 16);
  }

  /** What a comparison and exchange expects: the old value, in rounds with an even number. */
  #expected(op: MemoryOp, ty: WasmTy): void {
    const bytes = op.includes("rmw8") ? 0xff : op.includes("rmw16") ? 0xffff : -1;
    this.#operand(ty, 0, 0);
    if (ty === "i64") return;
    this.#f.constant({ kind: "const", ty: "i32", value: bytes });
    this.#f.op("i32.and");
    this.#f.get(0);
    this.#f.constant({ kind: "const", ty: "i32", value: 1 });
    this.#f.op("i32.and");
    this.#f.op("i32.add");
  }

  /** Elements of halves of vectors, in twice the width. `halves`: of which vectors, and whether the high ones. */
  widened(op: ValueOp, halves: readonly (readonly [vector: number, isHigh: boolean])[]): void {
    const at = this.#slot(op);
    for (const [k, [n, isHigh]] of halves.entries()) {
      this.#f.get(this.#output);
      for (let i = 0; i < valueOps[op].params.length; i++) this.#operand("v128", i, n);
      const high = op.replace("_low_", "_high_");
      if (isHigh && !(high in valueOps)) this.#shuffle([2, 3, 2, 3], () => this.#operand("v128", 0, n));
      this.#f.op(isHigh && high in valueOps ? (high as ValueOp) : op);
      this.#f.memory("v128.store", 1, at + 16 * k);
    }
  }

  /** Elements of `count` times two vectors in half the width. `words`: which ones of both, of `op` or of themselves. */
  narrowed(op: ValueOp, count: number, words: readonly number[]): void {
    const at = this.#slot(op);
    for (let n = 0; n < count; n++) {
      this.#f.get(this.#output);
      const operand = (i: number): void => {
        this.#operand("v128", 0, 2 * n + i);
        if (op.endsWith("_zero")) this.#f.op(op);
      };
      operand(0);
      if (op.includes("narrow")) {
        operand(1);
        this.#f.op(op);
      } else this.#shuffle(words, () => operand(1));
      this.#f.memory("v128.store", 1, at + 16 * n);
    }
  }

  #shuffle(words: readonly number[], second: () => void): void {
    second();
    this.#f.op(
      "i8x16.shuffle",
      words.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte)),
    );
  }

  #slot(op: Slot["op"]): number {
    const at = this.slots.length * slotBytes;
    this.slots.push({ op, at, element: mayBeNan.test(op) ? (op.startsWith("f32") ? 4 : 8) : null });
    return at;
  }

  #operand(ty: WasmTy, i: number, n: number): void {
    if (ty === "v128") {
      this.#f.get(this.#vectors[operandVectors * i + n]!);
      return;
    }
    this.#f.get(this.#input);
    this.#f.memory(loadOf[ty], 1, i * operandBytes + 16 * n);
  }

  /** Makes a mask of a vector, whose bytes have all bits or none. */
  #makeMask(): void {
    this.#f.constant({ kind: "const", ty: "i32", value: 7 });
    this.#f.op("i8x16.shr_s");
  }

  /** Makes a divisor of a number: odd and not negative, so that no quotient traps. */
  #makeDivisor(ty: WasmTy): void {
    const wide = ty === "i64";
    this.#f.constant(
      wide ? { kind: "const", ty, value: 2n ** 63n - 1n } : { kind: "const", ty: "i32", value: 0x7fffffff },
    );
    this.#f.op(wide ? "i64.and" : "i32.and");
    this.#f.constant(wide ? { kind: "const", ty, value: 1n } : { kind: "const", ty: "i32", value: 1 });
    this.#f.op(wide ? "i64.or" : "i32.or");
  }
}

/** The lane of an operation on one, or the bytes of a shuffle. */
function immediatesOf(op: ValueOp, n: number): readonly number[] {
  if (op === "i8x16.shuffle") return [31, 0, 16, 3, 17, 8, 9, 9, 4, 20, 21, 22, 15, 1, 2, 30];
  return op.includes("_lane") ? [op.startsWith("i64") || op.startsWith("f64") ? n % 2 : n % 4] : [];
}

function alignmentOf(op: MemoryOp): number {
  if (!op.includes("atomic")) return 1;
  if (/8/.test(op.replace(/^i\d+/, ""))) return 1;
  if (/16/.test(op.replace(/^i\d+/, ""))) return 2;
  return op.startsWith("i64") ? 8 : 4;
}

/** Both halves of the first vectors in order, of different numbers of them, and halves in another order. */
const halves = [
  ...[4, 2, 1].map((count) => Array.from({ length: 2 * count }, (_, k) => [k >> 1, k % 2 === 1] as const)),
  [
    [0, true],
    [0, false],
    [1, false],
    [2, true],
  ],
  [
    [0, false],
    [0, false],
    [1, true],
    [1, true],
  ],
] as const;

const isWidening = (op: string): boolean => /_low_/.test(op);

/** What two vectors are joined by: words of both, as whole numbers, or of what operations have made of each. */
function narrowings(writer: Writer): (() => void)[] {
  const all = Object.keys(valueOps) as ValueOp[];
  const made: (() => void)[] = [];
  for (const count of [4, 2, 1]) {
    for (const op of all.filter((name) => /narrow_|_zero$/.test(name))) {
      for (const words of op.endsWith("_zero")
        ? [
            [0, 1, 4, 5],
            [4, 5, 0, 1],
          ]
        : [[]]) {
        made.push(() => writer.narrowed(op, count, words));
      }
    }
    for (const words of [
      [0, 2, 4, 6],
      [1, 3, 5, 7],
      [2, 0, 4, 6],
    ]) {
      made.push(() => writer.narrowed("i8x16.shuffle", count, words));
    }
  }
  return made;
}

const waits = (op: string): boolean => op.startsWith("memory.atomic");

function moduleOfAll(): { readonly bytes: Uint8Array<ArrayBuffer>; readonly slots: readonly Slot[] } {
  const writer = new Writer();
  const { module } = writer;
  module.importMemory({ initial: 1, maximum: 1024, shared: true });
  module.importFunction("giveUp", [], []);
  const names: string[] = [];
  const all = [
    ...(Object.keys(valueOps) as ValueOp[])
      .filter((op) => !op.includes("relaxed_madd") || machineFeatures().fusedMadd)
      // With masks of any bits its result is the machine's choice.
      .filter((op) => op !== "i8x16.relaxed_laneselect")
      .map((op) => () => writer.value(op)),
    ...(Object.keys(valueOps) as ValueOp[])
      .filter(isWidening)
      .flatMap((op) => halves.map((of) => () => writer.widened(op, of))),
    ...narrowings(writer),
    ...(Object.keys(memoryOps) as MemoryOp[]).filter((op) => !waits(op)).map((op) => () => writer.access(op)),
  ];
  all.forEach((write, i) => {
    if (i % 8 === 0) {
      names.push(`part${i}`);
      writer.begin(names.at(-1)!);
    }
    write();
  });
  const run = module.function("run", ["i32", "i32", "i32"], ["i32"]);
  for (const name of names) {
    run.get(1);
    run.call(name);
  }
  run.get(2);
  module.export("run");
  return { bytes: module.finish(), slots: writer.slots };
}

function memoryWithInputs(): WebAssembly.Memory {
  const memory = new WebAssembly.Memory({ initial: 1024, maximum: 1024, shared: true });
  const view = new Int32Array(memory.buffer, inputs, (rounds * roundBytes) / 4);
  let state = 12345;
  for (let i = 0; i < view.length; i++) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    view[i] = state % 3 === 0 ? (state << 7) ^ (state >> 9) : words[(state >> 8) % words.length]!;
  }
  return memory;
}

const isNan = (view: DataView, at: number, element: 4 | 8): boolean =>
  Number.isNaN(element === 4 ? view.getFloat32(at, true) : view.getFloat64(at, true));

/** The operations whose results differ, and the first of those. */
function differences(slots: readonly Slot[], got: ArrayBufferLike, want: ArrayBufferLike): string[] {
  const [a, b] = [new DataView(got), new DataView(want)];
  const found: string[] = [];
  for (const { op, at, element } of slots) {
    for (let round = 0; round < rounds; round++) {
      for (let byte = 0; byte < slotBytes; byte += 4) {
        const place = outputs + round * outputBytes + at + byte;
        if (a.getUint32(place, true) === b.getUint32(place, true)) continue;
        const start = place - (byte % (element ?? 4));
        if (element !== null && isNan(a, start, element) && isNan(b, start, element)) continue;
        found.push(`${op}: round ${round}, byte ${byte}`);
        round = rounds;
        break;
      }
    }
  }
  return found;
}

const whyNot = whyNoMachineCode();

test.skipIf(whyNot !== null).each(widths)(
  "machine code computes what WebAssembly does, in every operation %s",
  (width) => {
    const { bytes, slots } = moduleOfAll();
    const compiler = compilerForTests(width);
    const code = compiler.compile(bytes, ["giveUp"]);
    if (typeof code === "string") throw new Error(code);
    const [native, wasm] = [memoryWithInputs(), memoryWithInputs()];
    const functions = { giveUp: () => {} };
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
      env: { memory: wasm, ...functions },
    });
    const runs = [
      compiler.instance(code, native, functions),
      exports["run"] as (context: number, from: number, to: number) => number,
    ];
    for (const run of runs)
      for (let round = 0; round < rounds; round++) expect(run(0, round, round + 1)).toBe(round + 1);
    expect(slots.length).toBeGreaterThan(300);
    expect(differences(slots, native.buffer, wasm.buffer)).toEqual([]);
  },
);
