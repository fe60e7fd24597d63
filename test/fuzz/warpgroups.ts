import type { FunctionText } from "./function-text.ts";
import type { ModuleText } from "./module-text.ts";
import { meetAll } from "./mbarriers.ts";
import type { Random } from "./random.ts";
import type { Scope } from "./scope.ts";

/** Shared memory for matrices: what any descriptor here can name lies in it. */
const matrixBytes = 49_152;
const sharedMatrices = (module: ModuleText): string =>
  module.variable("wg", () => `.shared .align 1024 .b8 wg[${matrixBytes}];`);

/** How elements look: as halves near 1 of either sign, as small numbers of formats of 8 bits, or as any patterns. */
const patterns = [
  { and: 0x83ff_83ff, or: 0x3c00_3c00 },
  { and: 0x83ff_83ff, or: 0x3c00_3c00 },
  { and: 0xbfff_bfff, or: 0 },
  { and: 0x8787_8787, or: 0x3838_3838 },
  { and: 0x0303_0303, or: 0 },
  { and: 0xffff_ffff, or: 0 },
] as const;

/** All threads fill the matrices in shared memory with what depends on a register. */
export function fillMatrices({ text, module }: Scope): void {
  const { and, or } = text.random.pick(patterns);
  const [index, at, word] = [text.temporary(32), text.temporary(64), text.temporary(32)];
  const [p, top] = [text.temporary(1), text.label()];
  const base = sharedMatrices(module);
  meetAll(text);
  text.add(`mov.u32 ${index}, %lt;`);
  text.place(top);
  text.add(`mov.u64 ${at}, ${base};`, `mad.wide.u32 ${at}, ${index}, 4, ${at};`);
  text.add(`mad.lo.u32 ${word}, ${index}, 0x9e3779b1, ${text.register(32)};`);
  text.add(`shf.l.wrap.b32 ${word}, ${word}, ${word}, ${index};`, `and.b32 ${word}, ${word}, ${and};`);
  text.add(`or.b32 ${word}, ${word}, ${or};`, `st.shared.b32 [${at}], ${word};`);
  text.add(`add.u32 ${index}, ${index}, ${module.threads};`, `setp.lt.u32 ${p}, ${index}, ${matrixBytes / 4};`);
  text.add(`@${p} bra ${top};`, "fence.proxy.async;");
  meetAll(text);
}

/** Strides of descriptors: usual ones, and others. The farthest line is 31 strides of eight lines away. */
const strides = [128, 256, 512, 1024] as const;
const leadings = [16, 128, 256, 512, 1024, 2048] as const;

/** A descriptor of a matrix in shared memory, in a register. `swizzleBits`: what names a swizzle; `fixed`: more bits. */
export function descriptor(scope: Scope, swizzleBits: readonly bigint[], fixed: bigint): string {
  const { text, module } = scope;
  const { random } = text;
  const [to, start] = [text.temporary(64), text.temporary(32)];
  const leading = BigInt(random.pick(leadings) >> 4);
  const stride = BigInt(random.pick(strides) >> 4);
  const rest = (leading << 16n) | (stride << 32n) | random.pick(swizzleBits) | fixed;
  text.add(`mov.u32 ${start}, ${sharedMatrices(module)};`);
  text.add(`add.u32 ${start}, ${start}, ${random.pick([0, 1024, 2048, 32, 64, 16 * random.below(128)])};`);
  text.add(`bfe.u32 ${start}, ${start}, 4, 14;`, `cvt.u64.u32 ${to}, ${start};`);
  text.add(`or.b64 ${to}, ${to}, 0x${rest.toString(16)};`);
  return to;
}

const swizzles = [0n, 1n << 62n, 2n << 62n, 3n << 62n] as const;

/** Products of one k: the types after the shape, and the immediates. */
interface Kind {
  readonly k: number;
  readonly types: readonly string[];
  readonly immediates: "scale and transpose" | "scale" | "none";
}

