import type { Scope } from "./scope.ts";

// The numbers of threads in the block and in the grid, taken apart into those of warps and of lanes within them, as
// programs do in which a warp works on a row: quotients and rests by powers of two, signed and unsigned, sums with
// multiples. Compiled code may find that all lanes of a chunk agree on them, and branches and loops depend on it.

/** A result of an instruction, written once as compilers do. */
const powers = [8, 16, 16, 32, 32, 32, 64, 128, 512] as const;

/** What all threads of a block share: a multiple of a power of two, or any number. */
function shared({ text, module }: Scope): string | number {
  const { random } = text;
  const by = random.pick([...powers, 1, 3, 24, module.block[0], module.threads]);
  return random.chance(0.4) ? by * random.below(5) : text.computed("mul.lo.u32", random.pick(["%cx", "%gx"]), by);
}

/** The number of a thread: in its block, its row or the grid; or a sum with it. */
function number(scope: Scope): string {
  const { text } = scope;
  const { random } = text;
  switch (random.below(7)) {
    case 6:
      return text.computed("mul.lo.s32", number(scope), random.pick([2, 4, 8, 16, 3, -4]));
    case 0:
      return text.computed("mov.u32", "%tid.x");
    case 1:
      return "%lt";
    case 2:
      return text.computed(
        "mad.lo.s32",
        "%cx",
        text.computed("mov.u32", "%ntid.x"),
        text.computed("mov.u32", "%tid.x"),
      );
    case 3:
      return "%gid";
    case 4:
      return text.computed(random.pick(["sub.s32", "add.s32"]), number(scope), shared(scope));
    default:
      return text.computed("add.s32", number(scope), random.between(-33, 33));
  }
}

/** A number taken apart: a quotient, a rest, where a row of lanes begins, or what is left of that. */
function part(scope: Scope, whole = number(scope)): string {
  const { text } = scope;
  const { random } = text;
  const by = random.pick(powers);
  const bits = Math.log2(by);
  switch (random.below(7)) {
    case 0:
      return text.computed(random.pick(["shr.u32", "shr.s32"]), whole, bits);
    case 1:
      return text.computed("and.b32", whole, random.pick([by - 1, -by, by]));
    case 2: {
      // As compilers write a signed quotient, or what it leaves.
      const sign = text.computed("shr.u32", text.computed("shr.s32", whole, 31), 32 - bits);
      const sum = text.computed("add.s32", whole, sign);
      const quotient = text.computed("shr.s32", sum, bits);
      return random.chance(0.5) ? quotient : text.computed("sub.s32", whole, text.computed("and.b32", sum, -by));
    }
    case 3:
      return text.computed(`${random.pick(["div", "rem"])}.${random.pick(["s32", "u32"])}`, whole, by);
    case 4:
      return text.computed("sub.s32", whole, part(scope, whole));
    case 5:
      return text.computed(random.pick(["or.b32", "xor.b32"]), whole, shared(scope));
    default:
      return part(scope, text.computed("add.s32", whole, shared(scope)));
  }
}

/** Computes with a part of a number, in all lanes or some, once or in rounds that begin with it. */
export function warpNumber(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const end = text.label();
  if (random.chance(0.4)) {
    const p = text.temporary(1);
    const bound = random.chance(0.5) ? shared(scope) : part(scope);
    const order = random.pick(["lt", "le", "gt", "ge", "eq", "ne"]);
    text.add(
      `setp.${order}.${random.pick(["s32", "u32"])} ${p}, ${random.chance(0.5) ? number(scope) : part(scope)}, ${bound};`,
    );
    text.add(`@${random.chance(0.5) ? "!" : ""}${p} bra ${end};`);
  }
  const from = part(scope);
  const result = text.register(32);
  if (random.chance(0.5)) {
    const [i, p, again] = [text.temporary(32), text.temporary(1), text.label()];
    const step = random.pick([1, 32, 64]);
    const bound = text.computed("add.s32", part(scope), step * random.between(0, 3));
    const last = text.computed("min.s32", bound, text.computed("add.s32", from, 4 * step));
    text.add(`mov.u32 ${i}, ${from};`);
    text.place(again);
    text.add(`mad.lo.u32 ${result}, ${result}, 3, ${i};`, `add.s32 ${i}, ${i}, ${step};`);
    text.add(`setp.lt.s32 ${p}, ${i}, ${last};`, `@${p} bra ${again};`);
  } else text.add(`mad.lo.u32 ${result}, ${result}, 5, ${from};`);
  text.place(end);
}
