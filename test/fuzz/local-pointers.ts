import { condition } from "./compute.ts";
import { FunctionText } from "./function-text.ts";
import type { ModuleText } from "./module-text.ts";
import type { Scope } from "./scope.ts";

// Functions that are given pointers into the local memory of their callers, or of the callers of these, and have arrays
// of their own there: whose arrays exist while a function runs, and where, depends on which functions call it.

/** How a function takes its pointer: functions of generic ones are also given addresses in shared memory. */
type Pointer = "local" | "generic";

interface PointerFunction {
  readonly name: string;
  readonly takes: Pointer;
}

interface Known {
  readonly functions: PointerFunction[];
  readonly arrays: Set<FunctionText>;
}
const written = new WeakMap<ModuleText, Known>();

/** The bytes that every pointer points to at least. */
const bytes = 8;
const mostFunctions = 5;

/** Calls a function with a pointer, in all lanes or some; it is written if there is none yet. */
export function callWithPointer(scope: Scope): void {
  const { module, text } = scope;
  const { random } = text;
  let known = written.get(module);
  if (known === undefined) written.set(module, (known = { functions: [], arrays: new Set() }));
  const { functions, arrays } = known;
  const isNew = functions.length === 0 || (functions.length < mostFunctions && random.chance(0.5));
  const f = isNew ? define(scope, functions) : random.pick(functions);
  if (!arrays.has(text)) {
    arrays.add(text);
    text.declare(".local .align 8 .b8 lp[32];");
  }
  const p = text.temporary(64);
  if (f.takes === "generic" && random.chance(0.3)) {
    const [word, base] = [text.temporary(32), text.temporary(32)];
    const shared = module.shared("lps", bytes * module.threads);
    text.add(`mov.u32 ${base}, ${shared};`, `mad.lo.u32 ${word}, %lt, ${bytes}, ${base};`);
    text.add(`cvt.u64.u32 ${p}, ${word};`, `cvta.shared.u64 ${p}, ${p};`);
  } else pointInto(text, { array: "lp", size: 32, to: p, takes: f.takes, index: text.register(32) });
  call(text, f, { pointer: p, value: text.register(32), guard: random.chance(0.4) ? condition(scope) : null });
}

/** Points into an array, at a place that all lanes share or that a register says. */
function pointInto(
  text: FunctionText,
  at: { array: string; size: number; to: string; takes: Pointer; index: string },
): void {
  const { random } = text;
  const places = (at.size - bytes) / 8 + 1;
  const start = `mov.u64 ${at.to}, ${at.array};`;
  if (random.chance(0.6)) text.add(start, `add.u64 ${at.to}, ${at.to}, ${8 * random.below(places)};`);
  else {
    const place = text.temporary(32);
    text.add(start, `rem.u32 ${place}, ${at.index}, ${places};`, `mad.wide.u32 ${at.to}, ${place}, 8, ${at.to};`);
  }
  if (at.takes === "generic") text.add(`cvta.local.u64 ${at.to}, ${at.to};`);
}

/** `value`: a register that is handed over, and takes the result. */
function call(
  text: FunctionText,
  { name }: PointerFunction,
  { pointer, value, guard }: { pointer: string; value: string; guard: string | null },
): void {
  const r = text.temporary(32);
  text.add(`mov.b32 ${r}, ${value};`);
  text.add(`${guard === null ? "" : `@${guard} `}call (${r}), ${name}, (${pointer}, ${value});`);
  text.add(`mov.b32 ${value}, ${r};`);
}

/** The body is there before that of the function which is being written, and may call those before it. */
function define(scope: Scope, known: PointerFunction[]): PointerFunction {
  const { module } = scope;
  const { random } = module;
  const takes = random.pick(["local", "local", "generic"] as const);
  const text = new FunctionText(random, module.target, module.scale);
  const size = random.pick([0, 8, 16, 24, 40]);
  if (size > 0) text.declare(`.local .align 8 .b8 own[${size}];`);
  const suffix = takes === "local" ? ".local" : "";
  const part = (): string => random.pick(["", "+4"]);
  const inner: Scope = { ...scope, text, loops: [], nesting: 1, level: 0, leave: null, converged: false };
  // What is loaded goes into all that is stored and returned.
  const [sum, loaded] = [text.temporary(32), text.temporary(32)];
  text.add(`mov.b32 ${sum}, v;`);
  const load = (space: string, at: string): void =>
    text.add(`ld${space}.b32 ${loaded}, [${at}${part()}];`, `mad.lo.u32 ${sum}, ${sum}, 3, ${loaded};`);
  const store = (guard: string, space: string, at: string): void =>
    text.add(`${guard}st${space}.b32 [${at}${part()}], ${sum};`, `add.u32 ${sum}, ${sum}, ${random.below(100)};`);
  const body: (() => void)[] = [
    () => load(suffix, "p"),
    () => store("", suffix, "p"),
    () => store(`@${condition(inner)} `, suffix, "p"),
  ];
  if (size > 0) {
    body.push(
      () => load(".local", "own"),
      () => store("", ".local", "own"),
    );
  }
  if (known.length > 0) body.push(() => callOther(inner, { takes, size, sum }, known));
  for (let i = random.between(3, 8); i > 0; i--) random.pick(body)();
  load(suffix, "p");
  text.add(`mov.b32 r, ${sum};`, "ret;");
  const f: PointerFunction = { name: `lp${known.length}`, takes };
  module.addBody(text.text(`.func (.reg .b32 r) ${f.name} (.reg .b64 p, .reg .b32 v)`));
  known.push(f);
  return f;
}

/** Hands on the pointer, or one to the function's own array. */
function callOther(scope: Scope, own: { takes: Pointer; size: number; sum: string }, known: PointerFunction[]): void {
  const { text } = scope;
  const { random } = text;
  const p = text.temporary(64);
  const guard = random.chance(0.3) ? condition(scope) : null;
  const f = random.pick(known);
  const fits = f.takes === own.takes || f.takes === "generic";
  if (own.size > 0 && (!fits || random.chance(0.6))) {
    pointInto(text, { array: "own", size: own.size, to: p, takes: f.takes, index: own.sum });
  } else if (fits) text.add(f.takes === own.takes ? `mov.u64 ${p}, p;` : `cvta.local.u64 ${p}, p;`);
  else return;
  call(text, f, { pointer: p, value: own.sum, guard });
}
