import type { Scope } from "./scope.ts";

/** Steps of a wave: with many, the code of a kernel is long. */
const steps = [2, 5, 14, 30] as const;

/**
 * A wave that goes over a tile in shared memory, a diagonal between each two barriers, as compilers unroll it or as a
 * loop: each thread that the front has reached computes an element of its column from three neighbours. What it has
 * stored, it may store again, also in part, and the register may get another value.
 */
export function wavefront({ text, module }: Scope): void {
  const { random } = text;
  const all = random.pick(steps);
  let count: number = all;
  const width = module.threads + random.between(1, 3);
  const name = module.fresh("wf");
  const tile = module.shared(name, 4 * width * (count + 1));
  const thread = random.chance(0.7) ? "%lt" : text.computed("sub.u32", module.threads - 1, "%lt");
  const base = text.computed("mov.u32", tile);
  const column = text.computed("mad.lo.u32", thread, 4, base);
  for (let row = 0; row <= count; row++)
    text.add(`st.shared.u32 [${column}+${4 * row * width}], ${text.register(32)};`);
  text.add("bar.sync 0;");
  // The element of the wave in the first column, as the step goes on.
  const back = text.computed(random.pick(["mad.lo.s32", "mad.lo.u32"]), thread, -4 * width, base);
  const own = text.computed("mad.lo.s32", thread, 4, back);
  const part = text.computed("shr.u32", text.register(32), 9);
  if (random.chance(0.3)) {
    rounds({ text, thread, own, width, count, part });
    count = 0;
  }
  for (let step = 0; step < count; step++) {
    const [p, end] = [text.temporary(1), text.label()];
    const [order, limit, not] = random.pick([
      ["gt", step, ""],
      ["ge", step + 1, ""],
      ["le", step, "!"],
      ["lt", step + 1, "!"],
    ] as const);
    text.add(`setp.${order}.${random.pick(["s32", "u32"])} ${p}, ${thread}, ${limit};`, `@${not}${p} bra ${end};`);
    const load = (rows: number, columns: number): string => {
      const word = text.temporary(32);
      text.add(`ld.shared.u32 ${word}, [${own}+${4 * ((step + rows) * width + columns)}];`);
      return word;
    };
    const [before, left, above] = [load(0, 0), load(1, 0), load(0, 1)];
    const most = text.computed("max.s32", text.computed("sub.s32", left, part), text.computed("sub.s32", above, part));
    const sum = text.computed("add.s32", before, random.chance(0.3) ? text.register(32) : step);
    const value = text.computed("max.s32", most, sum);
    const to = `[${own}+${4 * ((step + 1) * width + 1)}]`;
    text.add(`st.shared.u32 ${to}, ${value};`);
    if (random.chance(0.1)) text.add(`mov.u32 ${value}, ${text.register(32)};`);
    if (random.chance(0.1)) text.add(`st.shared.u16 ${to}, ${text.register(16)};`);
    if (random.chance(0.1)) {
      const q = text.temporary(1);
      text.add(`setp.gt.s32 ${q}, ${text.register(32)}, 0;`, `@${q} st.shared.u32 ${to}, ${text.register(32)};`);
    }
    text.place(end);
    text.add("bar.sync 0;");
  }
  for (let i = random.between(1, 3); i > 0; i--) {
    const to = text.register(32);
    text.add(`ld.shared.u32 ${to}, [${column}+${4 * width * random.below(all + 1)}];`);
  }
}

/** The same as a loop around a barrier, in which addresses and who takes part go on from round to round. */
function rounds({
  text,
  thread,
  own,
  width,
  count,
  part,
}: Pick<Scope, "text"> & {
  readonly thread: string;
  readonly own: string;
  readonly width: number;
  readonly count: number;
  readonly part: string;
}): void {
  const { random } = text;
  const [p, more] = [text.temporary(1), text.temporary(1)];
  const [top, end] = [text.label(), text.label()];
  const step = text.computed("mov.u32", 0);
  const at = text.computed("mov.u32", own);
  const left = text.computed("mov.u32", thread);
  text.place(top);
  text.add(random.chance(0.5) ? `setp.gt.s32 ${p}, ${left}, 0;` : `setp.gt.s32 ${p}, ${thread}, ${step};`);
  text.add(`@${p} bra ${end};`);
  const words = [0, 4 * width, 4].map((distance) => {
    const word = text.temporary(32);
    text.add(`ld.shared.u32 ${word}, [${at}+${distance}];`);
    return word;
  });
  const most = text.computed("max.s32", text.computed("sub.s32", words[1]!, part), words[2]!);
  const value = text.computed("xor.b32", most, text.computed("add.s32", words[0]!, step));
  text.add(`st.shared.u32 [${at}+${4 * (width + 1)}], ${value};`);
  text.place(end);
  text.add("bar.sync 0;", `add.u32 ${at}, ${at}, ${4 * width};`, `add.s32 ${left}, ${left}, -1;`);
  text.add(`add.u32 ${step}, ${step}, 1;`, `setp.lt.u32 ${more}, ${step}, ${count};`, `@${more} bra ${top};`);
}
