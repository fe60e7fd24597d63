import { condition } from "./compute.ts";
import { FunctionText } from "./function-text.ts";
import { beginLocalArray } from "./memory.ts";
import { type DeclaredFunction, headOf, type Passed, type Signature, signatureText } from "./module-text.ts";
import type { ModuleText } from "./module-text.ts";
import type { Random } from "./random.ts";
import type { Scope } from "./scope.ts";

function signature(random: Random): Signature {
  const style = random.pick(["reg", "param", "param"] as const);
  const passed = (): Passed =>
    style === "param" && random.chance(0.25)
      ? { bytes: random.pick([8, 16, 32] as const) }
      : { bits: random.pick([16, 32, 32, 32, 64] as const) };
  const list = (most: number): Passed[] => Array.from({ length: random.below(most + 1) }, passed);
  // Through parameter space there is one result at most.
  return { style, takes: list(4), returns: list(style === "param" ? 1 : 3) };
}

/** Declares the functions of a module: two signatures, so that several functions may be called through one address. */
export function declareFunctions(module: ModuleText, count: number, barrier: boolean): void {
  const { random } = module;
  const signatures = [signature(random), signature(random)] as const;
  for (let i = 0; i < count; i++) {
    module.functions.push({ name: `f${i}`, signature: random.pick(signatures), barrier: false });
  }
  if (barrier) module.functions.push({ name: "meet", signature: random.pick(signatures), barrier: true });
}

/** The registers that every function has besides its pool: the thread's memory, its number in the block, its lane. */
export function declareFixed(text: FunctionText): void {
  text.declare(".reg .b64 %own;");
  text.declare(".reg .b32 %depth, %lt, %lane, %tx, %ty, %tz, %nx, %ny;");
}

/**
 * `%lt` is the thread's number in its block, whatever the block's shape. `block`: the shape, if the text may name it,
 * as kernels do that are written for one.
 */
export function numberThread(text: FunctionText, block: readonly [number, number, number] | null = null): void {
  text.add("mov.u32 %tx, %tid.x;", "mov.u32 %ty, %tid.y;", "mov.u32 %tz, %tid.z;");
  text.add("mov.u32 %nx, %ntid.x;", "mov.u32 %ny, %ntid.y;", "mov.u32 %lane, %laneid;");
  const row = text.temporary(32);
  // Each register is written once: the compiler then sees that the number grows from lane to lane.
  if (block !== null && block[2] === 1 && block[0] % 2 === 0) text.add(`mad.lo.u32 %lt, %ty, ${block[0]}, %tx;`);
  else text.add(`mad.lo.u32 ${row}, %tz, %ny, %ty;`, `mad.lo.u32 %lt, ${row}, %nx, %tx;`);
  // The carry holds something as well, as the pool does.
  text.add(`add.cc.u32 ${text.temporary(32)}, %lt, -8;`);
}

/**
 * The same for a kernel that knows a thread by its global index alone: `%tx`, `%ty` and `%tz` are its numbers in the
 * grid, `%nx` and `%ny` how many there are. `block`: the shape, which the text may name.
 */
export function numberInGrid(text: FunctionText, block: readonly [number, number, number]): void {
  const { random } = text;
  (["x", "y", "z"] as const).forEach((d, i) => {
    // Registers of their own: what is written twice is no part of an index.
    text.declare(`.reg .b32 %i${d}, %c${d}, %s${d}, %b${d}, %f${d};`);
    text.add(`mov.u32 %i${d}, %tid.${d};`, `mov.u32 %c${d}, %ctaid.${d};`);
    if (random.chance(0.4)) text.add(`mad.lo.u32 %t${d}, %c${d}, ${block[i]}, %i${d};`);
    else text.add(`mov.u32 %s${d}, %ntid.${d};`, `mad.lo.u32 %t${d}, %s${d}, %c${d}, %i${d};`);
    if (d === "z") return;
    text.add(`mov.u32 %b${d}, %nctaid.${d};`, `mov.u32 %f${d}, %ntid.${d};`, `mul.lo.u32 %n${d}, %b${d}, %f${d};`);
  });
  const row = text.temporary(32);
  text.add("and.b32 %lane, %tx, 31;", `mad.lo.u32 ${row}, %tz, %ny, %ty;`, `mad.lo.u32 %lt, ${row}, %nx, %tx;`);
  text.add(`add.cc.u32 ${text.temporary(32)}, %lt, -8;`);
}

