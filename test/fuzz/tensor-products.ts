import { meetCluster } from "./clusters.ts";
import type { FunctionText } from "./function-text.ts";
import { awaitPhase, byFirstThread, declareMbarriers, initialize, invalidate } from "./mbarriers.ts";
import type { Random } from "./random.ts";
import type { Scope } from "./scope.ts";
import { descriptor, fillMatrices } from "./warpgroups.ts";

/** Blocks that multiply together. */
export type Group = 1 | 2;

/** Columns that any instruction may use: sums lie in the first ones, a matrix A in the last ones. */
export const columns = 256;
const [mostSums, firstOfA] = [128, 192];

/** The columns after them have what means something: metadata for elements of 32 bits and for others, and scales. */
export const operandColumns = 256;
const [metadata, metadata32, scalesA, scalesB] = [columns, columns + 8, columns + 16, columns + 32];
const scaleColumns = 32;

/** The pairs of a chunk of sparse metadata that may be chosen (section 9.7.16.10.8), and those of elements of 32 bits. */
const twoOfFour = [0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe];
const oneOfTwo = [0x4, 0xe];

/** Each warp writes metadata and scales for its lanes. `own`: the address of its first lane. */
export function fillOperands(text: FunctionText, own: string): void {
  const { random } = text;
  const chosen = (of: readonly number[]): string =>
    `0x${Array.from({ length: 8 }, () => random.pick(of).toString(16)).join("")}`;
  const store = (at: number, words: readonly string[]): void => {
    const of = words.map((word) => ({ word, other: text.temporary(32) }));
    for (const { word, other } of of) text.add(`mov.b32 ${other}, ${word};`);
    const registers = of.map(({ other }) => other).join(", ");
    text.add(`tcgen05.st.sync.aligned.32x32b.x${words.length}.b32 [${own}+${at}], {${registers}};`);
  };
  const either = (of: readonly number[]): string => {
    const word = text.temporary(32);
    text.add(`selp.b32 ${word}, ${chosen(of)}, ${chosen(of)}, ${text.register(1)};`);
    return word;
  };
  for (const [at, of] of [
    [metadata, twoOfFour],
    [metadata32, oneOfTwo],
  ] as const) {
    store(
      at,
      Array.from({ length: 4 }, () => either(of)),
    );
  }
  // Scales near 1 in both formats, or anything.
  const { and, or } = random.pick([
    { and: 0x0303_0303, or: 0x7c7c_7c7c },
    { and: 0x0f0f_0f0f, or: 0x3030_3030 },
    { and: -1, or: 0 },
  ]);
  for (const at of [scalesA, scalesB]) {
    const words = Array.from({ length: at === scalesA ? scaleColumns / 2 : scaleColumns }, (_, i) => {
      const word = text.temporary(32);
      text.add(`mad.lo.u32 ${word}, ${text.register(32)}, 0x9e3779b1, ${i};`);
      text.add(`and.b32 ${word}, ${word}, ${and};`, `or.b32 ${word}, ${word}, ${or};`);
      return word;
    });
    store(at, words);
  }
}

/** Numbers of formats in an instruction descriptor (tables 42 to 44), by kind. */
const kinds = {
  f16: { d: [0, 1], of: [0, 1] },
  tf32: { d: [1], of: [2] },
  f8f6f4: { d: [0, 1], of: [0, 1, 3, 4, 5] },
  i8: { d: [2], of: [0, 1] },
} as const;

/** Kinds with scales: formats, and by modifier how many scales a row has, with k a power of two. */
const scaledKinds = {
  mxf8f6f4: { of: [0, 1, 3, 4, 5], sizes: { "": 1, ".scale_vec::1X": 1, ".block32": 1 } },
  mxf4: { of: [1], sizes: { "": 2, ".scale_vec::2X": 2, ".block32": 2 } },
  mxf4nvf4: { of: [1], sizes: { ".scale_vec::2X": 2, ".scale_vec::4X": 4, ".block16": 4, ".block32": 2 } },
} as const;

/** What the shape of a product depends on. `stationary`: it has stationary weights. */
interface Variant {
  readonly group: Group;
  readonly stationary: boolean;
  readonly isSparse: boolean;
}

/** A product: what follows `.kind::`, and its instruction descriptor, without rows and columns. */
interface Described {
  readonly kind: string;
  readonly bits: number;
}

const flag = (random: Random, at: number, chance: number): number => (random.chance(chance) ? 2 ** at : 0);

/** Rows and columns (table 39): M from bit 24 on, in sixteenths, and N from bit 17 on, in eighths. */
function shapeOf(random: Random, kind: keyof typeof kinds, { group, stationary }: Variant): number {
  const rows = random.pick(stationary ? [32, 64, 128] : group === 2 ? [128, 256] : [64, 128]);
  const whole = kind === "i8" || rows >= 128;
  const usual = group === 2 ? [32, 64, 96, 128] : whole ? [16, 32, 48, 64, 128] : [8, 16, 24, 64, 104, 128];
  return (random.pick(stationary ? [64, 128] : usual) / 8) * 2 ** 17 + (rows / 16) * 2 ** 24;
}

