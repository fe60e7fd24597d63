import type { Scope } from "./scope.ts";

// Lanes of a warp that access each other's words without a barrier between, as programs do that rely on warps going
// together; or that do so only for some parameters of the launch, or only in another round of a loop.

/** Words in which all places of a warp lie, which is a row of its block. */
const words = 320;

/** Values that are live throughout: compiled code then has few lanes in a chunk, unless lanes meet. */
const mostKept = 24;

/** In rounds, lanes load and store words that lie at multiples of their numbers, of the round's, and of a parameter. */
export function lockstep({ text, module }: Scope): void {
  const { random } = text;
  const array = text.computed(
    "mad.lo.u32",
    text.computed("mov.u32", "%tid.y"),
    4 * words,
    text.computed("mov.u32", module.shared("ls", 4 * words * module.block[1])),
  );
  const lane = text.computed("mov.u32", "%tid.x");
  const kept = Array.from({ length: random.between(0, mostKept) }, () => text.temporary(32));
  const [base, at] = [text.temporary(64), text.temporary(64)];
  text.add(`ld.param.u64 ${base}, [input];`, `mad.wide.u32 ${at}, ${lane}, 4, ${base};`);
  for (const [i, to] of kept.entries()) text.add(`ld.global.b32 ${to}, [${at}+${4 * (i % 4)}];`);
  const given = text.temporary(32);
  text.add(`ld.param.b32 ${given}, [blob+${4 * random.below(16)}];`);
  const step = text.computed("and.b32", given, random.pick([1, 31, 32, 63, 48]));
  const round = text.temporary(32);
  const further = text.temporary(32);
  const isRound = random.chance(0.8);
  text.add(`mov.u32 ${round}, 0;`, `mov.u32 ${further}, ${random.below(3)};`);
  if (random.chance(0.3)) {
    const [some, end] = [text.temporary(1), text.label()];
    text.add(`setp.lt.u32 ${some}, ${random.pick([lane, step, text.register(32)])}, ${random.below(40)};`);
    text.add(`@${some} bra ${end};`, `mov.u32 ${further}, ${random.pick([1, 32])};`);
    text.place(end);
  }
  const place = (): string => {
    const own = random.chance(0.7) ? lane : text.computed("shl.b32", lane, 1);
    const stride = random.pick([step, step, 1, 16, 32, 64]);
    const there = text.computed("mad.lo.u32", random.pick([round, round, round, 1]), stride, own);
    const moved = random.chance(0.3) ? text.computed("add.u32", there, further) : there;
    return text.computed("mad.lo.u32", moved, 4, array);
  };
  const start = text.label();
  if (isRound) text.place(start);
  const places = Array.from({ length: random.between(1, 2) }, place);
  const advance = `add.u32 ${round}, ${round}, 1;`;
  const isEarly = random.chance(0.3);
  if (isEarly) text.add(advance);
  if (random.chance(0.5)) places.push(place());
  for (let i = random.between(2, 4); i > 0; i--) {
    const address = `[${random.pick(places)}+${random.chance(0.8) ? 0 : 4 * random.pick([1, 2, 32])}]`;
    const value = text.register(32);
    if (random.chance(0.5)) text.add(`st.shared.b32 ${address}, ${value};`);
    else {
      const to = text.temporary(32);
      text.add(`ld.shared.b32 ${to}, ${address};`, `mad.lo.u32 ${value}, ${value}, 5, ${to};`);
    }
  }
  // A block of one warp that waits nowhere may have narrow chunks.
  const waits = module.warps > 1;
  if (waits && random.chance(0.2)) text.add("bar.sync 0;");
  if (!isEarly) text.add(advance);
  if (isRound) {
    const again = text.temporary(1);
    text.add(`setp.lt.u32 ${again}, ${round}, ${random.between(2, 3)};`, `@${again} bra ${start};`);
  }
  for (const from of kept) text.add(`xor.b32 ${text.register(32)}, ${text.register(32)}, ${from};`);
  if (waits && random.chance(0.7)) text.add("bar.sync 0;");
}
