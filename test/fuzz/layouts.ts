import type { FunctionText } from "./function-text.ts";
import type { Scope } from "./scope.ts";

// Places in shared memory that follow from the thread's number, but not in a straight line: padded rows, trees,
// butterflies, numbers taken apart and put together. Between two barriers threads read one array, all its words, and
// write another, each to places of its own.

/** Words that each thread has in each array. */
const wordsOfThread = 3;

const written = new WeakMap<FunctionText, number>();

/** A result of an instruction, written once as compilers do. */
/** Where a thread has a place of its own: another in each thread, below twice their number. */
function ownPlace({ text, module }: Scope): string {
  const { random } = text;
  const bits = random.below(5);
  const high = text.computed("shr.u32", "%lt", bits);
  const turned = text.computed("sub.u32", module.threads - 1, "%lt");
  switch (random.below(4)) {
    case 0:
      return text.computed("add.u32", "%lt", high);
    case 1:
      return text.computed("add.u32", "%lt", text.computed("shl.b32", high, bits));
    case 2:
      return text.computed("add.u32", turned, text.computed("shr.u32", turned, bits));
    default: {
      const low = text.computed("and.b32", "%lt", 1);
      return text.computed("add.u32", text.computed("sub.u32", "%lt", low), text.computed("xor.b32", low, 1));
    }
  }
}

/** A number that follows from the thread's. */
function anyNumber(scope: Scope): string {
  const { text } = scope;
  const { random } = text;
  let number = random.chance(0.3) ? ownPlace(scope) : random.pick(["%lt", "%lt", text.computed("mov.u32", "%tid.x")]);
  for (let i = random.between(1, 3); i > 0; i--) {
    const [opcode, operand] = random.pick([
      ["shr.u32", random.below(6)],
      ["shl.b32", random.below(3)],
      ["xor.b32", random.below(40)],
      ["and.b32", random.pick([1, 3, 7, 12, 15, 31, 48])],
      ["add.u32", random.below(20)],
      ["mul.lo.u32", random.between(1, 5)],
      ["min.u32", random.below(40)],
      ["add.u32", "%lt"],
      ["rem.u32", random.between(2, 20)],
      ["div.u32", random.between(2, 20)],
    ] as const);
    number = text.computed(opcode, number, operand);
  }
  return number;
}

const types = [
  ["b32", 4],
  ["b32", 4],
  ["b32", 4],
  ["v2.b32", 8],
  ["u8", 1],
  ["s16", 2],
  ["v4.b32", 16],
] as const;

function load(scope: Scope, array: string): void {
  const { text, module } = scope;
  const { random } = text;
  const [type, bytes] = random.pick(types);
  const places = Math.floor((4 * wordsOfThread * module.threads) / bytes);
  const place = text.computed("rem.u32", anyNumber(scope), places);
  const at = text.computed("mad.lo.s32", place, bytes, text.computed("mov.u32", array));
  const count = type.startsWith("v") ? Number(type[1]) : 1;
  const into = Array.from({ length: count }, () => text.temporary(32));
  text.add(`ld.shared.${type} ${count === 1 ? into[0] : `{${into.join(", ")}}`}, [${at}];`);
  for (const register of into) text.add(`xor.b32 ${text.register(32)}, ${text.register(32)}, ${register};`);
}

/** Words from a place on that several loads read, in any order. */
const wordsOfWindow = 4;

function loadWindow({ text }: Scope, space: "global" | "shared", at: string): void {
  const { random } = text;
  for (let i = random.between(3, 6); i > 0; i--) {
    const [into, sum] = [text.temporary(32), text.register(32)];
    const type = random.chance(0.9) ? "b32" : "u8";
    text.add(`ld.${space}.${type} ${into}, [${at}+${4 * random.below(wordsOfWindow)}];`);
    text.add(`mad.lo.u32 ${sum}, ${sum}, 3, ${into};`);
  }
}

