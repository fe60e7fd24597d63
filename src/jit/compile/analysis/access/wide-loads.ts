import type { Instruction } from "../../../../ir/index.ts";
import type { PreparedCode } from "../code/prepared-code.ts";
import type { AccessGroup, GroupMember } from "./access-groups.ts";

/** A wide load: consecutive words, of which several loads of a block read parts. It ends with the last part. */
export interface WideLoad {
  /** The load that is executed first. */
  readonly first: number;
  readonly words: 1 | 2 | 4;
  /** Whether any part is less than a word. */
  readonly hasNarrow: boolean;
}

/** The part of a wide load that one load reads: it lies in one of the words. */
export interface WideLoadPart {
  readonly wide: WideLoad;
  /** Its distance from the start of the wide load, in bytes. */
  readonly at: number;
}

interface Load {
  readonly index: number;
  /** Its distance from the start of its group, in bytes. */
  readonly at: number;
  readonly bytes: number;
}

/** By the number of words, the fewest parts: fewer are better loaded one by one. */
const minParts = { 1: 2, 2: 3, 4: 3 } as const;

/** The most bytes of a wide load. */
const maxBytes = 16;

/** The wide loads of a function, by load. The loads of one belong to one group, and nothing is stored between them. */
export function wideLoadsOf(
  { instructions, graph }: PreparedCode,
  members: ReadonlyMap<number, GroupMember>,
): ReadonlyMap<number, WideLoadPart> {
  const parts = new Map<number, WideLoadPart>();
  const open = new Map<AccessGroup, Load[]>();
  const close = (): void => {
    if (open.size === 0) return;
    for (const loads of open.values()) addWideLoads(loads, parts);
    open.clear();
  };
  for (const { start, end } of graph.blocks) {
    for (let index = start; index < end; index++) {
      const { op } = instructions[index]!;
      const member = members.get(index);
      if (op.kind === "load" && member !== undefined && mayBePart(instructions[index]!, op)) {
        const loads = open.get(member.group) ?? [];
        loads.push({ index, at: member.at, bytes: op.access.bits / 8 });
        open.set(member.group, loads);
      } else if (op.kind !== "pure" && op.kind !== "load") close();
    }
    close();
  }
  return parts;
}

const mayBePart = (
  { guard, lanes }: Instruction,
  { access, forwarded }: Extract<Instruction["op"], { kind: "load" }>,
): boolean =>
  guard === null &&
  lanes === undefined &&
  (forwarded === undefined || forwarded.sources.length === 0) &&
  access.bits <= 32 &&
  access.count === 1 &&
  access.order === "weak" &&
  !access.volatile;

function addWideLoads(loads: readonly Load[], parts: Map<number, WideLoadPart>): void {
  let rest = loads.toSorted((a, b) => a.at - b.at);
  while (rest.length > 1) {
    const from = rest[0]!.at;
    const near = rest.filter(({ at, bytes }) => at + bytes - from <= maxBytes);
    const end = Math.max(...near.map(({ at, bytes }) => at + bytes));
    const words = end - from <= 4 ? 1 : end - from <= 8 ? 2 : 4;
    // There is a gap after every object: reading a few bytes past it does no harm.
    const start = Math.max(0, end - 4 * words);
    const together = near.filter(({ at, bytes }) => ((at - start) % 4) + bytes <= 4);
    const isFew = new Set(together.map(({ at }) => at)).size < minParts[words];
    if (isFew) {
      rest = rest.slice(1);
      continue;
    }
    const hasNarrow = together.some(({ bytes }) => bytes < 4);
    const wide: WideLoad = { first: Math.min(...together.map(({ index }) => index)), words, hasNarrow };
    for (const { index, at } of together) parts.set(index, { wide, at: at - start });
    rest = rest.filter((load) => !together.includes(load));
  }
}