/** The descriptor of a product without scales. */
function plain(random: Random, variant: Variant): Described {
  const kind = random.pick(Object.keys(kinds) as (keyof typeof kinds)[]);
  const { d, of } = kinds[kind];
  const format = random.pick(of);
  // With halves as sums, factors are halves too.
  const sum = kind === "f16" && format === 1 ? 1 : random.pick(d);
  const other = kind === "f8f6f4" || kind === "i8" ? random.pick(of) : format;
  const negated = kind === "i8" ? flag(random, 3, 0.3) : flag(random, 13, 0.3) + flag(random, 14, 0.2);
  // Only elements of 8 and 16 bits can be transposed.
  const transposed = kind === "f16" || kind === "i8" ? flag(random, 15, 0.3) + flag(random, 16, 0.3) : 0;
  const selector = kind === "f16" || kind === "tf32" ? random.below(4) : 0;
  const sparsity = variant.isSparse ? 4 + selector : 0;
  const formats = sum * 2 ** 4 + format * 2 ** 7 + other * 2 ** 10;
  return { kind, bits: formats + negated + transposed + sparsity + shapeOf(random, kind, variant) };
}

/** The descriptor of a product with scales: M from bit 27 on, in units of 128, and places of scales in their words. */
function scaled(random: Random, { group, isSparse }: Variant): Described {
  const kind = random.pick(Object.keys(scaledKinds) as (keyof typeof scaledKinds)[]);
  const { of, sizes } = scaledKinds[kind];
  const size = random.pick(Object.entries(sizes));
  const three = kind !== "mxf8f6f4" && !isSparse && random.chance(0.15);
  const rows = group === 1 ? 128 : isSparse || three ? 256 : random.pick([128, 256]);
  const columns = 16 * group * random.between(1, 8 / group);
  const places = size[1] === 1 || (three && size[1] === 2) ? [0, 1, 2, 3] : size[1] === 2 || three ? [0, 2] : [0];
  const exponents = kind !== "mxf4nvf4" || random.chance(0.5);
  const formats = random.pick(of) * 2 ** 7 + random.pick(of) * 2 ** 10;
  const negated = flag(random, 13, 0.3) + flag(random, 14, 0.2);
  const shape = (columns / 8) * 2 ** 17 + (rows / 128) * 2 ** 27 + (three ? 2 ** 31 : 0);
  const scales = random.pick(places) * 2 ** 29 + random.pick(places) * 2 ** 4 + (exponents ? 2 ** 23 : 0);
  return { kind: `${kind}.block_scale${size[0]}`, bits: formats + negated + shape + scales + (isSparse ? 4 : 0) };
}

const swizzles = [0n, 1n << 62n, 1n << 63n, 3n << 62n] as const;
const fixedBits = 1n << 46n;

/** Memory in which products are written: the address of its first column. */
interface Memory {
  readonly group: Group;
  readonly address: string;
}

/** One thread, of a pair one of both, multiplies, copies or shifts, and mbarriers say when that is done. */
export function asynchronous(scope: Scope, memory: Memory): void {
  const { text, module } = scope;
  const { random } = text;
  const { group } = memory;
  fillMatrices(scope);
  const mbarriers = declareMbarriers(module, 1);
  initialize(text, mbarriers, [1]);
  if (group === 2) meetCluster(text);
  text.add("tcgen05.fence::after_thread_sync;");
  byFirstThread(text, () => {
    const [rank, p, end] = [text.temporary(32), text.temporary(1), text.label()];
    if (group === 2) {
      text.add(`mov.u32 ${rank}, %cluster_ctarank;`, `and.b32 ${rank}, ${rank}, 1;`);
      text.add(`setp.eq.u32 ${p}, ${rank}, ${random.below(2)};`, `@${p} bra ${end};`);
    }
    for (let i = random.between(1, 3); i > 0; i--) {
      const what = random.weighted({ multiply: 8, copy: 2, shift: 1 });
      if (what === "copy") copy(scope, memory);
      else if (what === "shift") shift(text, memory);
      else multiply(scope, memory);
    }
    commit(text, memory, mbarriers.name);
    text.place(end);
  });
  const parity = text.temporary(32);
  text.add(`mov.b32 ${parity}, 0;`);
  awaitPhase(text, mbarriers.name, parity);
  invalidate(text, mbarriers);
}

