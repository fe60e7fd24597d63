import type { FunctionText } from "./function-text.ts";
import type { Scope } from "./scope.ts";

// A thread's place in a picture of several blocks, and its neighbours' places, which are clamped at the borders, go
// around, or are taken apart into rows and columns. In the interior of the grid compiled code may know how these end.

/** A place along the rows (axis 0) or columns (1); each register is written once, as compilers do. */
interface Place {
  readonly name: string;
  readonly axis: 0 | 1;
}

interface Picture {
  readonly places: Place[];
  /** Conditions are those of programs: what holds in the interior holds together. */
  readonly isPlausible: boolean;
}
const pictures = new WeakMap<FunctionText, Picture>();

function pictureOf(text: FunctionText): Picture {
  let picture = pictures.get(text);
  if (picture === undefined) pictures.set(text, (picture = { places: [], isPlausible: text.random.chance(0.8) }));
  return picture;
}

/** A thread's place in the grid, or that of a block's first thread. */
function ownPlace({ text, module }: Scope): Place {
  const { random } = text;
  const axis = random.chance(0.7) ? 0 : 1;
  const [block, thread] = axis === 0 ? (["%cx", "%tid.x"] as const) : (["%cy", "%tid.y"] as const);
  if (random.chance(0.2)) return { name: overlappingPlace(text, block, module.block[axis], thread), axis };
  const width = random.chance(0.8) ? module.block[axis] : random.between(1, module.block[axis]);
  const name = random.chance(0.15)
    ? text.computed("mul.lo.s32", block, width)
    : text.computed("mad.lo.s32", block, width, text.computed("mov.u32", thread));
  return { name, axis };
}

/** A thread's place, or that of its block's first one, where blocks overlap by a halo whose width the launch gives. */
function overlappingPlace(text: FunctionText, block: string, threads: number, thread: string): string {
  const { random } = text;
  const halo = random.chance(0.3) ? random.between(0, 3) : text.computed("and.b32", "%gx", random.pick([1, 3]));
  const step = text.computed("sub.s32", threads, text.computed("shl.b32", halo, 1));
  const first = text.computed("sub.s32", text.computed("mul.lo.s32", step, block), halo);
  return random.chance(0.2) ? first : text.computed("add.s32", first, text.computed("mov.u32", thread));
}

/** A place, or its opposite, where a place is negative; or where it is not: else 0, as the bits of the sign say. */
function chosenBySign(text: FunctionText, name: string): string {
  const { random } = text;
  const bits = text.computed("shr.s32", name, random.chance(0.9) ? 31 : random.between(28, 30));
  const signs = random.chance(0.5) ? bits : text.computed("not.b32", bits);
  const value = random.chance(0.5) ? name : text.computed("neg.s32", name);
  return random.chance(0.5) ? text.computed("and.b32", signs, value) : text.computed("and.b32", value, signs);
}

/** The length of a row or column: of all blocks, or a little more or less; or any. */
function length({ text, module }: Scope, axis: Place["axis"]): string | number {
  const { random } = text;
  if (!pictureOf(text).isPlausible && random.chance(0.4)) return random.between(1, 40);
  const whole = text.computed("mul.lo.s32", ["%gx", "%gy"][axis]!, module.block[axis]);
  return random.chance(0.3) ? whole : text.computed("add.s32", whole, random.between(-5, 5));
}

/** A condition on a place. */
function condition(scope: Scope, { name, axis }: Place): string {
  const { text } = scope;
  const { random } = text;
  const p = text.temporary(1);
  if (random.chance(0.15)) {
    text.add(`setp.gt.s32 ${p}, ${text.computed("or.b32", name, neighbour(scope).name)}, -1;`);
    return p;
  }
  const number = pictureOf(text).isPlausible ? random.between(-2, 3) : random.between(-9, 40);
  const bound = random.chance(0.5) ? number : length(scope, axis);
  const order = random.pick(["lt", "le", "gt", "ge", "eq", "ne"]);
  text.add(`setp.${order}.${random.pick(["s32", "s32", "u32"])} ${p}, ${name}, ${bound};`);
  return p;
}

