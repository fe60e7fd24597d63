import type { FunctionText } from "./function-text.ts";
import { awaitPhase, byFirstThread, declareMbarriers, initialize, invalidate, meetAll } from "./mbarriers.ts";
import type { Random } from "./random.ts";
import type { Scope } from "./scope.ts";
import { descriptor, fillMatrices, foldInto } from "./warpgroups.ts";

/** Columns that a block allocates: sums lie in the first ones, a matrix A in the last ones. */
const columns = 256;
const [mostSums, firstOfA] = [128, 192];

/** Registers and columns of a shape that is repeated `num` times. */
const shapes = {
  "32x32b": { registers: 1, columns: 1, most: 32 },
  "16x64b": { registers: 1, columns: 2, most: 32 },
  "16x128b": { registers: 2, columns: 4, most: 16 },
  "16x256b": { registers: 4, columns: 8, most: 8 },
} as const;

/** Memory that a block has allocated: registers. */
interface Allocation {
  /** The address of its first column, and that of the first lane that a warp may access. */
  readonly address: string;
  readonly own: string;
  /** A predicate: whether the thread is of a warp that accesses it. */
  readonly isOther: string;
}

/** One warp does what `write` writes. */
function byFirstWarp(text: FunctionText, write: () => void): void {
  const [p, end] = [text.temporary(1), text.label()];
  text.add(`setp.ge.u32 ${p}, %lt, 32;`, `@${p} bra ${end};`);
  write();
  text.place(end);
}

function allocate({ text, module }: Scope): Allocation {
  const slot = module.fresh("tm");
  module.variable(slot, () => `.shared .align 4 .b32 ${slot};`);
  const [address, own, at, isOther] = [text.temporary(32), text.temporary(32), text.temporary(32), text.temporary(1)];
  text.add(`mov.u32 ${at}, ${slot};`);
  meetAll(text);
  byFirstWarp(text, () => {
    text.add(`tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [${at}], ${columns};`);
  });
  meetAll(text);
  text.add(`ld.shared.b32 ${address}, [${at}];`, `and.b32 ${own}, %lt, 0x60;`, `shl.b32 ${own}, ${own}, 16;`);
  text.add(`add.u32 ${own}, ${own}, ${address};`, `setp.ge.u32 ${isOther}, %lt, 128;`);
  return { address, own, isOther };
}

/** The warps of the first warpgroup, which together see all lanes, do what `write` writes; then the block meets. */
function byWarps(text: FunctionText, { isOther }: Allocation, kind: "ld" | "st", write: () => void): void {
  const end = text.label();
  text.add("tcgen05.fence::after_thread_sync;", `@${isOther} bra ${end};`);
  write();
  text.add(`tcgen05.wait::${kind}.sync.aligned;`);
  text.place(end);
  text.add("tcgen05.fence::before_thread_sync;");
  meetAll(text);
}

const list = (registers: readonly string[]): string => `{${registers.join(", ")}}`;

/** Every column gets something: halves near 1, or what registers hold. */
function fillColumns(text: FunctionText, allocation: Allocation): void {
  const words = Array.from({ length: 32 }, () => text.temporary(32));
  const nearOne = text.random.chance(0.7);
  byWarps(text, allocation, "st", () => {
    words.forEach((word, i) => {
      text.add(`mad.lo.u32 ${word}, ${text.register(32)}, 0x01000193, ${i};`);
      if (nearOne) text.add(`and.b32 ${word}, ${word}, 0x83ff83ff;`, `or.b32 ${word}, ${word}, 0x3c003c00;`);
    });
    for (let column = 0; column < columns; column += 32) {
      text.add(`tcgen05.st.sync.aligned.32x32b.x32.b32 [${allocation.own}+${column}], ${list(words)};`);
    }
  });
}

