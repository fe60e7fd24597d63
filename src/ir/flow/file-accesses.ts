import type { FileTarget, Instruction } from "../instruction.ts";
import type { LaneRule } from "../lanes.ts";
import { bytesOf, strideOf } from "../region.ts";
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
  /** By lane, counted from the rule's first, the byte at which the element begins; if `any`, all that it may be. */
  readonly bytes: readonly number[];
  /** Bytes from each of them to the next; null where that varies. */
  readonly step: number | null;
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
export function isSingle({ bytes, step }: FileAccess): boolean {
  if (step !== null) return step === 0 || bytes.length < 2;
  for (let i = 1; i < bytes.length; i++) if (bytes[i] !== bytes[0]) return false;
  return true;
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
      found.push({ index, rule, writes, bits, bytes: bytesOf(region, bits, rule), step });
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
      const bytes = Array.from({ length: count }, (_, i) => variable.at + (i * bits) / 8);
      found.push({ index, rule, writes: false, bits, bytes, step: bits / 8, any: true });
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
    const { bytes, bits, step } = access;
    let start = Number.POSITIVE_INFINITY;
    let last = Number.NEGATIVE_INFINITY;
    // Where elements are evenly spaced, the first and the last have all others between them.
    const by = step === null ? 1 : Math.max(1, bytes.length - 1);
    for (let i = 0; i < bytes.length; i += by) {
      const byte = bytes[i]!;
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