/** A place near another one. */
function neighbour(scope: Scope): Place {
  const { text } = scope;
  const { random } = text;
  const { places } = pictureOf(text);
  const from = places.length > 0 && random.chance(0.7) ? random.pick(places) : ownPlace(scope);
  const { axis } = from;
  const name = random.chance(0.7) ? text.computed("add.s32", from.name, random.between(-5, 5)) : from.name;
  const moved = { name, axis };
  const type = random.pick(["s32", "s32", "u32"]);
  const end = (): string | number => length(scope, axis);
  const to = (): string => {
    switch (random.below(8)) {
      case 0:
        return text.computed("max.s32", name, random.between(-1, 3));
      case 1:
        return text.computed("min.s32", name, end());
      case 2:
        return text.computed("selp.b32", name, from.name, condition(scope, moved));
      case 3:
        return text.computed(`rem.${type}`, text.computed("add.s32", name, end()), end());
      case 4:
        return text.computed(`${random.pick(["div", "rem"])}.${type}`, name, end());
      case 5:
        return text.computed("sub.s32", end(), name);
      case 6:
        return chosenBySign(text, name);
      default:
        return name;
    }
  };
  const found = { name: to(), axis };
  places.push(found);
  return found;
}

/** Loads a word of the input, of whose number nothing is known; and perhaps counts with the number. */
function loadWord({ text, module }: Scope, at: string): void {
  const { random } = text;
  // Four words of input belong to each thread of the first block.
  const word = text.computed("min.u32", at, 4 * module.threads - 1);
  const [base, address] = [text.temporary(64), text.temporary(64)];
  text.add(`ld.param.u64 ${base}, [input];`, `mad.wide.u32 ${address}, ${word}, 4, ${base};`);
  text.add(`ld.global.u32 ${text.register(32)}, [${address}];`);
  if (random.chance(0.3)) text.add(`add.s32 ${text.register(32)}, ${text.register(32)}, ${at};`);
}

/** Visits the neighbours of a place one after the other, each clamped, as by a window whose width the launch gives. */
function window(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const { name, axis } = ownPlace(scope);
  const [count, p, top] = [text.temporary(32), text.temporary(1), text.label()];
  const bounds: readonly (readonly [string, string | number])[] = [
    ["max.s32", random.between(-1, 2)],
    ["min.s32", length(scope, axis)],
  ];
  text.add(`mov.u32 ${count}, ${random.between(-3, 0)};`);
  text.place(top);
  const near = text.computed("add.s32", name, count);
  const ordered = random.chance(0.7) ? bounds : bounds.toReversed();
  const clamped = ordered.reduce((place, [clamp, bound]) => text.computed(clamp, place, bound), near);
  // What the place was computed from may be another number by then.
  const isChanged = random.chance(0.3);
  if (isChanged) text.add(`add.s32 ${count}, ${count}, 1;`);
  loadWord(scope, clamped);
  if (!isChanged) text.add(`add.s32 ${count}, ${count}, 1;`);
  text.add(`setp.le.s32 ${p}, ${count}, ${random.between(0, 3)};`, `@${p} bra ${top};`);
}

/** Loads a word of the input at a neighbour's place, or computes with it, in all lanes or some. */
export function border(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const picture = pictureOf(text);
  const before = { ...picture, places: [...picture.places] };
  const guarded = random.chance(0.3);
  const end = text.label();
  if (guarded) text.add(`@${random.chance(0.5) ? "!" : ""}${condition(scope, neighbour(scope))} bra ${end};`);
  if (random.chance(0.25)) window(scope);
  for (let i = random.between(1, 3); i > 0; i--) {
    const [row, column] = [neighbour(scope).name, neighbour(scope).name];
    const at = text.computed("mad.lo.s32", row, random.pick([1, module.block[0], "%gx"]), column);
    loadWord(scope, at);
  }
  text.place(end);
  // What is computed for some lanes may not have been where others ask for it.
  if (guarded) pictures.set(text, before);
}
