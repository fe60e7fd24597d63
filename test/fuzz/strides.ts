import type { Scope } from "./scope.ts";

/**
 * A loop in which each thread takes every n-th word of a row, as compilers unroll it by four: the rounds are counted
 * before it, and those that are left over come first. The row may end where the threads of a block have as many rounds
 * each, or elsewhere; and n may be fewer than the threads of a row of the block.
 */
export function strides({ text, module }: Scope): void {
  const { random } = text;
  const axis = random.chance(0.8) ? 0 : 1;
  const bits = Math.max(1, Math.ceil(Math.log2(module.block[axis])) + random.pick([0, 0, 0, 1, -1]));
  const stride = 2 ** bits;
  const whole = text.computed("mul.lo.s32", random.chance(0.8) ? "%gx" : random.between(1, 9), stride);
  const n = random.chance(0.5) ? whole : text.computed("add.s32", whole, random.between(-stride - 2, 3));
  const i = text.computed("mov.u32", axis === 0 ? "%tid.x" : "%tid.y");
  const [p, end, fours] = [text.temporary(1), text.label(), text.label()];
  if (random.chance(0.8)) text.add(`setp.ge.s32 ${p}, ${i}, ${n};`, `@${p} bra ${end};`);
  const last = random.chance(0.7)
    ? text.computed("add.s32", text.computed("not.b32", i), n)
    : text.computed("add.s32", text.computed("sub.s32", n, i), -1);
  const count = text.computed(`shr.${random.pick(["u32", "s32"])}`, last, bits);
  const rest = text.computed("and.b32", text.computed("add.s32", count, 1), 3);
  const sum = text.register(32);
  // Four words of input belong to each thread of the first block.
  const take = (ahead: number): void => {
    const at = text.computed("min.u32", text.computed("add.s32", i, ahead * stride), 4 * module.threads - 1);
    const [base, address, word] = [text.temporary(64), text.temporary(64), text.temporary(32)];
    text.add(`ld.param.u64 ${base}, [input];`, `mad.wide.u32 ${address}, ${at}, 4, ${base};`);
    text.add(`ld.global.u32 ${word}, [${address}];`, `mad.lo.u32 ${sum}, ${sum}, 3, ${word};`);
  };
  const turn = (rounds: number, again: string): void => {
    const next = text.label();
    text.place(next);
    for (let ahead = 0; ahead < rounds; ahead++) take(ahead);
    text.add(`add.s32 ${i}, ${i}, ${rounds * stride};`, again, `@${p} bra ${next};`);
  };
  text.add(`setp.eq.s32 ${p}, ${rest}, 0;`, `@${p} bra ${fours};`);
  turn(1, `add.s32 ${rest}, ${rest}, -1; setp.ne.s32 ${p}, ${rest}, 0;`);
  text.place(fours);
  const [order, limit] = random.pick([
    ["lt", 0],
    ["le", -1],
    ["lt", random.between(-9, 9)],
  ] as const);
  text.add(`setp.${order}.${random.pick(["u32", "s32"])} ${p}, ${last}, ${3 * stride + limit};`, `@${p} bra ${end};`);
  turn(4, `setp.lt.s32 ${p}, ${i}, ${n};`);
  text.place(end);
  if (random.chance(0.3)) text.add(`mad.lo.u32 ${sum}, ${sum}, 5, ${random.pick([i, count])};`);
}