/** An access of each warp to its lanes, in any shape; of those with 16 lanes the first or the second 16. */
function move(text: FunctionText, allocation: Allocation, kind: "ld" | "st"): void {
  const { random } = text;
  const shape = random.pick(Object.keys(shapes) as (keyof typeof shapes)[]);
  const { registers, columns: wide, most } = shapes[shape];
  const num = 2 ** random.between(0, Math.log2(most));
  const packed = shape === "32x32b" && random.chance(0.2);
  const column = random.below(columns - wide * num * (packed ? 2 : 1) + 1);
  const at = shape !== "32x32b" && random.chance(0.5) ? `${column + 16 * 65_536}` : `${column}`;
  const words = Array.from({ length: registers * num }, () => text.temporary(32));
  const address = `[${allocation.own}+${at}]`;
  for (const word of words) text.add(`mov.b32 ${word}, ${text.register(32)};`);
  byWarps(text, allocation, kind, () => {
    if (kind === "ld")
      text.add(`tcgen05.ld.sync.aligned.${shape}.x${num}${packed ? ".pack::16b" : ""}.b32 ${list(words)}, ${address};`);
    else
      text.add(
        `tcgen05.st.sync.aligned.${shape}.x${num}${packed ? ".unpack::16b" : ""}.b32 ${address}, ${list(words)};`,
      );
  });
  if (kind === "ld") foldInto(text, words);
}

/** Products: numbers of formats in an instruction descriptor (table 52), by kind. */
const kinds = {
  f16: { d: [0, 1], of: [0, 1], k: 16 },
  tf32: { d: [1], of: [2], k: 8 },
  f8f6f4: { d: [0, 1], of: [0, 1, 3, 4, 5], k: 32 },
  i8: { d: [2], of: [0, 1], k: 32 },
} as const;

/** `stationary`: of a product with stationary weights, which has other shapes (table 39). */
function instructionDescriptor(random: Random, kind: keyof typeof kinds, stationary: boolean): number {
  const { d, of } = kinds[kind];
  const rows = random.pick(stationary ? [32, 64, 128] : [64, 128]);
  const floats = rows === 128 ? [16, 32, 64, 80, 128] : [8, 16, 24, 64, 104, 128];
  const n = random.pick(
    stationary ? [64, 128] : kind === "i8" ? [16, 32, 48, 64, 128].filter((n) => n % 16 === 0) : floats,
  );
  const format = random.pick(of);
  // With halves as sums, factors are halves too.
  const sum = kind === "f16" && format === 1 ? 1 : random.pick(d);
  const other = kind === "f8f6f4" || kind === "i8" ? random.pick(of) : format;
  const flag = (at: number, chance: number): number => (random.chance(chance) ? 2 ** at : 0);
  const negated = kind === "i8" ? flag(3, 0.3) : flag(13, 0.3) + flag(14, 0.2);
  // Only elements of 8 and 16 bits can be transposed.
  const transposed = kind === "f16" || kind === "i8" ? flag(15, 0.3) + flag(16, 0.3) : 0;
  return (
    sum * 2 ** 4 + format * 2 ** 7 + other * 2 ** 10 + negated + transposed + (n / 8) * 2 ** 17 + (rows / 16) * 2 ** 24
  );
}

const swizzles = [0n, 1n << 62n, 1n << 63n, 3n << 62n] as const;
const fixedBits = 1n << 46n;

/** One thread multiplies, copies or shifts, and an mbarrier says when that is done. */
function asynchronous(scope: Scope, allocation: Allocation): void {
  const { text, module } = scope;
  const { random } = text;
  fillMatrices(scope);
  const mbarriers = declareMbarriers(module, 1);
  initialize(text, mbarriers, [1]);
  text.add("tcgen05.fence::after_thread_sync;");
  byFirstThread(text, () => {
    for (let i = random.between(1, 3); i > 0; i--) {
      if (random.chance(0.25)) copy(scope, allocation);
      else multiply(scope, allocation);
    }
    text.add(`tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [${mbarriers.name}];`);
  });
  const parity = text.temporary(32);
  text.add(`mov.b32 ${parity}, 0;`);
  awaitPhase(text, mbarriers.name, parity);
  invalidate(text, mbarriers);
}

