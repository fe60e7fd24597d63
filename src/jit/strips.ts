import type { Instruction } from "../ir/index.ts";
import type { AccessGroup, GroupMember } from "./access-groups.ts";
import type { Prepared } from "./prepare.ts";

/** Four words behind one another of which several loads of a block read one each. */
export interface Strip {
  /** The load that is executed first. */
  readonly first: number;
  readonly loads: number;
}

/** What a load has of a strip. */
export interface StripPart {
  readonly strip: Strip;
  readonly element: number;
}

interface Load {
  readonly index: number;
  /** Where in its group's stretch. */
  readonly at: number;
}

/** Fewer loads than that are better executed one by one. */
const fewest = 3;

/** The strips of a function, by load: nothing is stored between the loads of one, which belong to one group. */
export function stripsOf(
  { instructions, graph }: Prepared,
  members: ReadonlyMap<number, GroupMember>,
): ReadonlyMap<number, StripPart> {
  const parts = new Map<number, StripPart>();
  const open = new Map<AccessGroup, Load[]>();
  const close = (): void => {
    if (open.size === 0) return;
    for (const loads of open.values()) addStrips(loads, parts);
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

function addStrips(loads: readonly Load[], parts: Map<number, StripPart>): void {
  let rest = loads.toSorted((a, b) => a.at - b.at);
  while (rest.length >= fewest) {
    const { at } = rest[0]!;
    const ofStrip = rest.filter((load) => load.at - at < 16 && (load.at - at) % 4 === 0);
    if (new Set(ofStrip.map((load) => load.at)).size < fewest) {
      rest = rest.slice(1);
      continue;
    }
    const strip = { first: Math.min(...ofStrip.map((load) => load.index)), loads: ofStrip.length };
    for (const load of ofStrip) parts.set(load.index, { strip, element: (load.at - at) / 4 });
    rest = rest.filter((load) => !ofStrip.includes(load));
  }
}
