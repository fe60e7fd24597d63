import { meetCluster } from "./clusters.ts";
import type { FunctionText } from "./function-text.ts";
import { meetAll } from "./mbarriers.ts";
import type { Scope } from "./scope.ts";
import { asynchronous, columns, fillOperands, type Group, operandColumns } from "./tensor-products.ts";
import { foldInto } from "./warpgroups.ts";

/** Registers and columns of a shape that is repeated `num` times. */
const shapes = {
  "32x32b": { registers: 1, columns: 1, most: 32 },
  "16x64b": { registers: 1, columns: 2, most: 32 },
  "16x128b": { registers: 2, columns: 4, most: 16 },
  "16x256b": { registers: 4, columns: 8, most: 8 },
} as const;

/** Memory that a block has allocated: registers. */
interface Allocation {
  readonly group: Group;
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

function allocate({ text, module }: Scope, group: Group): Allocation {
  const slot = module.fresh("tm");
  module.variable(slot, () => `.shared .align 4 .b32 ${slot};`);
  const [address, own, at, isOther] = [text.temporary(32), text.temporary(32), text.temporary(32), text.temporary(1)];
  text.add(`mov.u32 ${at}, ${slot};`);
  meetAll(text);
  byFirstWarp(text, () => {
    text.add(`tcgen05.alloc.cta_group::${group}.sync.aligned.shared::cta.b32 [${at}], ${columns + operandColumns};`);
  });
  meetAll(text);
  text.add(`ld.shared.b32 ${address}, [${at}];`, `and.b32 ${own}, %lt, 0x60;`, `shl.b32 ${own}, ${own}, 16;`);
  text.add(`add.u32 ${own}, ${own}, ${address};`, `setp.ge.u32 ${isOther}, %lt, 128;`);
  return { group, address, own, isOther };
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
    fillOperands(text, allocation.own);
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

/** A block allocates tensor memory, fills it, computes in it, reads some of it, and gives it back. */
export const tensorMemory = (scope: Scope): void => compute(scope, 1);

/** The same with both blocks of a pair, which multiply together. */
export const tensorPairs = (scope: Scope): void => compute(scope, 2);

function compute(scope: Scope, group: Group): void {
  const { text } = scope;
  const { random } = text;
  const allocation = allocate(scope, group);
  fillColumns(text, allocation);
  for (let i = random.between(1, 4); i > 0; i--) {
    const what = random.weighted({ asynchronous: 4, ld: 3, st: 2 });
    if (what === "asynchronous") asynchronous(scope, allocation);
    else move(text, allocation, what);
  }
  move(text, allocation, "ld");
  if (group === 2) meetCluster(text);
  meetAll(text);
  byFirstWarp(text, () => {
    const all = columns + operandColumns;
    text.add(`tcgen05.dealloc.cta_group::${group}.sync.aligned.b32 ${allocation.address}, ${all};`);
  });
  meetAll(text);
}
