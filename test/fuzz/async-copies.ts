import { binsBytes } from "./atomics.ts";
import { awaitPhase, byFirstThread, declareMbarriers, initialize, invalidate, meetAll } from "./mbarriers.ts";
import type { FunctionText } from "./function-text.ts";
import type { Random } from "./random.ts";
import type { Scope } from "./scope.ts";

/** Groups of `cp.async`, of which each thread waits for some, and then the block for all. */
export function copyGroups(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const { threads } = module;
  const groups = random.between(1, 4);
  const name = module.fresh("cp");
  module.variable(name, () => `.shared .align 16 .b8 ${name}[${groups * threads * 16}];`);
  const [base, mine, at, index] = [text.temporary(64), text.temporary(64), text.temporary(64), text.temporary(32)];
  meetAll(text);
  text.add(`mov.u64 ${base}, ${name};`, `mad.wide.u32 ${mine}, %lt, 16, ${base};`);
  for (let group = 0; group < groups; group++) {
    for (let at = 0; at < 16; ) {
      const size = random.pick([4, 8, 16].filter((n) => n <= 16 - at && at % n === 0));
      text.add(copyLine(text, `${mine}+${16 * threads * group + at}`, `%inp+${16 * random.below(24) + at}`, size));
      at += size;
    }
    text.add("cp.async.commit_group;");
  }
  const pending = random.below(groups);
  text.add(`cp.async.wait_group ${pending};`);
  const complete = groups - pending;
  text.add(`ld.shared.b64 ${text.register(64)}, [${mine}+${16 * threads * random.below(complete)}];`);
  if (pending > 0 && random.chance(0.5)) {
    meetAll(text);
    readOther(random.below(complete));
  }
  text.add(random.pick(["cp.async.wait_all;", "cp.async.wait_group 0;"]));
  meetAll(text);
  readOther(random.below(groups));
  meetAll(text);

  function readOther(group: number): void {
    text.add(`add.u32 ${index}, %lt, ${random.below(threads)};`, `rem.u32 ${index}, ${index}, ${threads};`);
    text.add(`mad.wide.u32 ${at}, ${index}, 16, ${base};`);
    text.add(`ld.shared.b64 ${text.register(64)}, [${at}+${16 * threads * group + 8 * random.below(2)}];`);
  }
}

/** One `cp.async`: whole, with fewer bytes read, or with its source ignored. */
function copyLine(text: FunctionText, to: string, from: string, size: number): string {
  const { random } = text;
  const cache = size === 16 && random.chance(0.5) ? "cg" : "ca";
  const prefetch = random.pick(["", "", "", ".L2::128B"]);
  const line = `cp.async.${cache}.shared.global${prefetch} [${to}], [${from}], ${size}`;
  switch (random.below(5)) {
    case 0: {
      const read = text.temporary(32);
      text.add(`and.b32 ${read}, ${text.register(32)}, ${size - 1};`);
      return `${line}, ${read};`;
    }
    case 1:
      return `${line}, ${random.below(size + 1)};`;
    case 2:
      return `${line}, ${text.register(1)};`;
    default:
      return `${line};`;
  }
}

/** What a bulk reduction may do, with the types that go with it. */
const reductions = {
  and: ["b32", "b64"],
  or: ["b32", "b64"],
  xor: ["b32", "b64"],
  add: ["u32", "s32", "u64", "f32", "f64"],
  inc: ["u32"],
  dec: ["u32"],
  min: ["u32", "s32", "u64", "s64", "f16", "bf16"],
  max: ["u32", "s32", "u64", "s64", "f16", "bf16"],
} as const;

function reduction(random: Random): string {
  if (random.chance(0.15)) return `.add.noftz.${random.pick(["f16", "bf16"])}`;
  const op = random.pick(Object.keys(reductions) as (keyof typeof reductions)[]);
  return `.${op}.${random.pick(reductions[op])}`;
}

/** Memory of the block in the bins' buffer. */
function ownBins(text: FunctionText): string {
  const own = text.temporary(64);
  text.add(`mad.wide.u32 ${own}, %cta, ${binsBytes}, %bins;`, `add.s64 ${own}, ${own}, ${binsBytes};`);
  return own;
}

/**
 * All threads write shared memory, and one copies it to global memory, or reduces it into that, by bulk groups. With
 * `.read` the source may be written again before the destination is.
 */