function multiply(scope: Scope, { address }: Allocation): void {
  const { text } = scope;
  const { random } = text;
  const kind = random.pick(Object.keys(kinds) as (keyof typeof kinds)[]);
  const idesc = text.temporary(32);
  const p = text.temporary(1);
  const b = descriptor(scope, swizzles, fixedBits);
  const a = random.chance(0.3) ? `[${address}+${firstOfA}]` : descriptor(scope, swizzles, fixedBits);
  const stationary = random.chance(0.3);
  const bits = instructionDescriptor(random, kind, stationary);
  // A in tensor memory is never transposed.
  text.add(`mov.b32 ${idesc}, ${a.startsWith("[") ? bits & ~(1 << 15) : bits};`);
  text.add(`setp.ne.u32 ${p}, %lt, ${random.pick([0, 1, 1])};`);
  if (stationary) {
    const zeros = random.chance(0.5) ? `, ${zeroColumns(text)}` : "";
    text.add(`tcgen05.mma.ws.cta_group::1.kind::${kind} [${address}], ${a}, ${b}, ${idesc}, ${p}${zeros};`);
    return;
  }
  const mask = random.chance(0.2) ? `, ${lanesLeftOut(text)}` : "";
  const scale = kind !== "f8f6f4" && kind !== "i8" && random.chance(0.2) ? `, ${random.between(0, 15)}` : "";
  text.add(`tcgen05.mma.cta_group::1.kind::${kind} [${address}], ${a}, ${b}, ${idesc}${mask}, ${p}${scale};`);
}

/** A descriptor of columns of B that count as zero, in a register (section 9.7.16.4.3). */
function zeroColumns(text: FunctionText): string {
  const { random } = text;
  const to = text.temporary(64);
  const enabled = random.chance(0.7) ? 1n << 39n : 0n;
  const spans = (BigInt(random.below(16)) << 40n) | (BigInt(random.below(16)) << 48n);
  const shift = BigInt(random.below(random.chance(0.5) ? 1 : 64)) << 56n;
  const first = BigInt(random.below(16)) << 32n;
  const word = enabled | spans | shift | first | BigInt(random.word() >>> 0);
  text.add(`mov.b64 ${to}, 0x${word.toString(16)};`);
  return to;
}

/** A bit for each lane that a product leaves as it is. */
function lanesLeftOut(text: FunctionText): string {
  const words = Array.from({ length: 4 }, () => text.temporary(32));
  for (const word of words) text.add(`mov.b32 ${word}, ${text.random.pick([0, -1, text.random.word()])};`);
  return list(words);
}

const copies = [
  "128x256b",
  "4x256b",
  "128x128b",
  "64x128b.warpx2::02_13",
  "64x128b.warpx2::01_23",
  "32x128b.warpx4",
] as const;

function copy(scope: Scope, { address }: Allocation): void {
  const { text } = scope;
  const { random } = text;
  const packed = random.chance(0.3) ? `.b8x16.${random.pick(["b6x16_p32", "b4x16_p64"])}` : "";
  const from = descriptor(scope, swizzles, fixedBits);
  const column = 8 * random.below((columns - mostSums) / 8);
  text.add(`tcgen05.cp.cta_group::1.${random.pick(copies)}${packed} [${address}+${mostSums + column}], ${from};`);
}

/** A block allocates tensor memory, fills it, computes in it, reads some of it, and gives it back. */
export function tensorMemory(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const allocation = allocate(scope);
  fillColumns(text, allocation);
  for (let i = random.between(1, 4); i > 0; i--) {
    const what = random.weighted({ asynchronous: 4, ld: 3, st: 2 });
    if (what === "asynchronous") asynchronous(scope, allocation);
    else move(text, allocation, what);
  }
  move(text, allocation, "ld");
  meetAll(text);
  byFirstWarp(text, () => {
    text.add(`tcgen05.dealloc.cta_group::1.sync.aligned.b32 ${allocation.address}, ${columns};`);
  });
  meetAll(text);
}
