import type { FileTarget, Instruction } from "../instruction.ts";
import type { LaneRule } from "../lanes.ts";
import { byteOf, bytesOf, strideOf } from "../region.ts";
import { type FileLeaf, fileLeavesOf } from "./accesses.ts";
import type { ComputedVariables } from "./computed-variables.ts";

type Bits = FileTarget["bits"];

/** An access of an instruction to elements of the byte file, one for each of its lanes. */
export interface FileAccess {
  /** The instruction. */
  readonly index: number;
  readonly rule: LaneRule;
  readonly writes: boolean;
  readonly bits: Bits;
  /** Elements: one for each lane of the rule; if `any`, all that it may be. */
  readonly count: number;
  /** The byte at which the first one begins. */
  readonly start: number;
  /** Bytes from each to the next; null where that varies. */
  readonly step: number | null;
  /** The bytes at which they begin; null where they follow from the first and the step. */
  readonly bytes: readonly number[] | null;
  /** Whether each lane computes which element of a variable it reads. */
  readonly any?: true;
}

/** Bytes of the file that accesses have in common, directly or through others. */
export interface FileComponent {
  readonly start: number;
  readonly end: number;
  readonly accesses: readonly FileAccess[];
}

/** The lanes of an instruction in a thread of `width` lanes: no more than it has, where only active ones count. */
export function ruleOf({ lanes }: Instruction, width: number): LaneRule {
  if (lanes === undefined) return { first: 0, count: width, noMask: false, uniform: false };
  return lanes.noMask ? lanes : { ...lanes, count: Math.min(lanes.count, width - lanes.first) };
}

/** Whether all lanes access the same element. */
export const isSingle = ({ count, step, bytes }: FileAccess): boolean =>
  bytes === null ? step === 0 || count < 2 : bytes.every((byte) => byte === bytes[0]);

/** The byte at which the n-th element begins. */
export const elementAt = ({ start, step, bytes }: FileAccess, n: number): number =>
  bytes === null ? start + n * step! : bytes[n]!;

/** Whether some of its elements begins at a byte that passes a test. */
export function someElement(access: FileAccess, test: (byte: number) => boolean): boolean {
  for (let i = 0; i < access.count; i++) if (test(elementAt(access, i))) return true;
  return false;
}

/** The accesses to the file; null if the place of one is computed, and it is not known from which variable. */
export function fileAccessesOf(
  instructions: readonly Instruction[],
  width: number,
  variables: ComputedVariables,
): readonly FileAccess[] | null {
  const found: FileAccess[] = [];
  for (let index = 0; index < instructions.length; index++) {
    const instruction = instructions[index]!;
    const rule = ruleOf(instruction, width);
    const add = ({ region, bits }: Extract<FileLeaf | FileTarget, { kind: "region" }>, writes: boolean): void => {
      const stride = strideOf(region, rule);
      const step = stride === null ? null : (stride * bits) / 8;
      const start = byteOf(region, bits, rule.first);
      const bytes = step === null ? bytesOf(region, bits, rule) : null;
      found.push({ index, rule, writes, bits, count: rule.count, start, step, bytes });
    };
    for (const leaf of fileLeavesOf(instruction)) {
      if (leaf.kind === "region") {
        add(leaf, false);
        continue;
      }
      const variable = variables.of(leaf);
      if (variable === null) return null;
      const { bits } = leaf;
      const count = Math.floor((8 * variable.bytes) / bits);
      const elements = { count, start: variable.at, step: bits / 8, bytes: null };
      found.push({ index, rule, writes: false, bits, ...elements, any: true });
    }
    for (const to of instruction.dst) {
      if (to === null || typeof to === "number") continue;
      if (to.kind === "indirect") return null;
      add(to, true);
    }
  }
  return found;
}

/** The components of accesses, in ascending order. */
export function componentsOf(accesses: readonly FileAccess[]): readonly FileComponent[] {
  const spans = accesses.map((access) => {
    const { count, bits, step } = access;
    let start = Number.POSITIVE_INFINITY;
    let last = Number.NEGATIVE_INFINITY;
    // Where elements are evenly spaced, the first and the last have all others between them.
    const by = step === null ? 1 : Math.max(1, count - 1);
    for (let i = 0; i < count; i += by) {
      const byte = elementAt(access, i);
      if (byte < start) start = byte;
      if (byte > last) last = byte;
    }
    return { start, end: last + bits / 8, access };
  });
  const found: { start: number; end: number; accesses: FileAccess[] }[] = [];
  let last: (typeof found)[number] | null = null;
  for (const { start, end, access } of spans.sort((a, b) => a.start - b.start)) {
    if (last === null || start >= last.end) found.push((last = { start, end, accesses: [access] }));
    else {
      last.end = Math.max(last.end, end);
      last.accesses.push(access);
    }
  }
  return found;
}
