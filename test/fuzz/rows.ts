import type { FunctionText } from "./function-text.ts";
import type { Scope } from "./scope.ts";

// Numbers that are even along each row of a block, in warps that have several rows: they go on by the same step within
// a row, and from row to row by what the launch says, what is chosen, or anything.

/** Numbers that are computed for all threads; each register is written once, as compilers do. */
const numbers = new WeakMap<FunctionText, { readonly row: string[]; readonly any: string[] }>();

function numbersOf(text: FunctionText) {
  let known = numbers.get(text);
  if (known === undefined) {
    const row = [text.computed("mov.u32", "%tid.y"), text.computed("mov.u32", "%cy")];
    numbers.set(text, (known = { row, any: [text.computed("mov.u32", "%tid.x"), ...row] }));
  }
  return known;
}

/** A number that the lanes of a row share, of others. */
function sharedNumber({ text, module }: Scope): string {
  const { random } = text;
  const { row } = numbersOf(text);
  const a = random.pick(row);
  const b = random.chance(0.4) ? random.pick(row) : random.pick(["%gx", random.between(-3, 40)]);
  const opcode = random.pick([
    ...["add.s32", "sub.s32", "mul.lo.s32", "min.s32", "max.u32", "and.b32", "xor.b32", "shr.s32", "shr.u32"],
    ...["div.s32", "rem.u32", "selp.b32"],
  ]);
  switch (opcode) {
    case "shr.s32":
    case "shr.u32":
      return text.computed(opcode, a, random.between(0, 33));
    case "div.s32":
    case "rem.u32":
      // A divisor of some rows may be 0, which has a result.
      return text.computed(opcode, a, b);
    case "selp.b32":
      return text.computed(opcode, a, b, predicate({ text, module } as Scope, a));
    default:
      return text.computed(opcode, a, b);
  }
}

/** A number that goes on along a row. */
function evenNumber(scope: Scope): string {
  const { text, module } = scope;
  const { random } = text;
  const { row, any } = numbersOf(text);
  const a = random.pick(any);
  switch (random.below(6)) {
    case 0:
      return text.computed("add.s32", a, random.pick(any));
    case 1:
      return text.computed("sub.s32", a, random.pick(any));
    case 2:
      return text.computed("mad.lo.s32", random.pick(row), random.pick([module.block[0], "%gx", 3]), a);
    case 3:
      return text.computed("mul.lo.s32", a, random.pick([-1, 2, 3, 5, 2 ** 20, 2 ** 29 + 1]));
    case 4:
      return text.computed("shl.b32", a, random.between(0, 31));
    default:
      return text.computed("add.s32", a, random.pick(["%gx", random.between(-70, 70), 2 ** 31 - 9]));
  }
}

function predicate(scope: Scope, a: string): string {
  const { text, module } = scope;
  const { random } = text;
  const p = text.temporary(1);
  const bound = random.pick([...numbersOf(text).any, "%gx", module.block[0] - 1, random.between(-5, 40)]);
  const order = random.pick(["lt", "le", "gt", "ge", "eq", "ne"]);
  text.add(`setp.${order}.${random.pick(["s32", "s32", "u32"])} ${p}, ${a}, ${bound};`);
  return p;
}

