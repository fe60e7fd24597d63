import { streamBytes } from "./module-text.ts";
import { randomInstruction } from "./instruction.ts";
import type { Scope } from "./scope.ts";

/** Rounds of a loop over a stream at most: each thread has one element in each. */
const rounds = 4;

/**
 * A loop over arrays as real kernels have them, in which the threads take neighbouring elements: by an index that is
 * compared with the length, or by pointers that move on. Each such loop has an array of its own, as its threads write
 * it.
 */
export function stream(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const bits = random.pick([8, 16, 32, 32, 32, 64] as const);
  const elements = random.pick([1, 1, 2, 4].filter((n) => n * bits <= 128));
  const bytes = (elements * bits) / 8;
  const threads = module.threads * module.blocks;
  const base = text.temporary(64);
  text.add(`add.s64 ${base}, %stream, ${module.takeStream() * threads * streamBytes};`);

  const [index, from, to, p] = [text.temporary(32), text.temporary(64), text.temporary(64), text.temporary(1)];
  const [top, end] = [text.label(), text.label()];
  // The last round has elements for some of the threads only; the input is as long as one round of the longest
  // elements.
  const times = random.between(1, rounds);
  const length = threads * times - random.below(threads);
  const source = times === 1 && random.chance(0.7) ? "%input" : base;
  const moving = random.chance(0.4);
  const pointers = (): void => {
    text.add(`mad.wide.s32 ${from}, ${index}, ${bytes}, ${source};`);
    text.add(`mad.wide.s32 ${to}, ${index}, ${bytes}, ${base};`);
  };
  text.add(`mov.u32 ${index}, %gid;`);
  if (moving) pointers();
  text.place(top);
  text.add(`setp.ge.u32 ${p}, ${index}, ${length};`, `@${p} bra ${end};`);
  if (!moving) pointers();
  const values = Array.from({ length: elements }, () => text.temporary(bits === 8 ? 16 : bits));
  const list = elements === 1 ? values[0]! : `{${values.join(", ")}}`;
  const vector = elements === 1 ? "" : `.v${elements}`;
  text.add(`ld.global${vector}.${bits === 8 ? "s8" : `b${bits}`} ${list}, [${from}];`);
  if (bits !== 8) text.add(`mov.b${bits} ${text.register(bits)}, ${values[0]};`);
  for (let i = random.below(3); i > 0; i--) text.add(randomInstruction(text, { uniform: false, guarded: false }));
  if (bits === 32) {
    const last = values.at(-1);
    const [a, b] = [text.register(32, random.chance(0.5)), text.register(32)];
    text.add(random.pick([`fma.rn.f32 ${last}, ${a}, ${last}, ${b};`, `mad.lo.s32 ${last}, ${a}, ${last}, ${b};`]));
  }
  if (bits === 64) text.add(`add.f64 ${values[0]}, ${values[0]}, ${text.register(64)};`);
  text.add(`st.global${vector}.b${bits} [${to}], ${list};`, `add.u32 ${index}, ${index}, ${threads};`);
  if (moving) for (const pointer of [from, to]) text.add(`add.s64 ${pointer}, ${pointer}, ${threads * bytes};`);
  text.add(`bra ${top};`);
  text.place(end);
}

/** Values that some lanes of the first block's first warp print: several would print in the order of the schedule. */
export function print(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const format = module.variable("fmt", () => {
    const bytes = [...new TextEncoder().encode("%d %x %lld %e\n"), 0];
    return `.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global .align 1 .b8 fmt[${bytes.length}] = {${bytes.join(", ")}};`;
  });
  const [p, f, a, end, n] = [text.temporary(1), text.temporary(64), text.temporary(64), text.label(), text.label()];
  text.add(`setp.ge.u32 ${p}, %gid, ${Math.min(32, module.threads)};`, `@${p} bra ${end};`);
  if (random.chance(0.7)) text.add(`@${text.register(1)} bra ${end};`);
  text.add(`st.local.b32 [pr], ${text.register(32)};`, `st.local.b32 [pr+4], ${text.register(32)};`);
  text.add(`st.local.b64 [pr+8], ${text.register(64)};`, `st.local.b64 [pr+16], ${text.register(64)};`);
  text.add(
    `mov.u64 ${f}, ${format};`,
    `cvta.global.u64 ${f}, ${f};`,
    `mov.u64 ${a}, pr;`,
    `cvta.local.u64 ${a}, ${a};`,
  );
  text.add("{", `.param .b64 ${n}a0;`, `.param .b64 ${n}a1;`, `.param .b32 ${n}r;`);
  text.add(
    `st.param.b64 [${n}a0], ${f};`,
    `st.param.b64 [${n}a1], ${a};`,
    `call.uni (${n}r), vprintf, (${n}a0, ${n}a1);`,
  );
  text.add(`ld.param.b32 ${text.register(32)}, [${n}r];`, "}");
  text.place(end);
}
