import type { Scope } from "./scope.ts";

// Buffers that take turns: in each round lanes load from one and store to another, which is the first in the next
// round. Some are too short, or taken in another order, so that lanes of a warp meet in them: no other warp does.

/** Words of a warp, in all of its buffers. */
const words = 384;

/** Values that are live throughout: compiled code then has few lanes in a chunk, unless lanes meet. */
const mostKept = 24;

/** How it is known whose turn it is. */
interface Turn {
  /** Instructions before the first round. */
  readonly begin: readonly string[];
  /** The addresses of the buffers that are read and written in this round. */
  readonly buffers: () => readonly [string, string];
  readonly advance: readonly string[];
}

export function turns(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const lane = text.computed("mov.u32", random.pick(["%laneid", "%laneid", "%tid.x"]));
  const own = text.computed("and.b32", lane, 31);
  const warp = text.computed("shr.u32", "%lt", 5);
  const array = text.computed("mov.u32", module.shared("tn", 4 * words * module.warps));
  text.add(`mad.lo.u32 ${array}, ${warp}, ${4 * words}, ${array};`);
  const kept = Array.from({ length: random.between(0, mostKept) }, () => text.temporary(32));
  const [base, at] = [text.temporary(64), text.temporary(64)];
  text.add(`ld.param.u64 ${base}, [input];`, `mad.wide.u32 ${at}, ${lane}, 4, ${base};`);
  for (const [i, to] of kept.entries()) text.add(`ld.global.b32 ${to}, [${at}+${4 * (i % 4)}];`);
  // As far apart as a warp's words reach, or a little less.
  const length = random.pick([64, 64, 64, 32, 31, 16]);
  const turn = turnOf(scope, array, length);
  const [round, again] = [text.temporary(32), text.temporary(1)];
  text.add(`mov.u32 ${round}, 0;`, ...turn.begin);
  const start = text.label();
  text.place(start);
  const condition = conditionOf(scope, own, round);
  const [early, waits] = [random.chance(0.3), random.chance(0.75)];
  // Lanes overwrite what others have stored, and load nothing that others store.
  const isStored = random.chance(0.3);
  const buffers = turn.buffers();
  if (early) guarded(scope, condition, turn.advance);
  for (let i = random.between(2, 4); i > 0; i--) {
    const writes = i === 1 || random.chance(isStored ? 0.9 : 0.1);
    const place = random.chance(0.6)
      ? own
      : text.computed("and.b32", text.computed("add.u32", own, random.pick([1, 5, 31])), 31);
    const address = text.computed(
      "mad.lo.u32",
      place,
      4,
      buffers[(writes || isStored) === random.chance(0.95) ? 1 : 0]!,
    );
    const value = text.register(32);
    if (writes) text.add(`st.shared.b32 [${address}], ${value};`);
    else {
      const to = text.temporary(32);
      text.add(`ld.shared.b32 ${to}, [${address}];`, `mad.lo.u32 ${value}, ${value}, 5, ${to};`);
    }
  }
  if (waits) text.add("bar.sync 0;");
  if (!early) guarded(scope, condition, turn.advance);
  text.add(`add.u32 ${round}, ${round}, 1;`, `setp.lt.u32 ${again}, ${round}, ${random.between(2, 5)};`);
  text.add(`@${again} bra ${start};`);
  if (random.chance(0.7)) {
    const to = text.temporary(32);
    const [from] = turn.buffers();
    text.add(`mad.lo.u32 ${to}, ${own}, 4, ${from};`, `ld.shared.b32 ${to}, [${to}];`);
    text.add(`xor.b32 ${text.register(32)}, ${text.register(32)}, ${to};`);
  }
  for (const from of kept) text.add(`xor.b32 ${text.register(32)}, ${text.register(32)}, ${from};`);
  text.add("bar.sync 0;");
}

/** A guard that lets the turn pass in some rounds, or in some lanes; null: always. */
function conditionOf({ text }: Scope, lane: string, round: string): string | null {
  const { random } = text;
  if (random.chance(0.7)) return null;
  const p = text.temporary(1);
  const given = text.temporary(32);
  text.add(`ld.param.b32 ${given}, [blob+${4 * random.below(16)}];`);
  const some = text.computed("and.b32", given, 7);
  text.add(`setp.lt.u32 ${p}, ${random.pick([round, some, some, lane, "%ty"])}, ${random.pick([1, 2, 5, 20])};`);
  return p;
}

/** Writes instructions that are executed where a condition holds. */
function guarded({ text }: Scope, condition: string | null, lines: readonly string[]): void {
  if (condition === null) text.add(...lines);
  else if (text.random.chance(0.5)) text.add(...lines.map((line) => `@${condition} ${line}`));
  else {
    const end = text.label();
    text.add(`@!${condition} bra ${end};`, ...lines);
    text.place(end);
  }
}

function turnOf({ text }: Scope, array: string, length: number): Turn {
  const { random } = text;
  const bytes = 4 * length;
  const at = (number: string): string => text.computed("mad.lo.u32", number, bytes, array);
  const [turn, next] = [text.temporary(32), text.temporary(32)];
  const zero = [`mov.u32 ${turn}, 0;`];
  switch (random.below(5)) {
    case 0: {
      // The number of one of two, the other of which is computed from it.
      const other = (): string =>
        random.chance(0.5) ? text.computed("xor.b32", turn, 1) : text.computed("sub.u32", 1, turn);
      const advance = random.chance(0.5) ? `xor.b32 ${turn}, ${turn}, 1;` : `sub.u32 ${turn}, 1, ${turn};`;
      return { begin: zero, buffers: () => [at(turn), at(other())], advance: [advance] };
    }
    case 1: {
      // A counter, of which the low bits say it.
      const mask = random.pick([1, 1, 3]);
      const buffers = (): readonly [string, string] => [
        at(text.computed("and.b32", turn, mask)),
        at(text.computed("and.b32", text.computed("add.u32", turn, 1), mask)),
      ];
      return { begin: zero, buffers, advance: [`add.u32 ${turn}, ${turn}, ${random.pick([1, 1, 3])};`] };
    }
    case 2: {
      // Pointers that are exchanged.
      const begin = [`mov.u32 ${turn}, ${array};`, `add.u32 ${next}, ${array}, ${bytes};`];
      const swap = text.temporary(32);
      const advance = [`mov.u32 ${swap}, ${turn};`, `mov.u32 ${turn}, ${next};`, `mov.u32 ${next}, ${swap};`];
      return { begin, buffers: () => [turn, next], advance };
    }
    case 3: {
      // Three in a ring.
      const p = text.temporary(1);
      const step = (to: string): readonly string[] => [
        `add.u32 ${to}, ${to}, 1;`,
        `setp.eq.u32 ${p}, ${to}, 3;`,
        `selp.b32 ${to}, 0, ${to}, ${p};`,
      ];
      return {
        begin: [...zero, `mov.u32 ${next}, ${random.pick([1, 2])};`],
        buffers: () => [at(turn), at(next)],
        advance: [...step(turn), ...step(next)],
      };
    }
    default: {
      // An offset of which a bit is inverted.
      const offset = 2 ** (32 - Math.clz32(bytes - 1));
      return {
        begin: zero,
        buffers: () => [
          text.computed("add.u32", array, turn),
          text.computed("add.u32", array, text.computed("xor.b32", turn, offset)),
        ],
        advance: [`xor.b32 ${turn}, ${turn}, ${offset};`],
      };
    }
  }
}
