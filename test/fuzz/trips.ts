import type { Scope } from "./scope.ts";

/**
 * Loops that each lane leaves when data says so, as compilers unroll them: the rounds that are left over come first.
 * After them lanes of a tile exchange what they have found, as in cooperative groups: each names the lanes of its own
 * tile, or all of them. Sometimes all of it is within a loop that strides over a grid and leaves out some rounds.
 */
export function trips(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const [p, q, base, address] = [text.temporary(1), text.temporary(1), text.temporary(64), text.temporary(64)];
  const isAround = random.chance(0.4);
  const [again, skip, afterAll] = [text.label(), text.label(), text.label()];
  const i = text.computed("mov.u32", "%lt");
  // A stride of two grids or less, so that there are few rounds.
  const stride = text.computed("mul.lo.u32", text.computed("mov.u32", "%ntid.x"), random.between(1, 3));
  const limit = text.computed("mad.lo.u32", stride, random.between(1, 3), random.below(40));
  text.add(`ld.param.u64 ${base}, [input];`);
  if (isAround) {
    text.add(`setp.ge.u32 ${p}, ${i}, ${limit};`, `@${p} bra ${afterAll};`);
    text.place(again);
    text.add(`setp.eq.u32 ${p}, ${text.computed("and.b32", text.register(32), 3)}, 0;`, `@${p} bra ${skip};`);
  }
  const count = text.computed("and.b32", text.register(32), random.pick([1, 3, 7, 127]));
  const sum = text.computed("mov.u32", text.register(32));
  const k = text.computed("mov.u32", random.chance(0.5) ? "%lt" : text.register(32));
  const round = (): void => {
    const word = text.temporary(32);
    if (random.chance(0.7)) {
      const at = text.computed("and.b32", k, random.pick([15, 31]));
      text.add(`mad.wide.u32 ${address}, ${at}, 4, ${base};`, `ld.global.u32 ${word}, [${address}];`);
    } else text.add(`shr.u32 ${word}, ${k}, 1;`);
    text.add(`mad.lo.u32 ${sum}, ${sum}, 3, ${word};`, `add.u32 ${k}, ${k}, ${random.pick([1, 8, 32])};`);
    if (random.chance(0.2)) text.add(`red.global.add.u32 [%bins], ${word};`);
    if (random.chance(0.1)) text.add(`atom.global.add.u32 ${text.temporary(32)}, [%bins], ${word};`);
  };
  /** Reads by the register in which the loops count: before them it is the thread's number, or what others have. */
  const useCounter = (): void => {
    if (random.chance(0.6)) return;
    const word = text.temporary(32);
    const at = text.computed("and.b32", k, 31);
    text.add(`mad.wide.u32 ${address}, ${at}, 4, ${base};`, `ld.global.u32 ${word}, [${address}];`);
    text.add(`xor.b32 ${text.register(32)}, ${word}, ${k};`);
  };
  const loop = (rounds: number, end: string): void => {
    const next = text.label();
    if (random.chance(0.8)) text.add(`setp.eq.u32 ${p}, ${count}, 0;`, `@${p} bra ${end};`);
    else text.add(`max.u32 ${count}, ${count}, 1;`);
    text.place(next);
    for (let r = 0; r < rounds; r++) round();
    text.add(`add.s32 ${count}, ${count}, -1;`, `setp.ne.s32 ${q}, ${count}, 0;`, `@${q} bra ${next};`);
  };
  const end = text.label();
  useCounter();
  loop(1, end);
  useCounter();
  if (random.chance(0.5)) {
    text.add(`shr.u32 ${count}, ${text.register(32)}, 30;`);
    loop(random.between(1, 4), end);
  }
  text.place(end);
  if (!isAround && scope.converged && module.threads % 32 === 0) {
    const here = text.temporary(32);
    text.add(`activemask.b32 ${here};`, `xor.b32 ${sum}, ${sum}, ${here};`);
    exchange(scope, sum);
  }
  text.add(`add.u32 ${text.register(32)}, ${sum}, ${random.pick([k, count])};`);
  if (!isAround) return;
  text.place(skip);
  text.add(`add.u32 ${i}, ${i}, ${stride};`, `setp.lt.u32 ${p}, ${i}, ${limit};`, `@${p} bra ${again};`);
  text.place(afterAll);
}

/** Lanes of a tile add up what they have. */
function exchange({ text }: Scope, sum: string): void {
  const { random } = text;
  const size = random.pick([2, 4, 8, 16, 32]);
  const named = size === 32 ? -1 : 2 ** size - 1;
  const lane = text.computed("mov.u32", random.chance(0.5) ? "%laneid" : "%tid.x");
  const mask = text.computed("shl.b32", text.computed("mov.u32", named), text.computed("and.b32", lane, 32 - size));
  const segment = ((32 - size) << 8) | 31;
  for (let distance = size / 2; distance >= 1; distance /= 2) {
    const other = text.temporary(32);
    const mode = random.pick(["bfly", "bfly", "down", "idx", "up"]);
    const by = random.chance(0.2) ? text.computed("mov.u32", distance) : `${distance}`;
    const range = mode === "up" ? segment & ~31 : segment;
    text.add(`shfl.sync.${mode}.b32 ${other}, ${sum}, ${by}, ${range}, ${mask};`, `add.u32 ${sum}, ${sum}, ${other};`);
    if (random.chance(0.2)) text.add(`bar.warp.sync ${mask};`);
  }
}
