import type { Scope } from "./scope.ts";

// Operations of warps that some lanes execute, as thread numbers say, with masks that name just these; and some that
// name others too, which come to the same operation on another way.

const warp = 32;

/** Threads of a block, and the condition that holds for them; `%lt` is the number of a thread. */
interface Chosen {
  readonly has: (thread: number) => boolean;
  readonly condition: (p: string) => readonly string[];
}

function chosen({ text, module }: Scope): Chosen {
  const { random } = text;
  const lane = text.computed("and.b32", "%lt", 31);
  const n = random.pick([1, 4, 8, 8, 15, 16, 24, 31, 32]);
  switch (random.below(5)) {
    case 0:
      return { has: (t) => t % warp < n, condition: (p) => [`setp.lt.u32 ${p}, ${lane}, ${n};`] };
    case 1: {
      const limit = random.pick([n, module.threads - n, module.threads]);
      return { has: (t) => t < limit, condition: (p) => [`setp.lt.s32 ${p}, %lt, ${limit};`] };
    }
    case 2:
      return { has: (t) => t % warp >= n, condition: (p) => [`setp.ge.u32 ${p}, ${lane}, ${n};`] };
    case 3: {
      const bit = random.pick([1, 2, 8, 16]);
      const kept = text.computed("and.b32", lane, bit);
      return { has: (t) => (t & bit) === 0, condition: (p) => [`setp.eq.u32 ${p}, ${kept}, 0;`] };
    }
    default: {
      // As compilers write `warp == 0 && lane < n`.
      const [q, r] = [text.temporary(1), text.temporary(1)];
      const number = random.below(module.warps);
      const own = text.computed("shr.s32", "%lt", 5);
      return {
        has: (t) => t >> 5 === number && t % warp < n,
        condition: (p) => [
          `setp.eq.s32 ${q}, ${own}, ${number};`,
          `setp.lt.u32 ${r}, ${lane}, ${n};`,
          `and.pred ${p}, ${q}, ${r};`,
        ],
      };
    }
  }
}

/** The mask of the chosen threads of the own warp: a constant, or one for each warp. Null if it names none at all. */
function maskOf({ text, module }: Scope, has: Chosen["has"]): string | null {
  const masks = Array.from({ length: module.warps }, (_, w) =>
    Array.from({ length: warp }, (_, lane) => w * warp + lane).reduce(
      (mask, t) => (t < module.threads && has(t) ? mask | (1 << (t % warp)) : mask),
      0,
    ),
  );
  const some = [...new Set(masks.filter((mask) => mask !== 0))];
  if (some.length === 0) return null;
  // Lanes that are not there may be named.
  const beyond = module.threads % warp === 0 ? 0 : -1 << (module.threads % warp);
  if (some.length === 1) {
    const last = masks.at(-1) !== 0 && module.warps === 1 && text.random.chance(0.5) ? beyond : 0;
    return `${(some[0]! | last) >>> 0}`;
  }
  const own = text.computed("shr.u32", "%lt", 5);
  let mask = text.computed("mov.b32", masks[0]! >>> 0);
  for (const [w, other] of masks.entries()) {
    if (w === 0) continue;
    const p = text.temporary(1);
    text.add(`setp.eq.u32 ${p}, ${own}, ${w};`);
    mask = text.computed("selp.b32", other >>> 0, mask, p);
  }
  return mask;
}

function operation({ text }: Scope, mask: string): void {
  const { random } = text;
  const r = (): string => text.register(32);
  const p = (): string => text.register(1);
  const mode = random.pick(["up", "down", "bfly", "idx"]);
  const lane = random.chance(0.8) ? `${random.pick([1, 2, 4, 7, 16])}` : r();
  const operations = [
    ...Array<string>(4).fill(
      `shfl.sync.${mode}.b32 ${r()}|${p()}, ${r()}, ${lane}, ${mode === "up" ? 0 : 31}, ${mask};`,
    ),
    `vote.sync.${random.pick(["all", "any", "uni"])}.pred ${p()}, ${p()}, ${mask};`,
    `vote.sync.ballot.b32 ${r()}, ${p()}, ${mask};`,
    `vote.sync.ballot.b32 ${r()}, ${p()}, ${mask};`,
    `match.any.sync.b32 ${r()}, ${text.register(32, random.chance(0.5))}, ${mask};`,
    `redux.sync.${random.pick(["add.u32", "max.s32", "xor.b32"])} ${r()}, ${r()}, ${mask};`,
    `elect.sync ${r()}|${p()}, ${mask};`,
    `bar.warp.sync ${mask};`,
  ];
  text.add(random.pick(operations));
}

/** What lanes do on their own before they come together again: none of it waits for anybody. */
function alone({ text }: Scope, back: string | null): void {
  const { random } = text;
  const p = text.register(1);
  const end = text.label();
  if (back === null && random.chance(0.3)) {
    const [i, more, again] = [text.computed("and.b32", text.register(32), 3), text.temporary(1), text.label()];
    text.place(again);
    text.add(`mad.lo.u32 ${text.register(32)}, ${text.register(32)}, 5, ${i};`, `sub.s32 ${i}, ${i}, 1;`);
    text.add(`setp.ge.s32 ${more}, ${i}, 0;`, `@${more} bra ${again};`);
    return;
  }
  text.add(`@${random.chance(0.5) ? "!" : ""}${p} bra ${back ?? end};`);
  if (back !== null) return;
  text.add(`add.u32 ${text.register(32)}, ${text.register(32)}, ${text.register(32)};`);
  if (random.chance(0.4)) text.add(`setp.lt.s32 ${text.register(1)}, ${text.register(32)}, ${text.register(32)};`);
  text.place(end);
}

/** Some operations of the chosen lanes, one after the other. */
export function partialWarp(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const { has, condition } = chosen(scope);
  const everyone = random.chance(0.1);
  const named = everyone ? "-1" : maskOf(scope, has);
  if (named === null) return;
  const [p, others, detour, after] = [text.temporary(1), text.label(), text.label(), text.label()];
  text.add(...condition(p));
  const isVoted = random.chance(0.3);
  const mask = isVoted ? text.temporary(32) : named;
  if (isVoted) {
    const q = everyone ? text.temporary(1) : p;
    if (everyone) text.add(`setp.le.u32 ${q}, ${text.computed("and.b32", "%lt", 31)}, 31;`);
    text.add(`vote.sync.ballot.b32 ${mask}, ${q}, -1;`);
  }
  text.add(`@!${p} bra ${others};`);
  for (let i = random.between(1, 4); i > 0; i--) {
    if (random.chance(0.4)) alone(scope, null);
    if (!everyone && i === 1 && random.chance(0.3)) {
      // Some come on a way that lies after the place where the others wait.
      const here = text.label();
      alone(scope, detour);
      text.place(here);
      operation(scope, mask);
      text.add(`bra ${after};`);
      text.place(detour);
      text.add(`xor.b32 ${text.register(32)}, ${text.register(32)}, ${random.below(1000)};`, `bra ${here};`);
      text.place(others);
      text.add(`add.u32 ${text.register(32)}, ${text.register(32)}, 3;`);
      text.place(after);
      return;
    }
    // All lanes are named where the others do the same elsewhere.
    if (everyone) text.add(`vote.sync.ballot.b32 ${text.register(32)}, ${text.register(1)}, ${mask};`);
    else operation(scope, mask);
    if (everyone) break;
  }
  if (everyone) text.add(`bra ${after};`);
  text.place(others);
  if (everyone) text.add(`vote.sync.ballot.b32 ${text.register(32)}, ${text.register(1)}, ${mask};`);
  text.place(after);
}
