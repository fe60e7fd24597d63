import type { FunctionText } from "./function-text.ts";
import { streamBytes } from "./module-text.ts";
import type { Scope } from "./scope.ts";

// Arithmetic with bytes and halves between loads and stores of them, as in pictures and texts: it wraps around at 8 and
// at 16 bits, has signs or none, and some of it is guarded, or done in loops that each thread leaves after other rounds.

type Bits = 16 | 32;

interface Values {
  readonly numbers: Readonly<Record<Bits, string[]>>;
  readonly predicates: string[];
}

/** Arrays of halves that a stream has room for. */
const mostSlots = streamBytes / 2;

/** Constants at the ends of ranges. */
const constants = [0, 1, 2, 3, 7, 15, 16, 127, 128, 129, 255, 256, 300, 511, 32767, 32768, 65535, -1, -2, -128, -129];

const binary = ["add.s", "add.u", "sub.s", "sub.u", "mul.lo.s", "min.s", "min.u", "max.s", "max.u"] as const;
const bitwise = ["and.b", "or.b", "xor.b", "shl.b", "shr.s", "shr.u"] as const;

export function bytes(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const threads = module.threads * module.blocks;
  const base = text.temporary(64);
  text.add(`add.s64 ${base}, %stream, ${module.takeStream() * threads * streamBytes};`);
  const index = text.computed("mov.u32", "%gid");
  const [p, end] = [text.temporary(1), text.label()];
  const isShort = random.chance(0.5);
  const guard = `setp.ge.u32 ${p}, ${index}, ${threads - random.below(Math.min(threads, 40))};`;
  if (isShort) text.add(guard, `@${p} bra ${end};`);
  const values: Values = { numbers: { 16: [], 32: [] }, predicates: [] };
  for (let i = random.between(2, 5); i > 0; i--) load(text, values, index);
  if (random.chance(0.3)) loadLong(text, values, index);
  let slots = 0;
  const parts = random.between(2, 5);
  for (let i = 0; i < parts; i++) {
    part(text, values, index);
    if (!isShort && scope.converged && scope.level < 0 && scope.nesting === 0 && random.chance(0.15))
      text.add("bar.sync 0;");
    if (random.chance(0.4) || i === parts - 1) store(text, values, { index, base, at: 2 * slots++ * threads });
    if (slots === mostSlots) break;
  }
  if (isShort) text.place(end);
  // Where threads have left, nothing is known of the rest.
  else for (let i = random.between(0, 2); i > 0; i--) wide(text, values);
}

function load(text: FunctionText, values: Values, index: string): void {
  const { random } = text;
  const type = random.pick(["u8", "u8", "u8", "s8", "u16", "s16"] as const);
  const size = Number(type.slice(1)) / 8;
  const bits = random.pick([16, 16, 32] as const);
  const address = text.temporary(64);
  const at = random.chance(0.8) ? index : text.computed("min.u32", index, random.between(0, 60));
  const step = random.pick([1, 1, 1, 1, 1, 2, 3]);
  text.add(`mad.wide.u32 ${address}, ${at}, ${size * step}, %input;`);
  const to = add(text, values, bits);
  text.add(`ld.global.${type} ${to}, [${address}+${size * random.below(9)}];`);
}

