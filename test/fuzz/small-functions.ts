import { compute, condition } from "./compute.ts";
import { FunctionText } from "./function-text.ts";
import type { ModuleText } from "./module-text.ts";
import type { Scope } from "./scope.ts";

// Functions that only compute, which compilers copy into their callers. Most of their registers are read before they
// are written.

type Bits = 16 | 32 | 64;

interface SmallFunction {
  readonly name: string;
  readonly style: "reg" | "param";
  readonly takes: readonly Bits[];
  readonly returns: readonly Bits[];
}
const written = new WeakMap<ModuleText, SmallFunction[]>();

/** Calls a small function, in all lanes or some; it is written if there is none yet. */
export function callSmall(scope: Scope): void {
  const { module, text } = scope;
  const { random } = text;
  let known = written.get(module);
  if (known === undefined) written.set(module, (known = []));
  const f = known.length > 0 && random.chance(0.5) ? random.pick(known) : define(scope, known);
  write(scope, f, random.chance(0.3) ? condition(scope) : null);
}

/** The body is there before that of the function which is being written. */
function define(scope: Scope, known: SmallFunction[]): SmallFunction {
  const { module } = scope;
  const { random } = module;
  const bits = (): Bits => random.pick([16, 32, 32, 32, 64] as const);
  const style = random.pick(["reg", "param"] as const);
  const list = (most: number): Bits[] => Array.from({ length: random.below(most + 1) }, bits);
  const f: SmallFunction = {
    name: `s${known.length}`,
    style,
    takes: list(3),
    returns: [bits(), ...(style === "reg" ? list(1) : [])],
  };
  const text = new FunctionText(random, module.target, module.scale);
  const inner: Scope = { ...scope, text, loops: [], nesting: 1, level: 0, leave: null, converged: false };
  for (const [i, b] of f.takes.entries()) {
    const to = text.register(b);
    text.add(style === "reg" ? `mov.b${b} ${to}, a${i};` : `ld.param.b${b} ${to}, [a${i}];`);
  }
  const results = (guard: string): void => {
    for (const [i, b] of f.returns.entries()) {
      const from = text.register(b);
      text.add(style === "reg" ? `${guard}mov.b${b} r${i}, ${from};` : `${guard}st.param.b${b} [r${i}], ${from};`);
    }
  };
  compute(inner);
  if (random.chance(0.3)) {
    const p = condition(inner);
    results(`@${p} `);
    text.add(`@${p} ret;`);
    compute(inner);
  }
  if (random.chance(0.3)) {
    const [p, end] = [condition(inner), text.label()];
    text.add(`@${p} bra ${end};`);
    compute(inner);
    text.place(end);
  }
  if (random.chance(0.2)) {
    const [p, n, top] = [text.temporary(1), text.temporary(32), text.label()];
    // The counter begins as 0, as all registers do.
    text.place(top);
    compute(inner);
    text.add(`add.u32 ${n}, ${n}, 1;`, `setp.lt.u32 ${p}, ${n}, ${random.between(1, 4)};`, `@${p} bra ${top};`);
  }
  if (known.length > 0 && random.chance(0.3)) write(inner, random.pick(known), null);
  results("");
  text.add("ret;");
  const declared = (names: string, list: readonly Bits[]): string =>
    list.map((b, i) => `.${style} .b${b} ${names}${i}`).join(", ");
  module.addBody(text.text(`.func (${declared("r", f.returns)}) ${f.name} (${declared("a", f.takes)})`));
  known.push(f);
  return f;
}

function write({ text }: Scope, { name, style, takes, returns }: SmallFunction, guard: string | null): void {
  const { random } = text;
  const before = guard === null ? "" : `@${guard} `;
  if (style === "reg") {
    const results = returns.map((b) => text.temporary(b));
    const left = results.map((r) => (returns.length > 1 && random.chance(0.1) ? "_" : r));
    // What lanes have that do not call.
    for (const [i, b] of returns.entries()) text.add(`mov.b${b} ${results[i]}, ${text.register(b)};`);
    text.add(`${before}call (${left.join(", ")}), ${name}, (${takes.map((b) => text.register(b)).join(", ")});`);
    for (const [i, b] of returns.entries()) text.add(`mov.b${b} ${text.register(b)}, ${results[i]};`);
    return;
  }
  const n = text.label();
  text.add("{", ...[...takes, ...returns].map((b, i) => `.param .b${b} ${n}${i};`));
  for (const [i, b] of takes.entries()) text.add(`st.param.b${b} [${n}${i}], ${text.register(b)};`);
  const names = [...takes, ...returns].map((_, i) => `${n}${i}`);
  const [args, results] = [names.slice(0, takes.length), names.slice(takes.length)];
  text.add(`${before}call (${results.join(", ")}), ${name}, (${args.join(", ")});`);
  for (const [i, b] of returns.entries()) text.add(`ld.param.b${b} ${text.register(b)}, [${results[i]}];`);
  text.add("}");
}
