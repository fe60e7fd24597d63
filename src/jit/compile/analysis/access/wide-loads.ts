import type { Instruction } from "../../../../ir/index.ts";
import type { PreparedCode } from "../code/prepared-code.ts";
import type { AccessGroup, GroupMember } from "./access-groups.ts";

/** Four words behind one another of which several loads of a block read one each. */
export interface WideLoad {
  /** The load that is executed first. */
  readonly first: number;
  readonly loads: number;
}

/** What a load has of a strip. */
export interface WideLoadPart {
  readonly strip: WideLoad;
  readonly element: number;
}

interface Load {
  readonly index: number;
  /** Where in its group's stretch. */
  readonly at: number;
}

/** Fewer loads than that are better executed one by one. */
const minWords = 3;

/** The strips of a function, by load: nothing is stored between the loads of one, which belong to one group. */
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
    const ofStrip = rest.filter((load) => load.at - at < 16 && (load.at - at) % 4 === 0);
    if (new Set(ofStrip.map((load) => load.at)).size < minWords) {
      rest = rest.slice(1);
      continue;
    }
    const strip = { first: Math.min(...ofStrip.map((load) => load.index)), loads: ofStrip.length };
    for (const load of ofStrip) parts.set(load.index, { strip, element: (load.at - at) / 4 });
    rest = rest.filter((load) => !ofStrip.includes(load));
  }
}
