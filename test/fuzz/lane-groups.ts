import type { Scope } from "./scope.ts";

// Operations of warps in groups of lanes each of which names itself, as cooperative groups write them: tiles of a power
// of two, and groups of any lanes. All groups come, or some of them, as thread numbers or their own votes say.

const warp = 32;

/** Groups of lanes: the mask of a lane's own one, how many lanes tiles have, and the number of its tile. */
interface Groups {
  readonly mask: string;
  readonly size: number | null;
}

/** The number of a lane, as compilers write it. */
const laneOf = ({ text }: Scope): string => text.computed("mov.u32", "%laneid");

/** The number of the lane, from that of the thread. */
const laneOfThread = ({ text }: Scope): string => text.computed("and.b32", "%lt", 31);

function tiles(scope: Scope, lane: string): Groups {
  const { text } = scope;
  const size = text.random.pick([2, 4, 8, 8, 16]);
  const first = text.computed("and.b32", lane, -size);
  return { mask: text.computed("shl.b32", text.computed("mov.b32", 2 ** size - 1), first), size };
}

/** Odd and even lanes, those of two sizes, and tiles of which each warp has others. */
function others(scope: Scope, lane: string): Groups {
  const { text, module } = scope;
  const p = text.temporary(1);
  switch (text.random.below(3)) {
    case 0: {
      const [bit, own] = text.random.pick([
        [1, 0x5555_5555],
        [2, 0x3333_3333],
        [4, 0x0f0f_0f0f],
      ]);
      text.add(`setp.eq.u32 ${p}, ${text.computed("and.b32", lane, bit)}, 0;`);
      return { mask: text.computed("selp.b32", own, ~own >>> 0, p), size: null };
    }
    case 1: {
      const end = text.random.pick([1, 5, 8, 20, 31]);
      const below = 2 ** end - 1;
      text.add(`setp.lt.u32 ${p}, ${lane}, ${end};`);
      return { mask: text.computed("selp.b32", below, ~below >>> 0, p), size: null };
    }
    default: {
      const [a, b] = [tiles(scope, lane), tiles(scope, lane)];
      const number = text.computed("shr.u32", "%lt", 5);
      text.add(`setp.eq.u32 ${p}, ${number}, ${text.random.below(module.warps)};`);
      return { mask: text.computed("selp.b32", a.mask, b.mask, p), size: null };
    }
  }
}

function shuffle({ text }: Scope, { mask, size }: Groups): string {
  const { random } = text;
  const [r, p] = [(): string => text.register(32), (): string => text.register(1)];
  const mode = random.pick(["up", "down", "bfly", "idx"]);
  const width = size !== null && random.chance(0.8) ? size : warp;
  const range = ((warp - width) << 8) | (mode === "up" ? 0 : 31);
  const by = random.chance(0.75) ? `${random.pick([0, 1, 2, 4, 7])}` : r();
  return `shfl.sync.${mode}.b32 ${r()}|${p()}, ${r()}, ${by}, ${range}, ${mask};`;
}

function operation(scope: Scope, groups: Groups): void {
  const { text } = scope;
  const { random } = text;
  const { mask } = groups;
  const [r, p] = [(): string => text.register(32), (): string => text.register(1)];
  const some = (): string => text.computed("and.b32", r(), 3);
  text.add(
    random.pick([
      ...Array.from({ length: 4 }, () => shuffle(scope, groups)),
      `vote.sync.${random.pick(["all", "any", "uni"])}.pred ${p()}, ${p()}, ${mask};`,
      `vote.sync.${random.pick(["all", "any", "uni"])}.pred ${p()}, !${p()}, ${mask};`,
      `vote.sync.ballot.b32 ${r()}, ${p()}, ${mask};`,
      `match.any.sync.b32 ${r()}, ${some()}, ${mask};`,
      `match.all.sync.b32 ${r()}|${p()}, ${some()}, ${mask};`,
      `redux.sync.${random.pick(["add.u32", "max.s32", "min.u32", "xor.b32", "and.b32"])} ${r()}, ${r()}, ${mask};`,
      `elect.sync ${r()}|${p()}, ${mask};`,
      `bar.warp.sync ${mask};`,
    ]),
  );
}

/** What lanes do on their own before they come together again. */
function alone({ text }: Scope): void {
  const end = text.label();
  text.add(`@${text.register(1)} bra ${end};`);
  text.add(`mad.lo.u32 ${text.register(32)}, ${text.register(32)}, 5, ${text.register(32)};`);
  text.place(end);
}

/** An operation to which some lanes of groups come on a way that lies after it: they are not together any more. */
function apart(scope: Scope, groups: Groups): void {
  const { text } = scope;
  const [here, detour, after] = [text.label(), text.label(), text.label()];
  text.add(`@${text.register(1)} bra ${detour};`);
  text.place(here);
  operation(scope, groups);
  text.add(`bra ${after};`);
  text.place(detour);
  text.add(`xor.b32 ${text.register(32)}, ${text.register(32)}, ${text.random.below(1000)};`, `bra ${here};`);
  text.place(after);
}

/** A condition that all lanes of a group agree on: by their numbers, or by a vote. */
function agreed({ text }: Scope, { mask, size }: Groups, lane: string): string {
  const p = text.temporary(1);
  if (size !== null && text.random.chance(0.5)) {
    const number = text.computed("shr.u32", lane, Math.log2(size));
    text.add(`setp.lt.u32 ${p}, ${number}, ${text.random.between(1, warp / size)};`);
  } else text.add(`vote.sync.any.pred ${p}, ${text.register(1)}, ${mask};`);
  return p;
}

/** Some operations in groups of lanes, one after the other. */
export function laneGroups(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const lane = random.chance(0.6) ? laneOf(scope) : laneOfThread(scope);
  const groups = random.chance(0.7) ? tiles(scope, lane) : others(scope, lane);
  const end = text.label();
  if (random.chance(0.4)) text.add(`@!${agreed(scope, groups, lane)} bra ${end};`);
  const again = text.label();
  const isLoop = random.chance(0.2);
  const rounds = isLoop ? text.computed("mov.u32", random.between(2, 3)) : "";
  if (isLoop) text.place(again);
  for (let i = random.between(1, 4); i > 0; i--) {
    if (random.chance(0.3)) alone(scope);
    if (random.chance(0.15)) apart(scope, groups);
    else operation(scope, groups);
  }
  if (isLoop) {
    const [more, p] = [text.temporary(1), text.temporary(1)];
    text.add(`sub.u32 ${rounds}, ${rounds}, 1;`, `setp.ne.u32 ${more}, ${rounds}, 0;`);
    // Groups may make rounds of their own.
    if (random.chance(0.5)) {
      text.add(`vote.sync.any.pred ${p}, ${text.register(1)}, ${groups.mask};`, `and.pred ${more}, ${more}, ${p};`);
    }
    text.add(`@${more} bra ${again};`);
  }
  text.place(end);
}
