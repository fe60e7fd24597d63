import type { Scope } from "./scope.ts";

// Loops around barriers whose strides are doubled or halved from round to round: trees, scans and exchanges.

/** Words that a thread may find at a stride: its number, and as much again for the stride. */
const wordsOf = (threads: number): number => 4 * threads + 64;

/** A loop of rounds, in each of which threads read words at a stride, and each writes a word of its own or of a tree. */
export function doubling(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const words = wordsOf(module.threads);
  const base = text.computed("mov.u32", module.shared("db", 4 * words));
  const own = text.computed("mad.lo.u32", "%lt", 4, base);
  text.add(`st.shared.b32 [${own}], ${text.register(32)};`);
  text.add(`st.shared.b32 [${own}+${4 * module.threads}], ${text.register(32)};`, "bar.sync 0;");
  rounds(scope, random.chance(0.25) ? 2 : 1, (stride) => (random.chance(0.5) ? tree : exchange)(scope, base, stride));
  text.add(`ld.shared.b32 ${text.register(32)}, [${own}];`, "bar.sync 0;");
}

/** The number of threads, or some other that all threads have. */
function bound({ text, module }: Scope): string {
  const { random } = text;
  switch (random.below(4)) {
    case 0:
      return text.computed("mov.u32", "%ntid.x");
    case 1: {
      const given = text.temporary(32);
      text.add(`ld.param.b32 ${given}, [blob+${4 * random.below(16)}];`);
      return text.computed("and.b32", given, random.pick([7, 31, 48]));
    }
    default:
      return text.computed("mov.u32", random.pick([module.threads, 1, 2, 5, 16, 33]));
  }
}

/** Writes a loop, or one within another, whose counter is doubled, halved, or counts. */
function rounds(scope: Scope, depth: number, body: (stride: string) => void): void {
  const { text, module } = scope;
  const { random } = text;
  const limit = text.computed("min.u32", bound(scope), module.threads);
  const [stride, again] = [text.temporary(32), text.temporary(1)];
  const [start, end] = [text.label(), text.label()];
  const way = random.pick(["up", "up", "down", "down", "count"]);
  if (way === "down") text.add(`shr.u32 ${stride}, ${limit}, 1;`);
  else text.add(`mov.u32 ${stride}, ${random.pick([1, 1, 1, 2])};`);
  const test = way === "down" ? `setp.ne.u32 ${again}, ${stride}, 0;` : `setp.lt.u32 ${again}, ${stride}, ${limit};`;
  const isTestedFirst = way === "down" || random.chance(0.7);
  if (isTestedFirst) text.add(test, `@!${again} bra ${end};`);
  text.place(start);
  if (depth > 1) rounds(scope, depth - 1, body);
  body(stride);
  const count = `add.u32 ${stride}, ${stride}, ${random.pick([8, 16, 32])};`;
  const advance = { up: `shl.b32 ${stride}, ${stride}, 1;`, down: `shr.u32 ${stride}, ${stride}, 1;`, count }[way]!;
  text.add(advance);
  // Compilers also leave a loop in its middle, and test before what they repeat.
  if (random.chance(0.3)) {
    text.add(test, `@!${again} bra ${end};`);
    body(stride);
    text.add(advance);
  }
  text.add(test, `@${again} bra ${start};`);
  text.place(end);
}

/** Each node adds up its children, which no other node writes in this round. */
function tree({ text, module }: Scope, base: string, stride: string): void {
  const { random } = text;
  const [p, end] = [text.temporary(1), text.label()];
  const twice = text.computed("shl.b32", stride, 1);
  const node = text.computed("mul.lo.u32", twice, "%lt");
  const isContiguous = random.chance(0.4);
  const at = isContiguous ? text.computed("mov.u32", "%lt") : node;
  if (!isContiguous && random.chance(0.3)) {
    // Those whose number is a multiple.
    const rest = text.computed("rem.u32", "%lt", twice);
    text.add(`setp.ne.u32 ${p}, ${rest}, 0;`, `@${p} bra ${end};`, `mov.u32 ${at}, %lt;`);
  } else text.add(`setp.ge.u32 ${p}, ${at}, ${isContiguous ? stride : module.threads};`, `@${p} bra ${end};`);
  const address = text.computed("mad.lo.u32", at, 4, base);
  const other = text.computed("mad.lo.u32", stride, 4, address);
  const [a, b] = [text.temporary(32), text.temporary(32)];
  text.add(`ld.shared.b32 ${a}, [${address}];`, `ld.shared.b32 ${b}, [${other}];`);
  text.add(`${random.pick(["add.u32", "max.s32", "xor.b32"])} ${a}, ${a}, ${b};`, `st.shared.b32 [${address}], ${a};`);
  text.place(end);
  text.add("bar.sync 0;");
}

/** Threads read what others have, and write their own when all have read. */
function exchange({ text, module }: Scope, base: string, stride: string): void {
  const { random } = text;
  const sum = text.temporary(32);
  text.add(`mov.u32 ${sum}, ${text.register(32)};`);
  const partner = text.computed(random.pick(["add.u32", "xor.b32", "sub.u32"]), "%lt", stride);
  const [p, end] = [text.temporary(1), text.label()];
  text.add(`setp.${random.pick(["lt", "ge"])}.u32 ${p}, ${random.pick(["%lt", partner])}, ${stride};`);
  const other = text.temporary(32);
  text.add(`@${p} bra ${end};`);
  const inside = text.computed("min.u32", partner, 2 * module.threads - 1);
  text.add(`mad.lo.u32 ${other}, ${random.chance(0.7) ? inside : "%lt"}, 4, ${base};`);
  text.add(`ld.shared.b32 ${other}, [${other}];`, `add.u32 ${sum}, ${sum}, ${other};`);
  text.place(end);
  text.add("bar.sync 0;");
  const own = text.computed("mad.lo.u32", "%lt", 4, base);
  text.add(`${random.chance(0.5) ? `@!${p} ` : ""}st.shared.b32 [${own}], ${sum};`, "bar.sync 0;");
}