/** Threads of a row read words of the input that lie as far from their neighbours' as is by chance. */
export function inputWindow(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const [width] = module.block;
  // Four words of input belong to each thread of a block.
  const stride = random.between(wordsOfWindow, Math.floor((4 * module.threads) / width));
  const x = random.chance(0.8) ? "%tid.x" : text.computed("sub.u32", width - 1, text.computed("mov.u32", "%tid.x"));
  const first = random.between(0, stride - wordsOfWindow);
  const place = text.computed("add.u32", text.computed("mul.lo.u32", text.computed("mov.u32", x), stride), first);
  const [base, at] = [text.temporary(64), text.temporary(64)];
  text.add(`ld.param.u64 ${base}, [input];`, `mad.wide.u32 ${at}, ${place}, 4, ${base};`);
  loadWindow(scope, "global", at);
}

/** Words of shared memory, as `inputWindow` reads them, and in patterns that are no straight lines. */
function sharedWindow(scope: Scope, array: string): void {
  const { text, module } = scope;
  const { random } = text;
  const places = wordsOfThread * module.threads - wordsOfWindow;
  const [width] = module.block;
  const stride = random.between(1, Math.floor(places / width));
  const place = random.chance(0.5)
    ? text.computed("mul.lo.u32", text.computed("mov.u32", "%tid.x"), stride)
    : text.computed("rem.u32", anyNumber(scope), places);
  loadWindow(scope, "shared", text.computed("mad.lo.s32", place, 4, text.computed("mov.u32", array)));
}

/** Windows of shared memory at which a loop looks in turn: all threads move on by the same in each round. */
function sharedRounds(scope: Scope, array: string): void {
  const { text, module } = scope;
  const { random } = text;
  const [rounds, step] = [random.between(2, 4), random.between(1, Math.max(1, module.threads >> 2))];
  const places = wordsOfThread * module.threads - wordsOfWindow - step * (rounds - 1);
  if (places < 1) return;
  const [p, round, at] = [text.temporary(1), text.temporary(32), text.temporary(32)];
  const start = text.computed(
    "mad.lo.s32",
    text.computed("rem.u32", anyNumber(scope), places),
    4,
    text.computed("mov.u32", array),
  );
  const isMoved = random.chance(0.5);
  const [next, end] = [text.label(), text.label()];
  text.add(`mov.u32 ${round}, 0;`);
  if (isMoved) text.add(`mov.u32 ${at}, ${start};`);
  text.place(next);
  if (!isMoved) text.add(`mad.lo.u32 ${at}, ${round}, ${4 * step}, ${start};`);
  loadWindow(scope, "shared", at);
  if (isMoved) text.add(`add.u32 ${at}, ${at}, ${4 * step};`);
  text.add(`add.u32 ${round}, ${round}, 1;`);
  // Some lanes may go on longer than others.
  const own = random.chance(0.2) ? text.computed("and.b32", "%lt", 1) : "0";
  const left = text.computed("add.u32", text.computed("mov.u32", own), rounds - 1);
  text.add(`setp.ge.u32 ${p}, ${round}, ${own === "0" ? rounds : left};`, `@${p} bra ${end};`, `bra ${next};`);
  text.place(end);
}

/** Threads read what any have written before, and write to places of their own. */
export function layout(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const phase = written.get(text) ?? 0;
  written.set(text, phase + 1);
  const names = ["la", "lb"].map((name) => module.shared(name, 4 * wordsOfThread * module.threads));
  const [from, to] = phase % 2 === 0 ? names : names.toReversed();
  const end = text.label();
  const asked = random.chance(0.5);
  if (!asked) load(scope, from!);
  else {
    const p = text.temporary(1);
    const bound = random.pick([module.threads >> 1, 16, 32, random.below(module.threads + 1)]);
    text.add(`setp.${random.pick(["lt", "ge"])}.u32 ${p}, ${random.chance(0.7) ? "%lt" : anyNumber(scope)}, ${bound};`);
    text.add(`@${p} bra ${end};`);
  }
  for (let i = random.between(1, 3); i > 0; i--) load(scope, from!);
  if (random.chance(0.3)) sharedWindow(scope, from!);
  if (random.chance(0.4)) sharedRounds(scope, from!);
  const at = text.computed("mad.lo.s32", ownPlace(scope), 4, text.computed("mov.u32", to!));
  const half = random.chance(0.2) ? "u16" : "b32";
  const value = half === "b32" ? text.register(32) : text.register(16);
  text.add(`st.shared.${half} [${at}], ${value};`);
  if (random.chance(0.3)) text.add(`ld.shared.b32 ${text.register(32)}, [${at}];`);
  text.place(end);
  text.add("bar.sync 0;");
}