/** Writes the bodies of the declared functions. */
export function defineFunctions(module: ModuleText, shared: Pick<Scope, "weights" | "statements" | "flat">): void {
  module.functions.forEach((f, level) => {
    const text = new FunctionText(module.random, module.target, module.scale);
    const { signature: s } = f;
    declareFixed(text);
    if (s.style === "param") text.add("ld.param.b64 %own, [arg0];", "ld.param.b32 %depth, [arg1];");
    else text.add("mov.b64 %own, arg0;", "mov.b32 %depth, arg1;");
    numberThread(text);
    fillPool(module, text, s);
    beginLocalArray(text, shared.weights);
    const end = text.label();
    const leave = (guard: string): void => {
      if (text.random.chance(0.5)) text.add(`${guard}bra ${end};`);
      else {
        returned(text, s, guard);
        text.add(`${guard}ret;`);
      }
    };
    const scope: Scope = {
      module,
      text,
      statements: shared.statements,
      flat: shared.flat,
      weights: f.barrier ? { ...shared.weights, exchange: 10, call: 0 } : shared.weights,
      level,
      converged: f.barrier,
      nesting: 1,
      loops: [],
      leave: f.barrier ? null : leave,
    };
    scope.statements(scope, text.random.between(2, 6));
    text.place(end);
    returned(text, s, "");
    text.add("ret;");
    module.addBody(text.text(headOf(f)));
  });
}

/** The pool of a function begins with arguments, special registers, constants and the table. */
function fillPool(module: ModuleText, text: FunctionText, { style, takes }: Signature): void {
  const { random } = text;
  const table = text.temporary(64);
  const [index, at, word] = [text.temporary(32), text.temporary(64), text.temporary(32)];
  text.add(`mov.u64 ${table}, ${module.table("const")};`, `and.b32 ${index}, %lt, 63;`);
  text.add(`mad.wide.u32 ${at}, ${index}, 4, ${table};`);
  for (const { name, width, uniform } of text.pool()) {
    const from = `[${uniform ? table : at}+${8 * random.below(32)}]`;
    if (width === 1) text.add(`ld.const.b32 ${word}, ${from};`, `setp.gt.s32 ${name}, ${word}, 0;`);
    else if (width === 128) text.add(`mov.b128 ${name}, {%d0, %d1};`);
    // Aligned to four bytes only, where lanes lie that close.
    else if (width === 64 && !uniform) text.add(`ld.const.b32 ${word}, ${from};`, `mov.b64 ${name}, {${word}, %lt};`);
    else text.add(`ld.const.${width === 8 ? "u8" : `b${width}`} ${name}, ${from};`);
  }
  takes.forEach((t, i) => {
    const name = `arg${i + 2}`;
    if ("bits" in t) {
      const to = text.register(t.bits);
      text.add(style === "param" ? `ld.param.b${t.bits} ${to}, [${name}];` : `mov.b${t.bits} ${to}, ${name};`);
    } else
      for (let byte = 0; byte < t.bytes; byte += 8) text.add(`ld.param.b64 ${text.register(64)}, [${name}+${byte}];`);
  });
}

/** Puts values of the pool into the results. */
function returned(text: FunctionText, { style, returns }: Signature, guard: string): void {
  returns.forEach((r, i) => {
    if ("bytes" in r) {
      for (let at = 0; at < r.bytes; at += 8) text.add(`${guard}st.param.b64 [res${i}+${at}], ${text.register(64)};`);
    } else {
      const from = text.register(r.bits);
      text.add(
        style === "param"
          ? `${guard}st.param.b${r.bits} [res${i}], ${from};`
          : `${guard}mov.b${r.bits} res${i}, ${from};`,
      );
    }
  });
}

/** Functions that a scope may call, whatever the depth that is left. */
const behind = ({ module, level }: Scope): readonly DeclaredFunction[] =>
  module.functions.filter((f, i) => !f.barrier && i > level);

/** Whether there is something to call. A loop in a function that is called in a loop would take long. */
export const canCall = (scope: Scope): boolean =>
  scope.flat
    ? behind(scope).length > 0
    : scope.level < 0
      ? scope.module.functions.length > 0
      : scope.loops.length === 0 && scope.module.functions.length > 1;

/** Calls a function: by name, or one of several by an address that may differ between lanes. */
export function call(scope: Scope): void {
  const { module, text, level, converged } = scope;
  const { random } = text;
  const meeting = module.functions.find((f) => f.barrier);
  const further = behind(scope);
  if (meeting !== undefined && converged && level < 0 && (further.length === 0 || random.chance(0.5))) {
    write(scope, meeting, [], "%depth");
    return;
  }
  const recursive = !scope.flat && level >= 0 && (further.length === 0 || random.chance(0.4));
  const known = recursive ? module.functions.filter((f) => !f.barrier) : further;
  const first = random.pick(known);
  const end = text.label();
  const depth = text.temporary(32);
  const skip = recursive || random.chance(0.3);
  if (recursive) {
    const p = text.temporary(1);
    text.add(`setp.le.s32 ${p}, %depth, 0;`, `@${p} bra ${end};`, `sub.s32 ${depth}, %depth, 1;`);
  } else {
    text.add(`mov.b32 ${depth}, %depth;`);
    if (skip) text.add(`@${condition(scope)} bra ${end};`);
  }
  const alike = known.filter((f) => f.signature === first.signature);
  write(scope, first, random.chance(0.5) ? alike : [], depth);
  if (skip) text.place(end);
}