export function bulkStores(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const words = 2 * module.threads;
  const bytes = 16 * random.between(1, Math.min(32, words / 4));
  const name = module.fresh("bulk");
  module.variable(name, () => `.shared .align 16 .b8 ${name}[${4 * words}];`);
  const [own, mine] = [ownBins(text), text.temporary(64)];
  const times = random.between(1, 3);
  text.add(`mov.u64 ${mine}, ${name};`, `mad.wide.u32 ${mine}, %lt, 8, ${mine};`);
  for (let i = 1; i <= times; i++) {
    text.add(`st.shared.b64 [${mine}], ${text.register(64)};`);
    text.add(random.pick(["fence.proxy.async;", "fence.proxy.async.shared::cta;"]));
    meetAll(text);
    byFirstThread(text, () => {
      const source = text.temporary(64);
      text.add(`mov.u64 ${source}, ${name};`);
      // What an earlier copy has only read may not be written yet.
      if (i === 1) text.add("cp.async.bulk.wait_group 0;");
      const place = 16 * random.below(1 + (binsBytes - bytes) / 16);
      text.add(bulkStore(text, `${own}+${place}`, source, bytes), "cp.async.bulk.commit_group;");
      // Two copies to the same memory are in no order before the first is complete.
      text.add(`cp.async.bulk.wait_group${i === times && random.chance(0.5) ? ".read" : ""} 0;`);
    });
    meetAll(text);
  }
}

function bulkStore(text: FunctionText, to: string, from: string, bytes: number): string {
  const { random } = text;
  const size = text.temporary(32);
  text.add(`mov.b32 ${size}, ${bytes};`);
  const length = random.pick([`${bytes}`, size]);
  switch (random.below(4)) {
    case 0:
      return `cp.async.bulk.global.shared::cta.bulk_group [${to}], [${from}], ${length};`;
    case 1: {
      if (text.target.sm < 100) return `cp.async.bulk.global.shared::cta.bulk_group [${to}], [${from}], ${length};`;
      return `cp.async.bulk.global.shared::cta.bulk_group.cp_mask [${to}], [${from}], ${length}, ${random.below(65536)};`;
    }
    default:
      return `cp.reduce.async.bulk.global.shared::cta.bulk_group${reduction(random)} [${to}], [${from}], ${length};`;
  }
}

const sharedReductions = [
  ...["and.b32", "or.b32", "xor.b32", "add.u32", "add.s32", "add.u64", "inc.u32", "dec.u32"],
  ...["min.u32", "min.s32", "max.u32", "max.s32"],
] as const;

/** Copies and reductions from shared memory to shared memory, which an mbarrier counts. */
export function bulkWithin(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const bytes = 16 * random.between(1, module.threads / 2);
  const name = module.fresh("move");
  module.variable(name, () => `.shared .align 16 .b8 ${name}[${2 * 8 * module.threads}];`);
  const half = 8 * module.threads;
  const mine = text.temporary(64);
  const mbarriers = declareMbarriers(module, 1);
  initialize(text, mbarriers, [1]);
  text.add(`mov.u64 ${mine}, ${name};`, `mad.wide.u32 ${mine}, %lt, 8, ${mine};`);
  text.add(`st.shared.b64 [${mine}], ${text.register(64)};`, `st.shared.b64 [${mine}+${half}], ${text.register(64)};`);
  text.add("fence.proxy.async.shared::cta;");
  meetAll(text);
  byFirstThread(text, () => {
    const start = text.temporary(64);
    text.add(`mov.u64 ${start}, ${name};`);
    const mbarrier = text.temporary(64);
    text.add(`mov.u64 ${mbarrier}, ${mbarriers.name};`);
    const reduces = random.chance(0.6);
    const opcode = reduces ? "cp.reduce.async.bulk" : "cp.async.bulk";
    const op = reduces ? `.${random.pick(sharedReductions)}` : "";
    text.add(`mbarrier.arrive.expect_tx.shared::cta.b64 _, [${mbarrier}], ${bytes};`);
    text.add(
      `${opcode}.shared::cluster.shared::cta.mbarrier::complete_tx::bytes${op} [${start}+${half}], [${start}], ${bytes}, [${mbarrier}];`,
    );
  });
  const parity = text.temporary(32);
  text.add(`mov.b32 ${parity}, 0;`);
  awaitPhase(text, mbarriers.name, parity);
  text.add(`ld.shared.b64 ${text.register(64)}, [${mine}+${half}];`);
  invalidate(text, mbarriers);
}
