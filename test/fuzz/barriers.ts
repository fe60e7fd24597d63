import { blockUniform } from "./compute.ts";
import type { Scope } from "./scope.ts";

// Barriers 0 to 7 are for all threads of the block, 8 and 9 for its parts, the others for producers and consumers:
// whoever is through with one kind must not be counted at another, at which others still wait.

/** Threads that a barrier counts: whole warps. */
const counted = ({ module }: Scope): number => 32 * module.warps;

/** A barrier of all threads of the block, in one of its spellings. */
function meet(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const all = counted(scope);
  const id = random.below(8);
  const held = text.temporary(32);
  switch (random.below(6)) {
    case 0:
      text.add(`bar.sync ${id}, ${all};`);
      break;
    case 1:
      text.add(`barrier.sync ${id};`);
      break;
    case 2:
      text.add(`mov.u32 ${held}, ${id};`, `barrier.cta.sync.aligned ${held}, ${all};`);
      break;
    case 3:
      text.add(`and.b32 ${held}, ${blockUniform(text)}, 7;`, `bar.sync ${held};`);
      break;
    default:
      text.add("bar.sync 0;");
  }
}

/** Each thread puts a value into its place in shared memory, and reads that of another after a barrier. */
export function exchange(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const { threads } = module;
  const slots = text.temporary(64);
  const [mine, from] = [text.temporary(64), text.temporary(64)];
  const index = text.temporary(32);
  text.add(`mov.u64 ${slots}, ${module.shared("xc", 8 * threads)};`, `mad.wide.u32 ${mine}, %lt, 8, ${slots};`);
  meet(scope);
  text.add(`st.shared.b64 [${mine}], ${text.register(64)};`);
  let [first, count] = [0, threads];
  if (module.warps > 1 && random.chance(0.3)) [first, count] = meetInParts(scope);
  else meet(scope);
  if (first === 0 && count === threads) {
    text.add(`add.u32 ${index}, ${random.pick(["%lt", text.register(32)])}, ${random.below(64)};`);
    text.add(`rem.u32 ${index}, ${index}, ${count};`);
  } else text.add(`mov.u32 ${index}, %lt;`, `xor.b32 ${index}, ${index}, ${random.below(16) * 2};`);
  // Lanes of the same warp have met, even where its last lanes do not exist: their places were not written in this
  // round.
  text.add(`min.u32 ${index}, ${index}, ${threads - 1};`, `mad.wide.u32 ${from}, ${index}, 8, ${slots};`);
  text.add(`ld.shared.b64 ${text.register(64)}, [${from}];`);
}

/**
 * Two parties of warps meet at a barrier each, numbered by a register. Returns that no more is known than that the
 * lanes of a warp have met: `[0, 0]`.
 */
function meetInParts({ text, module }: Scope): [number, number] {
  const { random } = text;
  const first = random.between(1, module.warps - 1);
  const p = text.temporary(1);
  const [id, count] = [text.temporary(32), text.temporary(32)];
  text.add(`setp.lt.u32 ${p}, %lt, ${32 * first};`, `selp.u32 ${id}, 8, 9, ${p};`);
  text.add(`selp.u32 ${count}, ${32 * first}, ${32 * (module.warps - first)}, ${p};`);
  text.add(`bar.sync ${id}, ${count};`);
  return [0, 0];
}

/** A reduction over the block while it meets. */
export function blockReduction(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const name = random.pick(["bar.red", "barrier.cta.red"]);
  const count = random.chance(0.3) ? `, ${counted(scope)}` : "";
  const p = `${random.chance(0.3) ? "!" : ""}${text.register(1)}`;
  // Those of all threads at barrier 0 are compiled, where a kernel has no others.
  const at = random.chance(0.6) ? "0" : `${random.below(8)}${count}`;
  if (random.chance(0.5)) text.add(`${name}.popc.u32 ${text.register(32)}, ${at}, ${p};`);
  else text.add(`${name}.${random.pick(["and", "or"])}.pred ${text.register(1)}, ${at}, ${p};`);
}

/** Threads of the block vote at barrier 0, once or in rounds until nobody says yes. */
export function vote({ text }: Scope): void {
  const { random } = text;
  const p = text.register(1);
  const not = random.chance(0.3) ? "!" : "";
  if (random.chance(0.5)) {
    if (random.chance(0.5)) text.add(`bar.red.popc.u32 ${text.register(32)}, 0, ${not}${p};`);
    else text.add(`bar.red.${random.pick(["and", "or"])}.pred ${text.register(1)}, 0, ${not}${p};`);
    if (random.chance(0.3)) text.add("bar.sync 0;");
    return;
  }
  const [count, limit, own] = [text.temporary(32), text.temporary(32), text.temporary(1)];
  const [any, few] = [text.temporary(1), text.temporary(1)];
  const again = text.label();
  text.add(`mov.u32 ${count}, 0;`, `and.b32 ${limit}, ${text.register(32)}, 7;`);
  text.place(again);
  text.add(`add.u32 ${count}, ${count}, 1;`, `setp.lt.u32 ${own}, ${count}, ${limit};`);
  text.add(`xor.b32 ${text.register(32)}, ${text.register(32)}, ${count};`);
  if (random.chance(0.5)) {
    text.add(`bar.red.or.pred ${any}, 0, ${own};`);
    text.add(`setp.lt.u32 ${few}, ${count}, 5;`, `and.pred ${any}, ${any}, ${few};`);
  } else {
    const voters = text.temporary(32);
    text.add(`bar.red.popc.u32 ${voters}, 0, ${not}${own};`, `setp.lt.u32 ${few}, ${count}, 4;`);
    text.add(`setp.gt.u32 ${any}, ${voters}, 3;`, `and.pred ${any}, ${any}, ${few};`);
    text.add(`add.u32 ${text.register(32)}, ${voters}, 1;`);
  }
  text.add(`@${any} bra ${again};`);
}

/** Threads wait for whoever is left of the block: at this barrier or at another one, since all are the same. */
export function pause({ text }: Scope): void {
  text.add(text.random.pick(["bar.sync 0;", "barrier.sync 0;"]));
}

/** Some warps write and arrive, the others wait for them and read. */
export function produce(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const producers = 32 * random.between(1, module.warps - 1);
  const slots = text.temporary(64);
  const at = text.temporary(64);
  const index = text.temporary(32);
  const p = text.temporary(1);
  const [consume, end] = [text.label(), text.label()];
  const id = random.between(10, 15);
  text.add(`mov.u64 ${slots}, ${module.shared("xc", 8 * module.threads)};`);
  text.add("bar.sync 0;", `setp.ge.u32 ${p}, %lt, ${producers};`, `@${p} bra ${consume};`);
  text.add(`mad.wide.u32 ${at}, %lt, 8, ${slots};`, `st.shared.b64 [${at}], ${text.register(64)};`);
  text.add(`bar.arrive ${id}, ${counted(scope)};`, `bra ${end};`);
  text.place(consume);
  text.add(`bar.sync ${id}, ${counted(scope)};`, `rem.u32 ${index}, ${text.register(32)}, ${producers};`);
  text.add(`mad.wide.u32 ${at}, ${index}, 8, ${slots};`, `ld.shared.b64 ${text.register(64)}, [${at}];`);
  text.place(end);
}
