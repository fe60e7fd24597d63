import type { FunctionText } from "./function-text.ts";
import type { Scope } from "./scope.ts";

// What small blocks, and blocks whose rows are as wide as a chunk, compute of thread numbers: signs, masks, clamped
// neighbours and places in rows of a picture, which compiled code may know lane by lane.

/** Words and conditions of thread numbers that have been computed; each register is written once, as compilers do. */
interface Numbers {
  readonly words: string[];
  readonly conditions: string[];
}
const numbers = new WeakMap<FunctionText, Numbers>();

function numbersOf(text: FunctionText): Numbers {
  let known = numbers.get(text);
  if (known === undefined) numbers.set(text, (known = { words: [], conditions: [] }));
  return known;
}

/** A word that follows from the thread's numbers, and mostly from nothing else. */
function word({ text }: Scope, { words, conditions }: Numbers): string {
  const { random } = text;
  if (words.length > 0 && random.chance(0.4)) return random.pick(words);
  const to = text.temporary(32);
  const number = (): string => {
    const name = text.temporary(32);
    text.add(`mov.u32 ${name}, ${random.pick(["%tid.x", "%tid.x", "%tid.y", "%tid.z", "%laneid", "%ntid.x"])};`);
    return name;
  };
  const one = (): string => (words.length > 0 && random.chance(0.6) ? random.pick(words) : number());
  const constant = (): number => random.pick([0, 1, 2, 3, 4, 7, 8, 15, 16, 31, -1, random.below(100)]);
  switch (random.below(6)) {
    case 0:
      text.add(
        `${random.pick(["add.s32", "sub.s32", "min.s32", "max.s32", "xor.b32", "and.b32"])} ${to}, ${one()}, ${one()};`,
      );
      break;
    case 1:
      text.add(
        `${random.pick(["add.s32", "min.s32", "max.s32", "xor.b32", "and.b32", "or.b32"])} ${to}, ${one()}, ${constant()};`,
      );
      break;
    case 2:
      text.add(`${random.pick(["shl.b32", "shr.u32", "shr.s32"])} ${to}, ${one()}, ${random.below(9)};`);
      break;
    case 3:
      text.add(`mad.lo.s32 ${to}, ${one()}, ${constant()}, ${one()};`);
      break;
    case 4:
      text.add(`${random.pick(["popc.b32", "neg.s32", "not.b32", "abs.s32"])} ${to}, ${one()};`);
      break;
    default:
      if (conditions.length === 0) text.add(`add.s32 ${to}, ${one()}, ${constant()};`);
      else text.add(`selp.b32 ${to}, ${one()}, ${constant()}, ${random.pick(conditions)};`);
  }
  words.push(to);
  return to;
}

/** A condition on such a word; `also`: on one that all threads share, or any. */
function condition(scope: Scope, known: Numbers): string {
  const { text, module } = scope;
  const { random } = text;
  if (known.conditions.length > 0 && random.chance(0.3)) return random.pick(known.conditions);
  const [a, p] = [word(scope, known), text.temporary(1)];
  const b = random.chance(0.8)
    ? `${random.pick([0, 1, 2, 3, 4, 8, 15, random.below(module.threads + 1)])}`
    : random.pick(["%cx", "%gx", text.register(32, true)]);
  text.add(
    `setp.${random.pick(["lt", "le", "gt", "ge", "eq", "ne"])}.${random.pick(["s32", "u32"])} ${p}, ${a}, ${b};`,
  );
  if (random.chance(0.3) && known.conditions.length > 0) {
    const both = text.temporary(1);
    text.add(`${random.pick(["and", "or", "xor"])}.pred ${both}, ${p}, ${random.pick(known.conditions)};`);
    known.conditions.push(both);
    return both;
  }
  known.conditions.push(p);
  return p;
}

/** Words of a picture at a thread's place in it, whose rows are as long as a register says. */
function picture({ text, module }: Scope): void {
  const { random } = text;
  const [x, y, n, row, at] = Array.from({ length: 5 }, () => text.temporary(32));
  const [base, bytes, place] = Array.from({ length: 3 }, () => text.temporary(64));
  const [columns, rows] = module.block;
  text.add(`ld.param.u64 ${base}, [input];`, `mov.u32 ${x}, %tid.x;`, `mov.u32 ${y}, %tid.y;`);
  // Four words of input belong to each thread.
  if (random.chance(0.7)) text.add(`min.u32 ${n}, %gx, ${random.between(1, 4)};`, `mul.lo.u32 ${n}, ${n}, ${columns};`);
  else text.add(`mov.u32 ${n}, ${columns * random.between(1, 4)};`);
  const flipped = random.chance(0.3);
  if (flipped) text.add(`sub.u32 ${y}, ${rows - 1}, ${y};`);
  if (random.chance(0.5)) text.add(`mad.lo.s32 ${at}, ${y}, ${n}, ${x};`);
  else text.add(`mul.lo.s32 ${row}, ${n}, ${y};`, `add.s32 ${at}, ${x}, ${row};`);
  text.add(`mul.wide.s32 ${bytes}, ${at}, 4;`, `add.s64 ${place}, ${base}, ${bytes};`);
  const offset = 4 * random.below(8);
  const guard = random.chance(0.3) ? `@${text.register(1)} ` : "";
  text.add(`${guard}ld.global.${random.pick(["nc.", ""])}u32 ${text.register(32)}, [${place}+${offset}];`);
}

/** A few instructions of a tile: values of thread numbers are computed, and used by all lanes or some. */
export function tile(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const known = numbersOf(text);
  const use = (): void => {
    switch (random.below(5)) {
      case 0:
        text.add(`add.s32 ${text.register(32)}, ${text.register(32)}, ${word(scope, known)};`);
        break;
      case 1:
        text.add(
          `@${random.chance(0.3) ? "!" : ""}${condition(scope, known)} mov.b32 ${text.register(32)}, ${word(scope, known)};`,
        );
        break;
      case 2:
        text.add(
          `selp.b32 ${text.register(32)}, ${text.register(32)}, ${text.register(32)}, ${condition(scope, known)};`,
        );
        break;
      case 3:
        text.add(`mad.lo.s32 ${text.register(32)}, ${text.register(32)}, ${word(scope, known)}, ${text.register(32)};`);
        break;
      default:
        picture(scope);
    }
  };
  for (let i = random.between(1, 3); i > 0; i--) use();
  if (!random.chance(0.4)) return;
  // What is computed within may not have been where others ask for it.
  const [p, end] = [condition(scope, known), text.label()];
  const before = { words: [...known.words], conditions: [...known.conditions] };
  text.add(`@${p} bra ${end};`);
  for (let i = random.between(1, 3); i > 0; i--) use();
  text.place(end);
  if (random.chance(0.8)) numbers.set(text, before);
}