/** An mbarrier, of a pair those of both blocks, is told when everything so far is complete. */
function commit(text: FunctionText, { group }: Memory, mbarrier: string): void {
  const opcode = `tcgen05.commit.cta_group::${group}.mbarrier::arrive::one.shared::cluster`;
  if (group === 1) {
    text.add(`${opcode}.b64 [${mbarrier}];`);
    return;
  }
  const [mask, half] = [text.temporary(32), text.temporary(16)];
  text.add(`mov.u32 ${mask}, %cluster_ctarank;`, `and.b32 ${mask}, ${mask}, 14;`, `shl.b32 ${mask}, 3, ${mask};`);
  text.add(`cvt.u16.u32 ${half}, ${mask};`, `${opcode}.multicast::cluster.b64 [${mbarrier}], ${half};`);
}

function multiply(scope: Scope, { group, address }: Memory): void {
  const { text } = scope;
  const { random } = text;
  const hasScales = random.chance(0.35);
  const stationary = group === 1 && !hasScales && random.chance(0.3);
  const variant: Variant = { group, stationary, isSparse: random.chance(0.35) };
  const { kind, bits } = hasScales ? scaled(random, variant) : plain(random, variant);
  const [idesc, p] = [text.temporary(32), text.temporary(1)];
  const b = descriptor(scope, swizzles, fixedBits);
  const a = random.chance(0.3) ? `[${address}+${firstOfA}]` : descriptor(scope, swizzles, fixedBits);
  const fromTensorMemory = a.startsWith("[");
  // A in tensor memory is never transposed.
  text.add(`mov.b32 ${idesc}, ${(fromTensorMemory ? bits & ~(1 << 15) : bits) | 0};`);
  text.add(`setp.ne.u32 ${p}, %lt, ${random.pick([0, 1, 1])};`);
  const choices = variant.isSparse ? [`[${address}+${kind === "tf32" ? metadata32 : metadata}]`] : [];
  const others = hasScales
    ? [`[${address}+${scalesA}]`, `[${address}+${scalesB}]`, p]
    : furtherOperands(text, variant, kind, p);
  const name = `tcgen05.mma${stationary ? ".ws" : ""}${variant.isSparse ? ".sp" : ""}`;
  const operands = [`[${address}]`, a, b, ...choices, idesc, ...others];
  text.add(`${name}.cta_group::${group}.kind::${kind} ${operands.join(", ")};`);
}

/** What follows the instruction descriptor of a product without scales. `p`: whether sums are added to. */
function furtherOperands(text: FunctionText, { stationary, group }: Variant, kind: string, p: string): string[] {
  const { random } = text;
  if (stationary) return random.chance(0.5) ? [p, zeroColumns(text)] : [p];
  const mask = random.chance(0.2) ? [lanesLeftOut(text, group)] : [];
  const scale = kind !== "f8f6f4" && kind !== "i8" && random.chance(0.2) ? [`${random.between(0, 15)}`] : [];
  return [...mask, p, ...scale];
}

/** A descriptor of columns of B that count as zero, in a register (section 9.7.16.4.3). */
function zeroColumns(text: FunctionText): string {
  const { random } = text;
  const to = text.temporary(64);
  const enabled = random.chance(0.7) ? 1n << 39n : 0n;
  const spans = (BigInt(random.below(16)) << 40n) | (BigInt(random.below(16)) << 48n);
  const moved = BigInt(random.below(random.chance(0.5) ? 1 : 64)) << 56n;
  const first = BigInt(random.below(16)) << 32n;
  const word = enabled | spans | moved | first | BigInt(random.word() >>> 0);
  text.add(`mov.b64 ${to}, 0x${word.toString(16)};`);
  return to;
}

/** A bit for each lane that a product leaves as it is. */
function lanesLeftOut(text: FunctionText, group: Group): string {
  const words = Array.from({ length: 4 * group }, () => text.temporary(32));
  for (const word of words) text.add(`mov.b32 ${word}, ${text.random.pick([0, -1, text.random.word()])};`);
  return `{${words.join(", ")}}`;
}

const copies = [
  "128x256b",
  "4x256b",
  "128x128b",
  "64x128b.warpx2::02_13",
  "64x128b.warpx2::01_23",
  "32x128b.warpx4",
] as const;

function copy(scope: Scope, { group, address }: Memory): void {
  const { text } = scope;
  const { random } = text;
  const packed = random.chance(0.3) ? `.b8x16.${random.pick(["b6x16_p32", "b4x16_p64"])}` : "";
  const from = descriptor(scope, swizzles, fixedBits);
  const column = 8 * random.below((columns - mostSums) / 8);
  text.add(
    `tcgen05.cp.cta_group::${group}.${random.pick(copies)}${packed} [${address}+${mostSums + column}], ${from};`,
  );
}

/** The rows of 32 lanes go down by one. */
function shift(text: FunctionText, { group, address }: Memory): void {
  const { random } = text;
  const at = 8 * random.below(columns / 8) + 32 * 65_536 * random.below(4);
  text.add(`tcgen05.shift.cta_group::${group}.down [${address}+${at}];`);
}
