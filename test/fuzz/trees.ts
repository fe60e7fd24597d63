import type { FunctionText } from "./function-text.ts";
import type { Scope } from "./scope.ts";

// What a block does from barrier to barrier, as in reductions and scans: the threads for which a comparison holds read
// what any have written before, and write to words of their own.

/** Words that each thread has in each of two arrays, of which one is read while the other is written. */
const wordsOfThread = 3;

interface Trees {
  /** Predicates that have been computed, and may be asked again. */
  readonly known: string[];
  phases: number;
}
const trees = new WeakMap<FunctionText, Trees>();

const relations = ["lt", "le", "gt", "ge", "eq", "ne"] as const;

/** A comparison of what grows with the thread's number to a number, or to one that all threads have. */
function predicate(scope: Scope, { known }: Trees): string {
  const { text, module } = scope;
  const { random } = text;
  if (known.length > 0 && random.chance(0.3)) return random.pick(known);
  const p = text.temporary(1);
  // Each register is written once, as compilers do.
  const [x, a] = [text.temporary(32), text.temporary(32)];
  let b = `${random.pick([0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, random.below(module.threads + 2)])}`;
  text.add(`mov.u32 ${x}, ${random.pick(["%tid.x", "%lt"])};`);
  text.add(`mad.lo.s32 ${a}, ${x}, ${random.pick([1, 1, 1, 2, 3, -1])}, ${random.pick([0, 0, 1, -8, 8])};`);
  if (random.chance(0.2)) {
    const [block, sum] = [text.temporary(32), text.temporary(32)];
    text.add(`mov.u32 ${block}, %ctaid.x;`, `add.u32 ${sum}, ${block}, ${b};`);
    b = sum;
  }
  const operands = random.chance(0.8) ? `${a}, ${b}` : `${b}, ${a}`;
  text.add(`setp.${random.pick(relations)}.${random.pick(["s32", "u32"])} ${p}, ${operands};`);
  known.push(p);
  return p;
}

/** A phase: most threads may have nothing to do in it. */
export function phase(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  let state = trees.get(text);
  if (state === undefined) trees.set(text, (state = { known: [], phases: 0 }));
  const words = wordsOfThread * module.threads;
  const names = [module.shared("ta", 4 * words), module.shared("tb", 4 * words)];
  const [from, to] = state.phases++ % 2 === 0 ? names : names.toReversed();
  if (random.chance(0.4)) load(scope, from!, words);
  const p = predicate(scope, state);
  const end = text.label();
  text.add(`@${random.chance(0.3) ? "!" : ""}${p} bra ${end};`);
  const body: (() => void)[] = [
    () => load(scope, from!, words),
    () => store(scope, to!),
    () => text.add(`add.u32 ${text.register(32)}, ${text.register(32)}, ${text.register(32)};`),
    () => text.add(`add.f32 ${text.register(32)}, ${text.register(32)}, ${text.register(32)};`),
    () => text.add(`@${text.register(1)} mov.b32 ${text.register(32)}, ${random.below(100)};`),
    () => text.add(`setp.lt.s32 ${text.register(1)}, ${text.register(32)}, ${text.register(32)};`),
  ];
  for (let i = random.between(2, 6); i > 0; i--) random.pick(body)();
  store(scope, to!);
  text.place(end);
  text.add("bar.sync 0;");
}

/** Words at a distance from thread to thread, forwards or backwards, or wherever a register says. */
function load({ text, module }: Scope, array: string, words: number): void {
  const { random } = text;
  const { threads } = module;
  const [base, index, at] = [text.temporary(32), text.temporary(32), text.temporary(32)];
  text.add(`mov.u32 ${base}, ${array};`);
  const stride = random.pick([1, 1, 2, 2, 3, -1, 0]);
  if (stride === 0) text.add(`rem.u32 ${index}, ${text.register(32)}, ${words};`);
  else {
    const span = Math.abs(stride) * (threads - 1);
    const first = random.below(words - span) + (stride < 0 ? span : 0);
    text.add(`mad.lo.s32 ${index}, %lt, ${stride}, ${first};`);
  }
  text.add(`mad.lo.s32 ${at}, ${index}, 4, ${base};`, `ld.shared.b32 ${text.register(32)}, [${at}];`);
}

function store({ text }: Scope, array: string): void {
  const { random } = text;
  const [base, at] = [text.temporary(32), text.temporary(32)];
  const own = random.below(wordsOfThread);
  text.add(`mov.u32 ${base}, ${array};`, `mad.lo.s32 ${at}, %lt, ${4 * wordsOfThread}, ${base};`);
  text.add(`st.shared.b32 [${at}+${4 * own}], ${text.register(32)};`);
}