const tables = new WeakMap<ModuleText, number>();

/** A register with the address of one of the functions. */
function pointer(scope: Scope, functions: readonly DeclaredFunction[]): string {
  const { module, text } = scope;
  const { random } = text;
  const p = text.temporary(64);
  if (functions.length === 1) {
    text.add(`mov.u64 ${p}, ${functions[0]!.name};`);
    return p;
  }
  const list = functions.map((f) => f.name);
  const space = random.pick(["global", "const"]);
  const number = tables.get(module) ?? 0;
  tables.set(module, number + 1);
  const table = module.variable(
    `ft${number}`,
    () => `.${space} .align 8 .u64 ft${number}[${list.length}] = {${list.join(", ")}};`,
  );
  const [index, base] = [text.temporary(32), text.temporary(64)];
  const source = random.pick([text.register(32), text.register(32), "%lt", text.register(32, true)]);
  text.add(`rem.u32 ${index}, ${source}, ${list.length};`, `mov.u64 ${base}, ${table};`);
  text.add(`mad.wide.u32 ${base}, ${index}, 8, ${base};`, `ld.${space}.u64 ${p}, [${base}];`);
  return p;
}

/** `targets`: any of these through an address; none: the function by its name. */
function write(
  scope: Scope,
  { name: target, signature: s }: DeclaredFunction,
  targets: readonly DeclaredFunction[],
  depth: string,
): void {
  const { text } = scope;
  const { random } = text;
  let callee = target;
  let list = "";
  if (targets.length > 0) {
    callee = pointer(scope, targets);
    const label = text.label();
    const names = targets.map((f) => f.name).join(", ");
    text.add(`${label}: ${random.chance(0.5) ? `.calltargets ${names}` : `.callprototype ${signatureText(s, "_")}`};`);
    list = `, ${label}`;
  }
  const uni = scope.converged && targets.length === 0 && random.chance(0.3) ? ".uni" : "";
  const results = s.returns.map((r) => ("bits" in r ? distinct(text, r.bits) : ""));
  if (s.style === "reg") {
    const args = s.takes.map((t) => ("bits" in t ? text.register(t.bits) : ""));
    const left = results.length === 0 ? "" : `(${results.join(", ")}), `;
    text.add(`call${uni} ${left}${callee}, (${["%own", depth, ...args].join(", ")})${list};`);
    spread(text, s, results);
    return;
  }
  const n = text.label();
  const all: readonly Passed[] = [{ bits: 64 }, { bits: 32 }, ...s.takes];
  const args = all.map((_, i) => `${n}a${i}`);
  text.add("{");
  all.forEach((a, i) => {
    text.add(`.param ${"bits" in a ? `.b${a.bits} ${args[i]}` : `.align 8 .b8 ${args[i]}[${a.bytes}]`};`);
  });
  text.add(`st.param.b64 [${args[0]}], %own;`, `st.param.b32 [${args[1]}], ${depth};`);
  s.takes.forEach((t, i) => {
    const name = args[i + 2];
    if ("bits" in t) text.add(`st.param.b${t.bits} [${name}], ${text.register(t.bits)};`);
    else for (let at = 0; at < t.bytes; at += 8) text.add(`st.param.b64 [${name}+${at}], ${text.register(64)};`);
  });
  s.returns.forEach((r, i) => {
    text.add(`.param ${"bits" in r ? `.b${r.bits} ${n}r${i}` : `.align 8 .b8 ${n}r${i}[${r.bytes}]`};`);
  });
  const left = s.returns.length === 0 ? "" : `(${s.returns.map((_, i) => `${n}r${i}`).join(", ")}), `;
  text.add(`call${uni} ${left}${callee}, (${args.join(", ")})${list};`);
  s.returns.forEach((r, i) => {
    if ("bits" in r) text.add(`ld.param.b${r.bits} ${results[i]}, [${n}r${i}];`);
    else for (let at = 0; at < r.bytes; at += 8) text.add(`ld.param.b64 ${text.register(64)}, [${n}r${i}+${at}];`);
  });
  spread(text, s, results);
  text.add("}");
}

/** Results come into registers of their own, as one register must not be two results. */
const distinct = (text: FunctionText, bits: 16 | 32 | 64): string => text.temporary(bits);

function spread(text: FunctionText, { returns }: Signature, results: readonly string[]): void {
  returns.forEach((r, i) => {
    if ("bits" in r) text.add(`mov.b${r.bits} ${text.register(r.bits)}, ${results[i]};`);
  });
}
