import { inside, type Scope } from "./scope.ts";

// What the numbers of a block's threads rule out: rounds of loops over tiles of one size, as compilers unroll them, and
// conditions that all threads of a block meet, or none, or none of those that come there.

/** A number that follows from a thread's numbers, of 32 bits or of fewer, perhaps from one that only some threads write. */
function number({ text, module }: Scope): string {
  const { random } = text;
  const [x, y, z] = module.block;
  let value = text.computed(
    "mov.u32",
    random.pick(["%tid.x", "%tid.x", "%tid.y", "%tid.z", "%lt", "%ntid.x", "%laneid"]),
  );
  for (let i = random.below(4); i > 0; i--) {
    const opcode = random.pick([
      "add.s32",
      "sub.s32",
      "mul.lo.s32",
      "and.b32",
      "shr.u32",
      "shr.s32",
      "max.s32",
      "min.u32",
    ]);
    const by = opcode.startsWith("sh") ? random.below(9) : random.pick([1, 3, 4, x, y, z, module.threads, -2, 2 ** 31]);
    value = text.computed(opcode, value, by);
  }
  if (random.chance(0.2)) {
    const [half, wide] = [text.temporary(16), text.temporary(32)];
    text.add(`cvt.u16.u32 ${half}, ${value};`, `cvt.${random.pick(["s32.s16", "u32.u16"])} ${wide}, ${half};`);
    return wide;
  }
  return value;
}

/** A condition of such a number, or of two; sometimes written once more, by some threads, or of data. */
function condition(scope: Scope): string {
  const { text, module } = scope;
  const { random } = text;
  const p = text.temporary(1);
  const test = (): string => {
    const order = random.pick(["lt", "le", "gt", "ge", "eq", "ne"]);
    const bound = random.pick([...module.block, module.threads, 31, 16, 0, -1]) + random.between(-1, 1);
    return `setp.${order}.${random.pick(["s32", "u32"])} ${p}, ${number(scope)}, ${bound};`;
  };
  text.add(test());
  if (random.chance(0.15)) text.add(`@${random.chance(0.5) ? "!" : ""}${p} ${test()}`);
  if (random.chance(0.3)) {
    const q = text.temporary(1);
    text.add(`setp.lt.s32 ${q}, ${random.chance(0.5) ? number(scope) : text.register(32)}, ${module.threads};`);
    text.add(`${random.pick(["and", "or", "xor"])}.pred ${p}, ${p}, ${q};`);
  }
  return p;
}

/** Code that a condition leaves out, with more of it inside. */
function part(scope: Scope, depth: number): void {
  const { text } = scope;
  const { random } = text;
  const [otherwise, end] = [text.label(), text.label()];
  const p = condition(scope);
  text.add(`@${random.chance(0.5) ? "!" : ""}${p} bra ${otherwise};`);
  scope.statements(inside(scope, false), 1);
  if (depth > 0 && random.chance(0.6)) part(inside(scope, false), depth - 1);
  if (random.chance(0.4)) text.add(`bra ${end};`);
  text.place(otherwise);
  const [to, from] = [text.register(32), text.register(32)];
  text.add(`@${random.chance(0.5) ? "!" : ""}${p} add.s32 ${to}, ${to}, ${from};`);
  text.place(end);
}

/** `for (i = number; i < limit; i += step)`, with the rounds that are left over before those of four at a time. */
function unrolled(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const step = random.pick([module.block[0], module.threads, 16, 32]);
  const limit = random.pick([1, 2, 3, 5, 9]) * step + random.between(-step + 1, step - 1);
  const first = text.computed("and.b32", number(scope), 127);
  const [p, again, rest, end] = [text.temporary(1), text.label(), text.label(), text.label()];
  const i = text.computed("mov.u32", first);
  const sum = text.computed("mov.u32", text.register(32));
  text.add(`setp.ge.s32 ${p}, ${first}, ${limit};`, `@${p} bra ${end};`);
  const length = text.computed("sub.s32", text.computed("max.s32", first, limit - step), first);
  const count = text.computed("div.u32", text.computed("add.s32", length, step - 1), step);
  const left = text.computed("and.b32", text.computed("add.u32", count, 1), 3);
  const round = (): void => {
    text.add(`mad.lo.u32 ${sum}, ${sum}, 3, ${i};`, `add.s32 ${i}, ${i}, ${step};`);
  };
  for (let k = 0; k < 3; k++) {
    text.add(`setp.eq.s32 ${p}, ${left}, ${k};`, `@${p} bra ${rest};`);
    round();
  }
  text.place(rest);
  text.add(`setp.lt.u32 ${p}, ${count}, 3;`, `@${p} bra ${end};`);
  text.place(again);
  for (let k = 0; k < 4; k++) round();
  text.add(`setp.lt.s32 ${p}, ${i}, ${limit};`, `@${p} bra ${again};`);
  text.place(end);
  text.add(`xor.b32 ${text.register(32)}, ${sum}, ${i};`);
}

/** A loop of which data says how often, in which a number of the thread, or of the round before, decides. */
function inRounds(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const [i, p, top] = [text.temporary(32), text.temporary(1), text.label()];
  text.add(`and.b32 ${i}, ${text.register(32)}, 3;`);
  const kept = text.computed("mov.u32", number(scope));
  text.place(top);
  part(inside(scope, false), 1);
  const q = text.temporary(1);
  text.add(`setp.gt.s32 ${q}, ${kept}, ${random.pick([0, 31, 500])};`);
  text.add(`@${q} xor.b32 ${text.register(32)}, ${text.register(32)}, ${kept};`);
  if (random.chance(0.7)) text.add(`add.s32 ${kept}, ${kept}, ${random.pick([1, 64, -40])};`);
  text.add(`add.s32 ${i}, ${i}, -1;`, `setp.gt.s32 ${p}, ${i}, 0;`, `@${p} bra ${top};`);
}

export function fixedRounds(scope: Scope): void {
  const { random } = scope.text;
  random.pick([unrolled, unrolled, inRounds, (of: Scope): void => part(of, 2)])(scope);
}
