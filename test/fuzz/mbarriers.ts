import type { FunctionText } from "./function-text.ts";
import type { ModuleText } from "./module-text.ts";
import type { Scope } from "./scope.ts";

/** Mbarriers in shared memory, that a statement has for itself. */
export interface Mbarriers {
  readonly name: string;
  readonly count: number;
}

/** Threads of the block come together. */
export const meetAll = (text: FunctionText): void => text.add("bar.sync 0;");

export function declareMbarriers(module: ModuleText, count: number): Mbarriers {
  const name = module.fresh("mb");
  module.variable(name, () => `.shared .align 8 .b64 ${name}[${count}];`);
  return { name, count };
}

/** One thread does what `write` writes; the others go past it. */
export function byFirstThread(text: FunctionText, write: () => void): void {
  const [p, end] = [text.temporary(1), text.label()];
  text.add(`setp.ne.u32 ${p}, %lt, 0;`, `@${p} bra ${end};`);
  write();
  text.place(end);
}

/** One thread initializes mbarriers, each with the arrivals that it expects; then the block may use them. */
export function initialize(text: FunctionText, { name }: Mbarriers, expected: readonly number[]): void {
  const space = text.random.pick([".shared", ".shared::cta"]);
  meetAll(text);
  byFirstThread(text, () => {
    for (const [i, count] of expected.entries()) text.add(`mbarrier.init${space}.b64 [${name}+${8 * i}], ${count};`);
    if (text.random.chance(0.5)) text.add("fence.mbarrier_init.release.cluster;");
  });
  meetAll(text);
}

/** After all threads are through, one ends the mbarriers, so that their memory may be used again. */
export function invalidate(text: FunctionText, { name, count }: Mbarriers): void {
  meetAll(text);
  byFirstThread(text, () => {
    for (let i = 0; i < count; i++) text.add(`mbarrier.inval.shared.b64 [${name}+${8 * i}];`);
  });
}

/** Waits in a loop for the phase that a parity or, with `isState`, a state names. `at`: without brackets. */
export function awaitPhase(text: FunctionText, at: string, phase: string, isState = false): void {
  const { random } = text;
  const [p, top] = [text.temporary(1), text.label()];
  const tries = random.chance(0.7);
  const order = random.pick(["", "", ".acquire.cta", ".acquire.cluster"]);
  const hint = tries && random.chance(0.2) ? ", 1000" : "";
  const parity = isState ? "" : ".parity";
  text.place(top);
  text.add(`mbarrier.${tries ? "try" : "test"}_wait${parity}${order}.shared::cta.b64 ${p}, [${at}], ${phase}${hint};`);
  text.add(`@!${p} bra ${top};`);
}

/** An arrival of one thread at an mbarrier of its block. `at`: without brackets. `state`: a register for it. */
export function arrive(text: FunctionText, at: string, state: string | null = null): void {
  const { random } = text;
  const order = random.pick(["", "", ".release.cta", ".release.cluster"]);
  const space = random.pick([".shared", ".shared::cta"]);
  const count = random.chance(0.3) ? ", 1" : "";
  text.add(`mbarrier.arrive${order}${space}.b64 ${state ?? "_"}, [${at}]${count};`);
}

/**
 * Rounds of an exchange over shared memory, with two phases each: all have written, all have read. Each thread arrives,
 * or the first lane of each warp for all of it.
 */
export function mbarrierPhases(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const { threads } = module;
  const mbarriers = declareMbarriers(module, 1);
  const { name } = mbarriers;
  const byWarp = random.chance(0.4);
  // A thread may arrive for the last time, so that fewer are expected from then on.
  const drops = !byWarp && random.chance(0.3);
  const transactions = !drops && random.chance(0.3);
  initialize(text, mbarriers, [threads]);
  const [mine, slots, index, from] = [text.temporary(64), text.temporary(64), text.temporary(32), text.temporary(64)];
  const [round, parity, p, top] = [text.temporary(32), text.temporary(32), text.temporary(1), text.label()];
  text.add(`mov.u64 ${slots}, ${module.shared("xc", 8 * threads)};`, `mad.wide.u32 ${mine}, %lt, 8, ${slots};`);
  text.add(`mov.b32 ${round}, 0;`, `mov.b32 ${parity}, 0;`);
  const meetHere = (last: boolean): void => {
    const state = text.temporary(64);
    if (byWarp) {
      const end = text.label();
      text.add("bar.warp.sync -1;", `setp.ne.u32 ${p}, %lane, 0;`, `@${p} bra ${end};`);
      text.add(`mbarrier.arrive.shared::cta.b64 _, [${name}], 32;`);
      text.place(end);
      awaitPhase(text, name, parity);
    } else if (transactions && random.chance(0.5)) {
      text.add(`mbarrier.arrive.expect_tx.shared::cta.b64 ${state}, [${name}], 4;`);
      text.add(`mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [${name}], 4;`);
      const byState = random.chance(0.5);
      awaitPhase(text, name, byState ? state : parity, byState);
    } else if (last) {
      const [end, drop] = [text.label(), text.label()];
      text.add(`setp.eq.u32 ${p}, %lt, ${threads - 1};`, `@${p} bra ${drop};`);
      arrive(text, name, state);
      text.add(`bra ${end};`);
      text.place(drop);
      text.add(`mbarrier.arrive_drop.shared.b64 ${state}, [${name}];`);
      text.place(end);
      awaitPhase(text, name, state, true);
    } else {
      arrive(text, name, state);
      const byState = random.chance(0.5);
      awaitPhase(text, name, byState ? state : parity, byState);
    }
    text.add("bar.warp.sync -1;", `xor.b32 ${parity}, ${parity}, 1;`);
  };
  text.place(top);
  text.add(`st.shared.b64 [${mine}], ${text.register(64)};`);
  meetHere(false);
  text.add(`add.u32 ${index}, ${random.pick(["%lt", text.register(32)])}, ${random.below(64)};`);
  text.add(`rem.u32 ${index}, ${index}, ${threads};`, `mad.wide.u32 ${from}, ${index}, 8, ${slots};`);
  text.add(`ld.shared.b64 ${text.register(64)}, [${from}];`);
  meetHere(false);
  text.add(
    `add.u32 ${round}, ${round}, 1;`,
    `setp.lt.u32 ${p}, ${round}, ${random.between(1, 4)};`,
    `@${p} bra ${top};`,
  );
  if (drops) meetHere(true);
  invalidate(text, mbarriers);
}