/** A word of the input that every thread of the block has, also where its row begins at any multiple. */
function inputWord(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const [columns, rows] = module.block;
  // Four words of input belong to each thread of the first block.
  const words = 4 * module.threads;
  const x = text.computed("mov.u32", "%tid.x");
  const along = random.chance(0.8) ? x : text.computed("sub.s32", columns - 1, x);
  const down = text.computed("mov.u32", "%tid.y");
  const row = random.chance(0.7) ? down : text.computed("sub.s32", rows - 1, down);
  const odd = text.computed("and.b32", "%gx", 1);
  const length = random.pick([columns, columns + 1, text.computed("add.s32", odd, columns), 0, 1]);
  const last = (rows - 1) * (columns + 1) + columns - 1;
  const room = Math.max(0, words - 1 - last);
  const place = text.computed("add.s32", text.computed("mad.lo.s32", row, length, along), random.below(room + 1));
  // One that may be anywhere is cut off, lane by lane.
  const at = random.chance(0.8) ? place : text.computed("min.u32", evenNumber(scope), words - 1);
  const [base, address] = [text.temporary(64), text.temporary(64)];
  text.add(`ld.param.u64 ${base}, [input];`);
  if (random.chance(0.6)) text.add(`mad.wide.${random.pick(["u32", "s32"])} ${address}, ${at}, 4, ${base};`);
  else {
    const bytes = text.temporary(64);
    text.add(`cvt.${random.pick(["s64.s32", "u64.u32"])} ${bytes}, ${at};`, `shl.b64 ${bytes}, ${bytes}, 2;`);
    text.add(`add.s64 ${address}, ${base}, ${bytes};`);
  }
  text.add(`ld.global.u32 ${text.register(32)}, [${address}];`);
}

/** A loop whose counter begins with a number of the row, so that rows leave it at different times. */
function rowLoop(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const [i, p, top] = [text.temporary(32), text.temporary(1), text.label()];
  const first = text.computed("and.b32", random.pick(numbersOf(text).row), random.pick([1, 3, 7]));
  text.add(`mov.u32 ${i}, ${first};`);
  text.place(top);
  text.add(`mad.lo.u32 ${text.register(32)}, ${i}, ${random.pick([3, "%gx"])}, ${text.register(32)};`);
  text.add(`add.s32 ${i}, ${i}, ${random.between(1, 3)};`, `setp.lt.s32 ${p}, ${i}, ${random.between(4, 12)};`);
  text.add(`@${p} bra ${top};`, `xor.b32 ${text.register(32)}, ${text.register(32)}, ${i};`);
}

/** The low word of what is computed with 64 bits. */
function wide(scope: Scope): string {
  const { text } = scope;
  const { random } = text;
  const [a, low] = [text.temporary(64), text.temporary(32)];
  text.add(`mul.wide.${random.pick(["u32", "s32"])} ${a}, ${evenNumber(scope)}, ${random.pick([1, 4, 12, 65_536])};`);
  if (random.chance(0.5)) text.add(`add.s64 ${a}, ${a}, ${random.between(-9, 9)};`);
  if (random.chance(0.3)) text.add(`shr.u64 ${a}, ${a}, ${random.pick([1, 31, 32])};`);
  text.add(`cvt.u32.u64 ${low}, ${a};`);
  return low;
}

/** Computes with numbers of rows, chooses by them, and loads what they lead to, in all lanes or some. */
export function rows(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const { row, any } = numbersOf(text);
  for (let i = random.between(1, 3); i > 0; i--) {
    if (random.chance(0.5)) {
      const shared = sharedNumber(scope);
      row.push(shared);
      any.push(shared);
    } else any.push(evenNumber(scope));
  }
  const known = { row: row.length, any: any.length };
  const end = text.label();
  const isGuarded = random.chance(0.5);
  if (isGuarded) text.add(`@${random.chance(0.5) ? "!" : ""}${predicate(scope, random.pick(any))} bra ${end};`);
  inputWord(scope);
  if (random.chance(0.3)) rowLoop(scope);
  const number = random.chance(0.3) ? wide(scope) : random.pick(any);
  text.add(`xor.b32 ${text.register(32)}, ${text.register(32)}, ${number};`);
  text.place(end);
  // What is computed for some lanes may not have been where others ask for it.
  row.length = known.row;
  any.length = known.any;
  const p = predicate(scope, random.pick(any));
  if (random.chance(0.5)) text.add(`@${p} add.s32 ${text.register(32)}, ${text.register(32)}, ${random.pick(any)};`);
}
