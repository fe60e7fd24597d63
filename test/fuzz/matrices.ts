import { metadataLanes } from "../../src/ir/index.ts";
import { instructionSet } from "../../src/ptx/isa/index.ts";
import { instructionOf } from "./instruction.ts";
import type { ModuleText } from "./module-text.ts";
import type { Random } from "./random.ts";
import type { Scope } from "./scope.ts";
import { randomWord } from "./values.ts";

const formsOf = (...names: readonly string[]) =>
  instructionSet.instructions
    .filter(({ name }) => names.includes(name))
    .flatMap(({ forms }) => forms.filter(({ effect }) => effect !== null));

/** As often as programs have them; each in all its shapes, types and modifiers. */
const families = {
  mma: formsOf("mma"),
  sparse: formsOf("mma.sp"),
  wmma: formsOf("wmma.mma"),
  transpose: formsOf("movmatrix"),
  loadRows: formsOf("ldmatrix"),
  storeRows: formsOf("stmatrix"),
  loadTile: formsOf("wmma.load"),
  storeTile: formsOf("wmma.store"),
} as const;
const weights = {
  mma: 8,
  sparse: 3,
  wmma: 3,
  transpose: 1,
  loadRows: 3,
  storeRows: 2,
  loadTile: 3,
  storeTile: 2,
} as const satisfies Record<keyof typeof families, number>;

/** Bytes that each warp has for matrices, in shared and in global memory. */
export const warpMatrixBytes = 4096;
/** Elements from a line of a matrix in memory to the next: those of less than a byte have longer lines. */
const [stride, longStride] = [32, 128];

/** The four bits of a chunk of sparse metadata that the manual allows. */
const twoOfFour = [0x4, 0x8, 0xc, 0x9, 0xd, 0xe];
const oneOfTwo = [0x4, 0xe];

/** A word of valid metadata in all lanes; it may differ from lane to lane. */
function metadata({ text }: Scope, opcode: string): string {
  const { random } = text;
  const valid = /\.tf32/.test(opcode) ? oneOfTwo : twoOfFour;
  const word = (): string => `0x${Array.from({ length: 8 }, () => random.pick(valid).toString(16)).join("")}`;
  const e = text.temporary(32);
  text.add(`selp.b32 ${e}, ${word()}, ${word()}, ${text.register(1)};`);
  return e;
}

/** The values that the sparsity selector of an `mma.sp` may have: lanes of each quad that can hold the metadata. */
function selectors(opcode: string): number {
  const k = Number(/k(\d+)/.exec(opcode)![1]);
  const type = /\.([a-z]+\d\w*)\.\w+\.[sf]\d+(?:\.|$)/.exec(opcode)![1]!;
  const bits = type === "tf32" ? 32 : /f16/.test(type) ? 16 : /mxf4/.test(opcode) || /[su]4/.test(type) ? 4 : 8;
  return 4 / metadataLanes({ k, bits, sparsity: { chunk: bits === 32 ? 2 : bits === 4 ? 8 : 4, selector: 0 } });
}

/** What an operand must be that cannot be any value: metadata, selectors, strides. */
const specialOperand =
  (scope: Scope) =>
  (name: string, opcode: string): string | null => {
    const { random } = scope.text;
    switch (name) {
      case "e":
        return metadata(scope, opcode);
      case "f":
        return `${random.below(selectors(opcode))}`;
      case "selectA":
      case "selectB":
        return `{${scaleByte(random, opcode)}, ${random.below(name === "selectA" ? 2 : 4)}}`;
      case "stride":
        return `${/\.(s4|u4|b1)$/.test(opcode) ? longStride : stride}`;
      default:
        return null;
    }
  };

/** The first byte with scales of a word: there are one, two or four of them. */
const scaleByte = (random: Random, opcode: string): number =>
  /4X/.test(opcode) ? 0 : /mxf4/.test(opcode) ? 2 * random.below(2) : random.below(4);

