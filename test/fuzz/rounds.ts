import { blockUniform } from "./compute.ts";
import { inside, type Scope } from "./scope.ts";

/**
 * Rounds of a block around barriers, as in scans, trees, stencils and lattices: threads below a bound that changes from
 * round to round read words of others, and after a barrier write their own.
 */
export function rounds(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const { threads } = module;
  const [words, mine, value] = [text.temporary(64), text.temporary(64), text.temporary(32)];
  const [count, bound, change] = [text.temporary(32), text.temporary(32), text.temporary(32)];
  const [isLast, isBelow] = [text.temporary(1), text.temporary(1)];
  // What a thread stores may be begun anew in each round, and the bound may be one that is computed in it.
  const stored = random.chance(0.5) ? text.temporary(32) : value;
  const limit = random.chance(0.5) ? text.temporary(32) : bound;
  const advance = (chance: number): void => {
    if (random.chance(chance)) text.add(`add.s32 ${bound}, ${bound}, ${random.pick(["1", "-1"])};`);
  };
  const [top, end] = [text.label(), text.label()];
  text.add("bar.sync 0;", `mov.u64 ${words}, ${module.shared("ro", 4 * threads)};`);
  text.add(`mad.wide.u32 ${mine}, %lt, 4, ${words};`, `st.shared.b32 [${mine}], ${text.register(32)};`);
  text.add(`and.b32 ${count}, ${blockUniform(text)}, 3;`, `add.u32 ${count}, ${count}, ${random.below(3)};`);
  text.add(`mov.b32 ${bound}, ${random.pick([`${threads}`, `${threads >> 1}`, "1", blockUniform(text)])};`);
  text.add(`mov.b32 ${value}, ${text.register(32)};`, "bar.sync 0;");
  text.place(top);
  advance(0.2);
  if (limit !== bound) text.add(`add.s32 ${limit}, ${bound}, ${random.pick(["-1", "1", "-16"])};`);
  if (stored !== value) text.add(`mov.b32 ${stored}, ${random.below(100)};`);
  // Threads may know that they take part again after the barrier, or ask again.
  text.add(`setp.${random.pick(["lt", "le", "ge", "ne"])}.s32 ${isBelow}, %lt, ${limit};`);
  advance(0.2);
  guarded(scope, isBelow, () => {
    const loaded = neighbour(scope, words);
    text.add(`add.u32 ${value}, ${value}, ${loaded};`);
    if (stored !== value) text.add(`xor.b32 ${stored}, ${value}, ${loaded};`);
    if (random.chance(0.5)) text.add(`add.u32 ${text.register(32)}, ${text.register(32)}, ${loaded};`);
  });
  if (random.chance(0.3)) scope.statements(inside(scope, true), 1);
  text.add("bar.sync 0;");
  const leavesInTheMiddle = random.chance(0.3);
  const leave = (): void => text.add(`setp.eq.u32 ${isLast}, ${count}, 0;`, `@${isLast} bra ${end};`);
  if (leavesInTheMiddle) leave();
  if (random.chance(0.3)) text.add(`setp.gt.s32 ${isBelow}, %lt, ${random.pick([bound, "0", "31"])};`);
  guarded(scope, isBelow, () => text.add(`st.shared.b32 [${mine}], ${stored};`));
  text.add("bar.sync 0;");
  if (!leavesInTheMiddle) leave();
  text.add(`mov.b32 ${change}, ${random.pick(["1", "-1", `${threads >> 2}`])};`);
  text.add(random.chance(0.5) ? `shr.s32 ${bound}, ${bound}, 1;` : `add.s32 ${bound}, ${bound}, ${change};`);
  text.add(`sub.u32 ${count}, ${count}, 1;`, `bra.uni ${top};`);
  text.place(end);
  text.add("bar.sync 0;", `ld.shared.b32 ${text.register(32)}, [${mine}];`);
  if (random.chance(0.5)) text.add(`add.u32 ${text.register(32)}, ${bound}, ${value};`);
}

/** Code for the threads that have a predicate, or that have not. */
function guarded({ text }: Scope, p: string, write: () => void): void {
  const end = text.label();
  text.add(`@${text.random.chance(0.7) ? "!" : ""}${p} bra ${end};`);
  write();
  text.place(end);
}

/** Loads a word at a distance, which is clamped or goes around. */
function neighbour({ text, module }: Scope, words: string): string {
  const { random } = text;
  const { threads } = module;
  const [index, at, loaded] = [text.temporary(32), text.temporary(64), text.temporary(32)];
  const distance = random.pick([1, -1, 2, -4, 8, random.below(threads)]);
  text.add(`add.s32 ${index}, %lt, ${distance};`);
  switch (random.below(4)) {
    case 0:
      text.add(`and.b32 ${index}, ${index}, ${2 ** Math.floor(Math.log2(threads)) - 1};`);
      break;
    case 1:
      text.add(
        `xor.b32 ${index}, ${index}, ${random.pick([1, 4, 32, 64])};`,
        `rem.u32 ${index}, ${index}, ${threads};`,
      );
      break;
    default:
      text.add(`max.s32 ${index}, ${index}, ${random.pick(["0", "1", `${threads >> 1}`])};`);
  }
  text.add(`min.s32 ${index}, ${index}, ${threads - 1};`, `max.s32 ${index}, ${index}, 0;`);
  text.add(`mad.wide.s32 ${at}, ${index}, 4, ${words};`, `ld.shared.b32 ${loaded}, [${at}];`);
  return loaded;
}
