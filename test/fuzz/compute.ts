import type { FunctionText } from "./function-text.ts";
import { randomInstruction } from "./instruction.ts";
import type { Scope } from "./scope.ts";
import { pattern } from "./values.ts";

/** What compilers write most: kept apart from the table, in which each of these is one row among hundreds. */
const common = [
  (t: FunctionText, u: boolean) => `add.s32 ${t.register(32, u)}, ${t.register(32, u)}, ${t.register(32, u)};`,
  (t: FunctionText, u: boolean) => `add.s32 ${t.register(32, u)}, ${t.register(32, u)}, ${t.random.between(-4, 64)};`,
  (t: FunctionText, u: boolean) => `mad.lo.s32 ${many(t, 32, 4, u)};`,
  (t: FunctionText, u: boolean) => `fma.rn.f32 ${many(t, 32, 4, u)};`,
  (t: FunctionText, u: boolean) => `add.f32 ${many(t, 32, 3, u)};`,
  (t: FunctionText, u: boolean) => `mul.f32 ${many(t, 32, 3, u)};`,
  (t: FunctionText, u: boolean) => `fma.rn.f64 ${many(t, 64, 4, u)};`,
  (t: FunctionText, u: boolean) => `shl.b32 ${many(t, 32, 2, u)}, ${t.random.below(34)};`,
  (t: FunctionText, u: boolean) => `and.b32 ${many(t, 32, 3, u)};`,
  (t: FunctionText, u: boolean) => `xor.b32 ${many(t, 32, 3, u)};`,
  (t: FunctionText, u: boolean) => `add.s64 ${many(t, 64, 3, u)};`,
  (t: FunctionText, u: boolean) => `mul.wide.s32 ${t.register(64, u)}, ${many(t, 32, 2, u)};`,
  (t: FunctionText, u: boolean) => `cvt.s64.s32 ${t.register(64, u)}, ${t.register(32, u)};`,
  (t: FunctionText, u: boolean) => `cvt.rn.f32.s32 ${many(t, 32, 2, u)};`,
  (t: FunctionText, u: boolean) => `setp.lt.s32 ${t.register(1, u)}, ${many(t, 32, 2, u)};`,
  (t: FunctionText, u: boolean) => `setp.gtu.f32 ${t.register(1, u)}, ${many(t, 32, 2, u)};`,
  (t: FunctionText, u: boolean) => `selp.b32 ${many(t, 32, 3, u)}, ${t.register(1, u)};`,
] as const;

const many = (t: FunctionText, width: 32 | 64, count: number, uniform: boolean): string =>
  Array.from({ length: count }, () => t.register(width, uniform)).join(", ");

/** One to four instructions over the pool. */
export function compute({ text }: Scope): void {
  const { random } = text;
  for (let i = random.between(1, 4); i > 0; i--) {
    const uniform = random.chance(0.2);
    const guard = random.chance(0.1) ? `@${random.chance(0.5) ? "!" : ""}${text.register(1, uniform)} ` : "";
    if (random.chance(0.25)) text.add(`${guard}${random.pick(common)(text, uniform)}`);
    else text.add(randomInstruction(text, { uniform, guarded: true }));
  }
}

/** A predicate over the pool, in a register outside of it. `uniform`: over values that are the same in all threads. */
export function condition({ text }: Scope, uniform = false): string {
  const { random } = text;
  const p = text.temporary(1);
  const r = uniform ? blockUniform(text) : text.register(32, random.chance(0.1));
  switch (random.below(uniform ? 2 : 4)) {
    case 0:
    case 1: {
      const t = text.temporary(32);
      text.add(`and.b32 ${t}, ${r}, ${random.pick([1, 3, 7, 15])};`);
      text.add(`setp.${random.pick(["lt", "ge", "eq", "ne", "hi"])}.u32 ${p}, ${t}, ${random.below(8)};`);
      break;
    }
    case 2:
      text.add(`setp.${random.pick(["lt", "neu", "geu", "num"])}.f32 ${p}, ${r}, ${text.register(32)};`);
      break;
    default:
      text.add(`mov.pred ${p}, ${text.register(1)};`);
  }
  return p;
}

/**
 * A word that is the same in all threads of the block wherever it is asked for: the pool's uniform registers may have
 * been written under divergent control flow.
 */
export function blockUniform(text: FunctionText): string {
  const { random } = text;
  const t = text.temporary(32);
  text.add(
    random.chance(0.5)
      ? `mov.u32 ${t}, ${random.pick(["%ctaid.x", "%ctaid.y", "%nctaid.x", "%ntid.x"])};`
      : `mov.b32 ${t}, ${pattern(random, 32)};`,
  );
  return t;
}