/** A number of 64 bits from bytes, mostly lowest first: some of its words are added to what is known. */
function loadLong(text: FunctionText, values: Values, index: string): void {
  const { random } = text;
  const address = text.temporary(64);
  const at = random.pick([() => index, () => index, () => text.computed("and.b32", index, 15), () => "3"])();
  text.add(`mad.wide.u32 ${address}, ${at}, ${random.pick([1, 4, 8, 8, 16, 16])}, %input;`);
  const first = random.below(9);
  const order = [0, 1, 2, 3, 4, 5, 6, 7];
  const [a, b] = [random.below(8), random.below(8)];
  // Another byte is in the place of one, or two have been exchanged.
  const change = random.below(6);
  if (change === 0) order[a] = b;
  if (change === 1) [order[a], order[b]] = [order[b]!, order[a]!];
  const loaded = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => {
    const to = text.temporary(32);
    text.add(`ld.global.u8 ${to}, [${address}+${first + i}];`);
    if (random.chance(0.1)) values.numbers[32].push(to);
    return to;
  });
  const long = (i: number): string => {
    const to = text.temporary(64);
    text.add(`cvt.u64.u32 ${to}, ${loaded[order[i]!]!};`);
    return to;
  };
  const sum = long(0);
  for (let i = 1; i < 8; i++) {
    const part = long(i);
    if (random.chance(0.3)) text.add(`mul.lo.u64 ${part}, ${part}, ${2n ** BigInt(8 * i)};`);
    else text.add(`shl.b64 ${part}, ${part}, ${8 * i};`);
    text.add(`${random.pick(["or.b64", "add.s64", "xor.b64"])} ${sum}, ${sum}, ${part};`);
  }
  const [low, high] = [add(text, values, 32), add(text, values, 32)];
  text.add(`mov.b64 {${low}, ${high}}, ${sum};`);
}

/** A few operations, which some threads leave out or repeat. */
function part(text: FunctionText, values: Values, index: string): void {
  const { random } = text;
  const some = (most: number): void => {
    for (let i = random.between(1, most); i > 0; i--) compute(text, values);
  };
  const [next, end] = [text.label(), text.label()];
  switch (random.below(5)) {
    case 0: {
      text.add(`@${random.chance(0.5) ? "!" : ""}${condition(text, values)} bra ${end};`);
      forSome(values, () => some(5));
      if (random.chance(0.3)) load(text, { numbers: { 16: [], 32: [] }, predicates: [] }, index);
      text.place(end);
      return;
    }
    case 1: {
      const count = text.computed("and.b32", number(text, values, 32), 3);
      const p = text.temporary(1);
      text.place(next);
      text.add(`setp.eq.s32 ${p}, ${count}, 0;`, `@${p} bra ${end};`);
      forSome(values, () => some(4));
      text.add(`sub.s32 ${count}, ${count}, 1;`, `bra ${next};`);
      text.place(end);
      return;
    }
    default:
      some(7);
  }
}

/** Writes code that some threads leave out: what is new there is unknown to the others. */
function forSome({ numbers, predicates }: Values, write: () => void): void {
  const all = [numbers[16], numbers[32], predicates];
  const lengths = all.map(({ length }) => length);
  write();
  for (const [i, list] of all.entries()) list.length = lengths[i]!;
}

function add(text: FunctionText, { numbers }: Values, bits: Bits): string {
  const to = text.temporary(bits);
  numbers[bits].push(to);
  return to;
}

/** A known value of some width, which is made if there is none. */
function number(text: FunctionText, values: Values, bits: Bits): string {
  const known = values.numbers[bits];
  if (known.length > 0 && text.random.chance(0.9)) return text.random.pick(known);
  const to = text.temporary(bits);
  text.add(`mov.b${bits} ${to}, ${constant(text, bits)};`);
  return to;
}

const constant = ({ random }: FunctionText, bits: Bits): number => {
  const value = random.pick(constants);
  return bits === 16 ? value & 0xffff : value;
};

const operand = (text: FunctionText, values: Values, bits: Bits): string | number =>
  text.random.chance(0.3) ? constant(text, bits) : number(text, values, bits);

/** Where a result goes: most often to a new register, else to one that has been written before. */
function destination(text: FunctionText, values: Values, bits: Bits): { readonly to: string; readonly guard: string } {
  const { random } = text;
  const known = values.numbers[bits];
  if (known.length > 0 && random.chance(0.35)) {
    const guard = values.predicates.length > 0 && random.chance(0.4) ? `@${random.pick(values.predicates)} ` : "";
    return { to: random.pick(known), guard };
  }
  return { to: text.temporary(bits), guard: "" };
}

