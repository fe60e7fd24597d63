import { streamBytes } from "./module-text.ts";
import type { Scope } from "./scope.ts";

/** Words that a thread has in each of the arrays of an update, which lie one after the other. */
const arrays = 3;

/**
 * What each thread does once with elements of its own, of which data decides whether it does all: loads one, and a word
 * that a whole row of threads shares; compares them; and stores results in arrays of which other elements stay as they
 * are.
 */
export function update({ text, module }: Scope): void {
  const { random } = text;
  const threads = module.threads * module.blocks;
  const base = text.temporary(64);
  text.add(`add.s64 ${base}, %stream, ${module.takeStream() * threads * streamBytes};`);
  const index = random.chance(0.7) ? "%gid" : text.computed("sub.u32", threads - 1, "%gid");
  const place = (array: number): string => {
    const at = text.temporary(64);
    const extend = random.pick(["u32", "s32"]);
    text.add(`mad.wide.${extend} ${at}, ${index}, 4, ${base};`);
    return `[${at}+${4 * threads * array}]`;
  };
  // Four words of input belong to each thread of the first block: more than there are rows.
  const row = random.chance(0.7) ? "%ty" : text.computed("sub.u32", 4 * module.threads - 1, "%ty");
  const [rowAt, shared, own, p] = [text.temporary(64), text.temporary(32), text.temporary(32), text.temporary(1)];
  text.add(`mad.wide.u32 ${rowAt}, ${row}, 4, %input;`, `ld.global.u32 ${shared}, [${rowAt}];`);
  const first = place(0);
  text.add(`ld.global.u32 ${own}, ${first};`);
  const changed = text.computed(random.pick(["add.s32", "sub.s32", "xor.b32", "min.u32"]), own, shared);
  const order = random.pick(["lt", "le", "gt", "ge", "lt", "le", "gt", "ge", "eq", "ne"]);
  const type = random.pick(["s32", "s32", "u32", "u32", "f32", "s64", "u64"]);
  const operand = (word: string): string => {
    if (!type.endsWith("64")) return word;
    const wide = text.temporary(64);
    text.add(`cvt.${type}.${random.pick(["s32", "u32"])} ${wide}, ${word};`);
    return wide;
  };
  const other = random.chance(0.7) ? own : `${random.pick([0, -1, 0x7fff_ffff, -0x8000_0000, 77])}`;
  const [a, b] = [operand(changed), other === own || type.endsWith("64") ? operand(own) : other];
  // A number that is written as an integer is none of floats.
  text.add(`setp.${order}.${type} ${p}, ${a}, ${type === "f32" ? operand(own) : b};`);
  const [end, others] = [text.label(), text.label()];
  text.add(`@${random.chance(0.4) ? "!" : ""}${p} bra ${end};`);
  text.add(`st.global.u32 ${first}, ${changed};`);
  if (random.chance(0.5)) text.add(`add.u32 ${text.register(32)}, ${text.register(32)}, ${changed};`);
  if (random.chance(0.3)) text.add(`ld.global.u32 ${text.register(32)}, ${place(random.below(arrays))};`);
  if (random.chance(0.7)) text.add(`st.global.u32 ${place(1)}, ${text.register(32)};`);
  if (random.chance(0.1)) text.add(`@${text.register(1)} bra ${others};`);
  if (random.chance(0.3)) text.add(`mov.u32 ${text.register(32)}, ${shared};`);
  text.place(others);
  text.place(end);
  if (random.chance(0.5)) text.add(`st.global.u32 ${place(2)}, ${random.pick([own, text.register(32)])};`);
}
