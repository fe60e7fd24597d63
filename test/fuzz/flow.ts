import { blockUniform, condition } from "./compute.ts";
import { inside, type Scope } from "./scope.ts";

/** `@p ` or `@!p `, as whoever branches over code writes it. */
const unless = (p: string): string => `@!${p} `;

export function conditional(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const uniform = random.chance(scope.converged ? 0.4 : 0.1);
  const p = condition(scope, uniform);
  const [otherwise, end] = [text.label(), text.label()];
  const both = random.chance(0.5);
  text.add(`${unless(p)}bra${uniform && random.chance(0.3) ? ".uni" : ""} ${both ? otherwise : end};`);
  scope.statements(inside(scope, uniform), random.between(1, 3));
  if (both) {
    text.add(`bra ${end};`);
    text.place(otherwise);
    scope.statements(inside(scope, uniform), random.between(1, 3));
  }
  text.place(end);
}

/** A loop of at most four rounds. */
export function loop(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const uniform = random.chance(scope.converged ? 0.6 : 0.2);
  if (scope.level < 0 && random.chance(0.3)) {
    loopToLoaded(scope, uniform);
    return;
  }
  const count = text.temporary(32);
  if (random.chance(uniform ? 0.5 : 0)) text.add(`mov.u32 ${count}, ${random.between(1, 4)};`);
  else text.add(`and.b32 ${count}, ${uniform ? blockUniform(text) : text.register(32)}, 3;`);
  const [top, next, end] = [text.label(), text.label(), text.label()];
  const p = text.temporary(1);
  const before = random.chance(0.5);
  // A loop that tests at its end runs once more than it counts.
  text.place(top);
  if (before) text.add(`setp.eq.s32 ${p}, ${count}, 0;`, `@${p} bra ${end};`);
  scope.statements(inside(scope, uniform, { next, end }), random.between(1, 4));
  text.place(next);
  if (before) text.add(`sub.s32 ${count}, ${count}, 1;`, `bra${uniform ? ".uni" : ""} ${top};`);
  else text.add(`setp.ne.s32 ${p}, ${count}, 0;`, `sub.s32 ${count}, ${count}, 1;`, `@${p} bra ${top};`);
  text.place(end);
}

/** One that loads anew in each round how far it counts, as compilers write it where it stores something. */
function loopToLoaded(scope: Scope, uniform: boolean): void {
  const { text } = scope;
  const { random } = text;
  const [count, bound, at] = [text.temporary(32), text.temporary(32), text.temporary(64)];
  const [top, next, end] = [text.label(), text.label(), text.label()];
  const p = text.temporary(1);
  text.add(`mov.u32 ${count}, 0;`, `mad.wide.u32 ${at}, ${uniform ? random.below(4) : "%lt"}, 4, %input;`);
  text.place(top);
  scope.statements(inside(scope, uniform, { next, end }), random.between(1, 4));
  text.place(next);
  text.add(`ld.global.u32 ${bound}, [${at}];`, `and.b32 ${bound}, ${bound}, 3;`, `add.s32 ${count}, ${count}, 1;`);
  text.add(`setp.${random.pick(["lt", "le"])}.s32 ${p}, ${count}, ${bound};`, `@${p} bra ${top};`);
  text.place(end);
}

/** Out of a loop, on to its next round, or the same of a loop further out. */
export function jump(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const around = scope.loops[random.chance(0.8) ? 0 : scope.loops.length - 1]!;
  text.add(`@${condition(scope)} bra ${random.chance(0.5) ? around.next : around.end};`);
}

/** Some threads leave the function, or end. */
export function leave(scope: Scope): void {
  scope.leave!(`@${condition(scope)} `);
}

/** `brx.idx` over two to five cases, which may fall through. */
export function choice(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const cases = Array.from({ length: random.between(2, 5) }, () => text.label());
  const [end, list] = [text.label(), text.label()];
  const uniform = random.chance(0.2);
  const index = text.temporary(32);
  text.add(`rem.u32 ${index}, ${uniform ? blockUniform(text) : text.register(32)}, ${cases.length};`);
  text.add(`${list}: .branchtargets ${cases.map((c) => (random.chance(0.1) ? end : c)).join(", ")};`);
  text.add(`brx.idx ${index}, ${list};`);
  for (const label of cases) {
    text.place(label);
    // A case that falls through into one that others jump to.
    scope.statements(inside(scope, uniform), random.between(1, 2));
    if (random.chance(0.7)) text.add(`bra ${end};`);
  }
  text.place(end);
}

/** Blocks that jump to any of them, as a hash says, until the thread's fuel is used up: irreducible loops and all. */
export function graph(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const labels = Array.from({ length: random.between(3, 7) }, () => text.label());
  const [end, list] = [text.label(), text.label()];
  const [fuel, hash, bits, p] = [text.temporary(32), text.temporary(32), text.temporary(32), text.temporary(1)];
  text.add(`mov.u32 ${fuel}, ${random.between(4, 14)};`, `mov.b32 ${hash}, ${text.register(32)};`);
  if (random.chance(0.5)) text.add(`and.b32 ${bits}, ${text.register(32)}, 3;`, `add.u32 ${fuel}, ${fuel}, ${bits};`);
  text.add(`${list}: .branchtargets ${labels.join(", ")};`);
  const start = condition(scope);
  text.add(`@${start} bra ${random.pick(labels)};`);
  const body: Scope = { ...inside(scope, false), loops: [{ next: random.pick(labels), end }], nesting: 3 };
  for (const label of labels) {
    text.place(label);
    text.add(`sub.u32 ${fuel}, ${fuel}, 1;`, `setp.le.s32 ${p}, ${fuel}, 0;`, `@${p} bra ${end};`);
    text.add(`mad.lo.u32 ${hash}, ${hash}, 1103515245, ${random.below(65536)};`);
    scope.statements({ ...body, loops: [{ next: random.pick(labels), end }] }, random.between(1, 2));
    text.add(`shr.u32 ${bits}, ${hash}, ${random.between(12, 24)};`);
    switch (random.below(4)) {
      case 0:
        text.add(`rem.u32 ${bits}, ${bits}, ${labels.length};`, `brx.idx ${bits}, ${list};`);
        break;
      case 1:
        text.add(`bra ${random.pick(labels)};`);
        break;
      default:
        text.add(`and.b32 ${bits}, ${bits}, ${random.pick([1, 3])};`, `setp.eq.u32 ${p}, ${bits}, 0;`);
        text.add(`@${p} bra ${random.pick(labels)};`);
        if (random.chance(0.4)) text.add(`@!${p} bra ${random.pick(labels)};`);
    }
  }
  text.place(end);
}