function compute(text: FunctionText, values: Values): void {
  const { random } = text;
  const bits = random.pick([16, 32] as const);
  const other = bits === 16 ? 32 : 16;
  const { to, guard } = destination(text, values, bits);
  const a = number(text, values, bits);
  const sign = random.pick(["s", "u"]);
  const line = (): string => {
    switch (random.below(12)) {
      case 0:
      case 1:
      case 2:
        return `${random.pick(binary)}${bits} ${to}, ${a}, ${operand(text, values, bits)};`;
      case 3: {
        const op = random.pick(bitwise);
        const isShift = op.startsWith("sh");
        return `${op}${bits} ${to}, ${a}, ${isShift ? random.between(0, 17) : operand(text, values, bits)};`;
      }
      case 4:
        return `and.b${bits} ${to}, ${a}, ${random.pick([1, 3, 15, 127, 255, 510, 4095])};`;
      case 5:
        return `selp.b${bits} ${to}, ${a}, ${operand(text, values, bits)}, ${condition(text, values)};`;
      case 6:
        return `${random.pick(["abs", "neg"])}.s${bits} ${to}, ${a};`;
      case 7:
        return `cvt.${sign}${bits}.${sign}8 ${to}, ${a};`;
      case 8:
      case 9:
        return `cvt.${random.pick(["s", "u"])}${bits}.${sign}${other} ${to}, ${number(text, values, other)};`;
      case 10:
        return `mad.lo.${sign}${bits} ${to}, ${a}, ${random.pick([2, 3, 5, 77, 150, 255])}, ${number(text, values, bits)};`;
      default:
        return bits === 32
          ? random.pick([
              `bfe.${sign}32 ${to}, ${a}, ${random.below(20)}, ${random.below(18)};`,
              `mul.hi.u32 ${to}, ${a}, ${random.pick([954437177, 1431655766, 2863311531])};`,
              `sad.${sign}32 ${to}, ${a}, ${number(text, values, 32)}, ${number(text, values, 32)};`,
            ])
          : `not.b16 ${to}, ${a};`;
    }
  };
  const written = line();
  text.add(`${guard}${written}`);
  if (!values.numbers[bits].includes(to)) values.numbers[bits].push(to);
}

function condition(text: FunctionText, values: Values): string {
  const { random } = text;
  const { predicates } = values;
  if (predicates.length > 1 && random.chance(0.3)) {
    const p = text.temporary(1);
    const [a, b] = [random.pick(predicates), random.pick(predicates)];
    text.add(
      random.chance(0.2) ? `not.pred ${p}, ${a};` : `${random.pick(["and", "or", "xor"])}.pred ${p}, ${a}, ${b};`,
    );
    predicates.push(p);
    return p;
  }
  if (predicates.length > 0 && random.chance(0.2)) return random.pick(predicates);
  const bits = random.pick([16, 32] as const);
  const p = text.temporary(1);
  const order = random.pick(["eq", "ne", "lt", "le", "gt", "ge"]);
  const type = `${random.pick(["s", "u"])}${bits}`;
  text.add(`setp.${order}.${type} ${p}, ${number(text, values, bits)}, ${operand(text, values, bits)};`);
  predicates.push(p);
  return p;
}

interface Target {
  readonly index: string;
  readonly base: string;
  readonly at: number;
}

/** A thread's own element of an array of bytes or halves. */
function store(text: FunctionText, values: Values, { index, base, at }: Target): void {
  const { random } = text;
  const size = random.pick([1, 1, 1, 2]);
  const address = text.temporary(64);
  text.add(`mad.wide.u32 ${address}, ${index}, ${size}, ${base};`);
  const guard = random.chance(0.2) ? `@${condition(text, values)} ` : "";
  const value = number(text, values, random.pick([16, 32] as const));
  text.add(`${guard}st.global.${random.pick(["u", "s", "b"])}${8 * size} [${address}+${at}], ${value};`);
}

/** A value that is used in lanes of 32 bits, too. */
function wide(text: FunctionText, values: Values): void {
  const { random } = text;
  const to = text.register(32);
  if (random.chance(0.5)) text.add(`cvt.rn.f32.${random.pick(["s", "u"])}16 ${to}, ${number(text, values, 16)};`);
  else text.add(`mad.lo.s32 ${to}, ${to}, 31, ${number(text, values, 32)};`);
}
