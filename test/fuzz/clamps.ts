import type { FunctionText } from "./function-text.ts";
import type { Scope } from "./scope.ts";

// Places that grow from thread to thread, clamped between two borders, and what lies there in shared or global memory.
// Borders, and the array of a thread, are chosen by operations or by branches.
// Places are computed where they are used, or long before: a barrier, a loop or another value in the register that they
// were computed of may stand between.

/** A place within an array, whatever the numbers are of which it is computed: its register, and those of these. */
interface Place {
  readonly name: string;
  readonly from: readonly string[];
}

const kept = new WeakMap<FunctionText, Place[]>();

/** Elements of the array in shared memory, and of as many of the input. */
const elements = ({ module }: Scope): number => 2 * module.threads;

/** A number that grows by one from thread to thread of a row, for the most part. */
function growing({ text, module }: Scope, counter: string | null): readonly string[] {
  const { random } = text;
  const number = (): string =>
    text.computed("mov.u32", random.pick(["%tid.x", "%tid.x", "%tid.x", "%tid.y", "%laneid"]));
  const parts = [random.chance(0.8) ? number() : "%lt"];
  const add = (value: string | number): void => {
    const opcode = random.chance(0.85) || typeof value === "number" ? "add.s32" : "sub.s32";
    parts.push(text.computed(opcode, parts.at(-1)!, value));
  };
  for (let i = random.between(0, 2); i > 0; i--) {
    const [block] = module.block;
    const row = (): string => text.computed("mul.lo.s32", text.computed("mov.u32", "%tid.y"), random.pick([1, block]));
    const blocks = (): string => text.computed("mul.lo.s32", "%cx", random.pick([1, block]));
    const loaded = (): string => text.computed("and.b32", text.register(32, true), 7);
    add(
      random.pick([
        () => random.between(-4, 4),
        () => random.between(-4, 4),
        () => counter ?? 1,
        () => counter ?? -1,
        row,
        blocks,
        loaded,
      ])(),
    );
  }
  if (random.chance(0.1)) parts.push(text.computed("mul.lo.s32", parts.at(-1)!, random.pick([-1, 2, 3])));
  if (random.chance(0.1)) parts.push(text.computed("sub.s32", random.between(0, 60), parts.at(-1)!));
  if (random.chance(0.15)) parts.push(inHalf(text, parts.at(-1)!));
  return parts;
}

/** The low half of a word, widened again. */
function inHalf(text: FunctionText, word: string): string {
  const { random } = text;
  const half = text.temporary(16);
  const from = random.chance(0.6) ? word : text.computed("add.s32", word, random.pick([32760, 65530, -3]));
  text.add(`cvt.u16.u32 ${half}, ${from};`);
  return text.computed(`cvt.${random.pick(["u32.u16", "s32.s16"])}`, half);
}

/** The least or the greatest of a place and a border, in one of the forms that compilers know. */
function bounded(text: FunctionText, place: string, border: string | number, isLow: boolean, sign: "s" | "u"): string {
  const { random } = text;
  if (random.chance(0.6)) return text.computed(`${isLow ? "max" : "min"}.${sign}32`, place, border);
  const [p, wanted] = [text.temporary(1), random.chance(0.5)];
  const inside = isLow ? random.pick(["gt", "ge"]) : random.pick(["lt", "le"]);
  const outside = { gt: "le", ge: "lt", lt: "ge", le: "gt" }[inside];
  text.add(`setp.${wanted ? inside : outside}.${sign}32 ${p}, ${place}, ${border};`);
  const [yes, no] = wanted ? [place, border] : [border, place];
  return random.chance(0.5) ? text.computed("selp.b32", yes, no, p) : branched(text, p, yes, no);
}

/** One of two numbers, by a branch; perhaps one of the two lies behind a further branch. */
function branched(text: FunctionText, p: string, yes: string | number, no: string | number): string {
  const { random } = text;
  const [to, other, join] = [text.temporary(32), text.label(), text.label()];
  const set = (value: string | number): void => {
    const [far, q, past] = [random.between(-9, 9), text.temporary(1), text.label()];
    if (random.chance(0.7)) text.add(`mov.b32 ${to}, ${value};`);
    else text.add(`add.s32 ${to}, ${value}, ${far};`, `add.s32 ${to}, ${to}, ${-far};`);
    if (random.chance(0.8)) return;
    text.add(
      `setp.${random.pick(["lt", "ge", "eq"])}.u32 ${q}, ${random.pick(["%lt", to])}, ${random.between(1, 16)};`,
    );
    text.add(`@${q} bra ${past};`, `mov.b32 ${to}, ${random.pick([yes, no])};`);
    if (random.chance(0.2)) text.add(`not.pred ${p}, ${p};`);
    text.place(past);
  };
  if (random.chance(0.3)) {
    set(no);
    text.add(`@!${p} bra ${join};`);
  } else {
    text.add(`@${p} bra ${other};`);
    set(no);
    text.add(`bra ${join};`);
    text.place(other);
  }
  set(yes);
  text.place(join);
  return to;
}

/** Where an array in shared memory begins, or another one for some threads of a block. */
function arrayFor(scope: Scope): string {
  const { text, module } = scope;
  const { random } = text;
  const usual = text.computed("mov.u32", "cl");
  if (random.chance(0.7)) return usual;
  const other = text.computed("mov.u32", module.shared("cm", 8 * (elements(scope) + 1)));
  const p = text.temporary(1);
  const number = text.computed("mov.u32", random.pick(["%tid.x", "%tid.x", "%tid.y", "%cx"]));
  text.add(`setp.${random.pick(["eq", "lt", "ge"])}.u32 ${p}, ${number}, ${random.between(0, 16)};`);
  return branched(text, p, usual, other);
}

