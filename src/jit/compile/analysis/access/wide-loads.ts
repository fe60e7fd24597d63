import type { Instruction } from "../../../../ir/index.ts";
import type { PreparedCode } from "../code/prepared-code.ts";
import type { AccessGroup, GroupMember } from "./access-groups.ts";

/** A wide load: four consecutive words, of which several loads of a block read one each. */
export interface WideLoad {
  /** The load that is executed first. */
  readonly first: number;
  readonly loads: number;
}

/** The part of a wide load that one load reads. */
export interface WideLoadPart {
  readonly wide: WideLoad;
  readonly element: number;
}

interface Load {
  readonly index: number;
  /** Its distance from the start of its group. */
  readonly at: number;
}

/** Fewer words than this are better loaded one by one. */
const minWords = 3;

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
      if (member !== undefined && isWord(instructions[index]!)) {
        const loads = open.get(member.group) ?? [];
        loads.push({ index, at: member.at });
        open.set(member.group, loads);
      } else if (op.kind !== "pure" && op.kind !== "load") close();
    }
    close();
  }
  return parts;
}

const isWord = ({ op, guard, lanes }: Instruction): boolean =>
  op.kind === "load" &&
  guard === null &&
  lanes === undefined &&
  op.access.bits === 32 &&
  op.access.count === 1 &&
  op.access.order === "weak" &&
  !op.access.volatile;

function addWideLoads(loads: readonly Load[], parts: Map<number, WideLoadPart>): void {
  let rest = loads.toSorted((a, b) => a.at - b.at);
  while (rest.length >= minWords) {
    const { at } = rest[0]!;
    const together = rest.filter((load) => load.at - at < 16 && (load.at - at) % 4 === 0);
    if (new Set(together.map((load) => load.at)).size < minWords) {
      rest = rest.slice(1);
      continue;
    }
    const wide = { first: Math.min(...together.map((load) => load.index)), loads: together.length };
    for (const load of together) parts.set(load.index, { wide, element: (load.at - at) / 4 });
    rest = rest.filter((load) => !together.includes(load));
  }
}