const eights = ["e4m3", "e5m2"].flatMap((a) => ["e4m3", "e5m2"].map((b) => `${a}.${b}`));
const kinds: readonly Kind[] = [
  { k: 16, types: ["f32.f16.f16", "f16.f16.f16", "f32.bf16.bf16"], immediates: "scale and transpose" },
  { k: 8, types: ["f32.tf32.tf32"], immediates: "scale" },
  { k: 32, types: ["f32", "f16"].flatMap((d) => eights.map((of) => `${d}.${of}`)), immediates: "scale" },
  {
    k: 32,
    types: ["s8", "u8"].flatMap((a) => ["s8", "u8"].flatMap((b) => [`s32.${a}.${b}`, `s32.${a}.${b}.satfinite`])),
    immediates: "none",
  },
  { k: 256, types: ["s32.b1.b1.and.popc"], immediates: "none" },
];

const columns = {
  floats: [8, 16, 24, 64, 72, 128, 200, 256],
  integers: [8, 16, 24, 32, 48, 64, 128, 208, 256],
} as const;

const list = (registers: readonly string[]): string => `{${registers.join(", ")}}`;

/** The immediates after scale-d. `fromRegisters`: A is not transposed. */
function immediates(random: Random, kind: Kind, fromRegisters: boolean): readonly string[] {
  if (kind.immediates === "none") return [];
  const scale = (): string => random.pick(["1", "1", "-1"]);
  const transpose = (): string => random.pick(["0", "1"]);
  if (kind.immediates === "scale") return [scale(), scale()];
  return [scale(), scale(), ...(fromRegisters ? [] : [transpose()]), transpose()];
}

/** A sparse A has a word of metadata of which only two of four, or one of two, are valid. */
function sparseOperands(text: FunctionText, kind: Kind): readonly string[] {
  const valid = kind.k === 8 ? ["4", "e"] : ["4", "8", "c", "9", "d", "e"];
  const word = (): string => Array.from({ length: 8 }, () => text.random.pick(valid)).join("");
  const to = text.temporary(32);
  text.add(`selp.b32 ${to}, 0x${word()}, 0x${word()}, ${text.register(1)};`);
  return [to, kind.k === 16 || kind.k === 8 ? text.random.pick(["0", "1"]) : "0"];
}

/** Products of each warpgroup of the block, one after the other into the same sums or into others, and a wait. */
export function warpgroupProducts(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  fillMatrices(scope);
  const kind = random.pick(kinds);
  const isSparse = kind.k !== 256 && random.chance(0.25);
  const type = random.pick(kind.types);
  const n = random.pick(type.startsWith("s32") ? columns.integers : columns.floats);
  const count = type.startsWith("f16.") ? n / 4 : n / 2;
  const sums = Array.from({ length: count }, () => text.temporary(32));
  sums.forEach((sum, i) => {
    text.add(`xor.b32 ${sum}, ${text.register(32)}, ${random.chance(0.5) ? i : 0};`);
  });
  const fromRegisters = random.chance(0.3);
  const parts = Array.from({ length: 4 }, () => text.temporary(32));
  for (const part of parts) {
    text.add(`and.b32 ${part}, ${text.register(32)}, 0x87ff87ff;`, `or.b32 ${part}, ${part}, 0x38003800;`);
  }
  const opcode = `wgmma.mma_async${isSparse ? ".sp" : ""}.sync.aligned.m64n${n}k${isSparse ? 2 * kind.k : kind.k}`;
  const [p, bit] = [text.temporary(1), text.temporary(32)];
  const further = isSparse ? sparseOperands(text, kind) : [];
  const lines = Array.from({ length: random.between(1, 3) }, () => {
    const a = fromRegisters ? list(parts) : descriptor(scope, swizzles, 0n);
    const b = descriptor(scope, swizzles, 0n);
    const rest = [p, ...immediates(random, kind, fromRegisters)];
    return `${opcode}.${type} ${[list(sums), a, b, ...further, ...rest].join(", ")};`;
  });
  text.add(`mov.b32 ${bit}, ${random.pick(["1", "1", "0"])};`, `setp.ne.u32 ${p}, ${bit}, 0;`);
  text.add("wgmma.fence.sync.aligned;", ...lines);
  text.add("wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;");
  foldInto(text, sums);
  meetAll(text);
}

/** What many registers hold, in two of the pool. */
export function foldInto(text: FunctionText, registers: readonly string[]): void {
  const into = [text.register(32), text.register(32)];
  registers.forEach((register, i) => {
    text.add(`mad.lo.u32 ${into[i % 2]}, ${into[i % 2]}, 31, ${register};`);
  });
}