/** A place within an array. `counter`: a number that all threads share, and that changes. */
function placeIn(scope: Scope, counter: string | null): Place {
  const { text } = scope;
  const { random } = text;
  const parts = [...growing(scope, counter)];
  const last = elements(scope) - 1;
  const [low, high] = [
    random.chance(0.7) ? 0 : random.between(0, 3),
    random.chance(0.5) ? last : random.between(4, last),
  ];
  const sign = random.chance(0.75) ? "s" : "u";
  // Numbers near the ends of those with a sign, or without: they wrap around within a chunk.
  const far = random.chance(0.2)
    ? random.pick(sign === "s" ? [-(2 ** 31), 2 ** 31 - 1 - last] : [2 ** 32 - 1 - last])
    : 0;
  const near = random.between(-8, 8);
  if (far !== 0) parts.push(text.computed("add.s32", parts.at(-1)!, (far + near) | 0));
  const borders = [
    [low + far, true],
    [high + far, false],
  ] as const;
  let name = parts.at(-1)!;
  for (const [border, isLow] of random.chance(0.5) ? borders : borders.toReversed()) {
    const from = random.chance(0.7) ? border : text.computed("mov.b32", border);
    name = bounded(text, name, from, isLow, sign);
  }
  if (far !== 0) name = text.computed("sub.s32", name, far | 0);
  return { name, from: parts };
}

const sizes = [
  ["u8", 1],
  ["s8", 1],
  ["u16", 2],
  ["b32", 4],
  ["b32", 4],
  ["b32", 4],
  ["b64", 8],
] as const;

/** Loads the element at a place, and perhaps the next one. */
function load(scope: Scope, { name }: Place): void {
  const { text, module } = scope;
  const { random } = text;
  const [type, bytes] = random.pick(sizes);
  const isShared = module.has("cl") && random.chance(0.6);
  const to = text.temporary(bytes === 8 ? 64 : 32);
  const at = random.chance(0.8) ? 0 : bytes;
  if (isShared) {
    const address = text.computed("mad.lo.s32", name, bytes, arrayFor(scope));
    text.add(`ld.shared.${type} ${to}, [${address}+${at}];`);
  } else {
    const address = text.temporary(64);
    if (random.chance(0.5)) text.add(`mad.wide.${random.pick(["s32", "u32"])} ${address}, ${name}, ${bytes}, %input;`);
    else text.add(`cvt.u64.u32 ${address}, ${name};`, `mad.lo.s64 ${address}, ${address}, ${bytes}, %input;`);
    text.add(`ld.global.${type} ${to}, [${address}+${at}];`);
  }
  const word = bytes === 8 ? text.temporary(32) : to;
  if (bytes === 8) text.add(`cvt.u32.u64 ${word}, ${to};`);
  const sum = text.register(32);
  text.add(`mad.lo.u32 ${sum}, ${sum}, 31, ${word};`);
}

/** Fills an array in shared memory; each thread has two elements. */
function fill(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const name = module.shared("cl", 8 * (elements(scope) + 1));
  const clamped = random.chance(0.5) ? text.computed("min.u32", "%lt", module.threads - 1) : "%lt";
  const mine = text.computed("mad.lo.s32", clamped, 16, text.computed("mov.u32", name));
  text.add("bar.sync 0;");
  text.add(`st.shared.b64 [${mine}], ${text.register(64)};`, `st.shared.b32 [${mine}+8], ${text.register(32)};`);
  text.add(`st.shared.b32 [${mine}+12], %lt;`);
  text.add("bar.sync 0;");
}

/** Computes places and loads what is there. */
export function clamped(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const isTogether = scope.converged && scope.level < 0 && scope.nesting === 0;
  let places = kept.get(text);
  if (places === undefined) kept.set(text, (places = []));
  // What is computed for some threads may not have been where others ask for it.
  if (!isTogether) places = [...places];
  /** What a place was computed of may be another number by then. */
  const change = ({ from }: Place): void => {
    const number = random.pick(from);
    if (!number.startsWith("%l")) text.add(`add.s32 ${number}, ${number}, ${random.between(1, 3)};`);
  };
  const use = (counter: string | null): void => {
    if (places.length === 0 || random.chance(0.7)) places.push(placeIn(scope, counter));
    for (let i = random.between(1, 2); i > 0; i--) {
      if (random.chance(0.2)) change(random.pick(places));
      if (isTogether && random.chance(0.5)) {
        if (random.chance(0.5)) fill(scope);
        else text.add("bar.sync 0;");
      }
      for (let of = random.between(1, 2); of > 0; of--) load(scope, random.pick(places));
    }
  };
  if (!isTogether || random.chance(0.6)) {
    use(null);
    return;
  }
  const [count, p, top] = [text.temporary(32), text.temporary(1), text.label()];
  const before = [...places];
  text.add(`mov.u32 ${count}, ${random.between(-2, 1)};`);
  text.place(top);
  use(count);
  text.add(`add.s32 ${count}, ${count}, 1;`, `setp.lt.s32 ${p}, ${count}, 3;`, `@${p} bra ${top};`);
  if (random.chance(0.5)) places.splice(0, places.length, ...before);
}