/** The start of what the warp has for matrices, in a register, by the state space of the instruction. */
function area({ text, module }: Scope, space: string | undefined): string {
  const base = text.temporary(64);
  const warp = text.temporary(32);
  text.add(`shr.u32 ${warp}, %lt, 5;`);
  if (space === "global") {
    text.add(`mad.lo.u32 ${warp}, %cta, ${module.warps}, ${warp};`);
    text.add(`mad.wide.u32 ${base}, ${warp}, ${warpMatrixBytes}, %stream;`);
    return base;
  }
  text.add(`mov.u64 ${base}, ${sharedArea(module)};`, `mad.wide.u32 ${base}, ${warp}, ${warpMatrixBytes}, ${base};`);
  if (space === undefined) text.add(`cvta.shared.u64 ${base}, ${base};`);
  return base;
}

export const sharedArea = (module: ModuleText): string => module.shared("mx", module.warps * warpMatrixBytes);

/** Addresses of rows of 16 bytes, one for each lane; for stores no two are the same. */
function rowAddress(scope: Scope, space: string | undefined, isStore: boolean): string {
  const { text } = scope;
  const { random } = text;
  const base = area(scope, space);
  const row = text.temporary(32);
  const address = text.temporary(64);
  const rows = warpMatrixBytes / 16;
  if (isStore || random.chance(0.5)) text.add(`xor.b32 ${row}, %lane, ${random.below(rows)};`);
  else text.add(`and.b32 ${row}, ${text.register(32)}, ${rows - 1};`);
  text.add(`mad.wide.u32 ${address}, ${row}, 16, ${base};`);
  return `[${address}]`;
}

/**
 * An operation of all lanes of a warp on matrices. What such a warp has in memory is its own, so that its lanes need
 * only meet each other.
 */
export function matrixOperation(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const end = text.label();
  // Some warps go past it.
  const p = text.temporary(1);
  const some = module.warps > 1 && random.chance(0.2);
  if (some) text.add(`setp.ge.u32 ${p}, %lt, ${32 * random.between(1, module.warps - 1)};`, `@${p} bra ${end};`);
  const family = random.weighted(weights);
  const touches = !["mma", "sparse", "wmma", "transpose"].includes(family);
  if (touches && random.chance(0.4)) scatter(scope);
  const stores = family === "storeRows" || family === "storeTile";
  if (touches) text.add("bar.warp.sync -1;");
  text.add(randomForm(scope, family, stores));
  if (touches) text.add("bar.warp.sync -1;");
  text.place(end);
}

function randomForm(scope: Scope, family: keyof typeof families, stores: boolean): string {
  const { text } = scope;
  const { random } = text;
  for (;;) {
    const form = random.pick(families[family]);
    const address = (written: string | undefined): string => {
      const space = written === "shared::cta" ? "shared" : written;
      return family === "loadRows" || family === "storeRows"
        ? rowAddress(scope, space, stores)
        : `[${area(scope, space)}]`;
    };
    const reach = { uniform: false, guarded: false, address, special: specialOperand(scope) };
    const line = instructionOf(text, form, reach);
    if (line !== null) return line;
  }
}

/** Each lane writes some of what its warp has for matrices. */
function scatter(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const space = random.pick(["shared", "global"] as const);
  const at = text.temporary(64);
  text.add("bar.warp.sync -1;", `mad.wide.u32 ${at}, %lane, 8, ${area(scope, space)};`);
  for (let i = random.between(1, 8); i > 0; i--) {
    text.add(`st.${space}.b64 [${at}+${256 * random.below(warpMatrixBytes / 256)}], ${text.register(64)};`);
  }
}

/** Each lane gets values from which matrices are made: floats of a format, near each other, or any patterns. */
export function matrixValues({ text }: Scope): void {
  const { random } = text;
  for (let i = random.between(1, 4); i > 0; i--) {
    const to = text.register(32);
    const word = randomWord(random);
    if (random.chance(0.5)) text.add(`mov.b32 ${to}, ${word};`);
    else text.add(`selp.b32 ${to}, ${word}, ${randomWord(random)}, ${text.register(1)};`);
  }
}
