import type { FunctionText } from "./function-text.ts";
import { awaitPhase, byFirstThread, declareMbarriers, invalidate, type Mbarriers } from "./mbarriers.ts";
import type { Scope } from "./scope.ts";

/** All threads of the cluster come together, in one of the ways to write it. */
export function meetCluster(text: FunctionText): void {
  const { random } = text;
  const aligned = random.chance(0.5) ? ".aligned" : "";
  text.add(`barrier.cluster.arrive${random.pick(["", ".release"])}${aligned};`);
  text.add(`barrier.cluster.wait${random.pick(["", ".acquire"])}${aligned};`);
}

/** The rank of a block some ranks further on, in a register. */
function neighbour(text: FunctionText, step: number): string {
  const [rank, size] = [text.temporary(32), text.temporary(32)];
  text.add(`mov.u32 ${rank}, %cluster_ctarank;`, `mov.u32 ${size}, %cluster_nctarank;`);
  text.add(`add.u32 ${rank}, ${rank}, ${step};`, `rem.u32 ${rank}, ${rank}, ${size};`);
  return rank;
}

/** The address in another block of what is at an address in this one. `at`: a register or a name. */
function inBlock(text: FunctionText, at: string, rank: string): string {
  const [own, other] = [text.temporary(64), text.temporary(64)];
  text.add(`mov.u64 ${own}, ${at};`, `mapa.shared::cluster.u64 ${other}, ${own}, ${rank};`);
  return other;
}

/** Shared memory with eight bytes for each thread, and the address of the thread's own. */
function slots({ text, module }: Scope): { readonly base: string; readonly mine: string } {
  const name = module.fresh("slots");
  module.variable(name, () => `.shared .align 16 .b8 ${name}[${8 * module.threads}];`);
  const [base, mine] = [text.temporary(64), text.temporary(64)];
  text.add(`mov.u64 ${base}, ${name};`, `mad.wide.u32 ${mine}, %lt, 8, ${base};`);
  return { base, mine };
}

/** Initializes mbarriers in all blocks, and lets the cluster use them. */
function initializeAll(text: FunctionText, { name }: Mbarriers, expected: number): void {
  byFirstThread(text, () => {
    text.add(`mbarrier.init.shared::cta.b64 [${name}], ${expected};`, "fence.mbarrier_init.release.cluster;");
  });
  meetCluster(text);
}

/** Each thread writes its place in shared memory, and reads one of another block, or adds to it. */
export function clusterExchange(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const { base, mine } = slots(scope);
  const [index, at] = [text.temporary(32), text.temporary(64)];
  text.add(`st.shared.b64 [${mine}], ${text.register(64)};`);
  meetCluster(text);
  const other = inBlock(text, base, neighbour(text, random.between(0, 3)));
  text.add(`add.u32 ${index}, %lt, ${random.below(64)};`, `rem.u32 ${index}, ${index}, ${module.threads};`);
  text.add(`mad.wide.u32 ${at}, ${index}, 8, ${other};`);
  switch (random.below(4)) {
    case 0:
      text.add(`red.shared::cluster.add.u32 [${at}], ${text.register(32)};`);
      break;
    case 1:
      text.add(`cvta.shared::cluster.u64 ${at}, ${at};`, `ld.b64 ${text.register(64)}, [${at}];`);
      break;
    default:
      text.add(`ld.shared::cluster.b64 ${text.register(64)}, [${at}];`);
  }
  meetCluster(text);
  text.add(`ld.shared.b64 ${text.register(64)}, [${mine}];`);
}

/** Each thread stores into another block, whose mbarrier counts the bytes. */
export function clusterStores(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const { mine } = slots(scope);
  const mbarriers = declareMbarriers(module, 1);
  const { name } = mbarriers;
  text.add(`st.shared.b64 [${mine}], ${text.register(64)};`);
  initializeAll(text, mbarriers, 1);
  byFirstThread(text, () => {
    text.add(`mbarrier.arrive.expect_tx.shared::cta.b64 _, [${name}], ${8 * module.threads};`);
  });
  const rank = neighbour(text, random.between(0, 3));
  const [to, mbarrier] = [inBlock(text, mine, rank), inBlock(text, name, rank)];
  const counted = ".shared::cluster.mbarrier::complete_tx::bytes";
  switch (random.below(3)) {
    case 0:
      text.add(`st.async.weak${counted}.b64 [${to}], ${text.register(64)}, [${mbarrier}];`);
      break;
    case 1:
      text.add(`st.async.weak${counted}.v2.b32 [${to}], {${text.register(32)}, ${text.register(32)}}, [${mbarrier}];`);
      break;
    default:
      text.add(`red.async.relaxed.cluster${counted}.add.u64 [${to}], ${text.register(64)}, [${mbarrier}];`);
  }
  const parity = text.temporary(32);
  text.add(`mov.b32 ${parity}, 0;`);
  awaitPhase(text, name, parity);
  text.add(`ld.shared.b64 ${text.register(64)}, [${mine}];`);
  meetCluster(text);
  invalidate(text, mbarriers);
}

/** Each thread of the cluster arrives at an mbarrier of each of some blocks, after it has written. */
export function clusterArrivals(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const { base, mine } = slots(scope);
  const mbarriers = declareMbarriers(module, 1);
  initializeAll(text, mbarriers, module.threads);
  text.add(`st.shared.b64 [${mine}], ${text.register(64)};`);
  const step = random.between(0, 3);
  const to = inBlock(text, mbarriers.name, neighbour(text, step));
  text.add(`mbarrier.arrive.release.cluster.shared::cluster.b64 _, [${to}];`);
  // Those of the block before this one have arrived here: what they wrote may be read.
  const parity = text.temporary(32);
  const [p, top] = [text.temporary(1), text.label()];
  text.add(`mov.b32 ${parity}, 0;`);
  text.place(top);
  const wait = `mbarrier.${random.pick(["try", "test"])}_wait.parity.acquire.cluster.shared::cta.b64`;
  text.add(`${wait} ${p}, [${mbarriers.name}], ${parity};`, `@!${p} bra ${top};`);
  const size = text.temporary(32);
  const back = neighbour(text, 0);
  text.add(`mov.u32 ${size}, %cluster_nctarank;`, `mad.lo.u32 ${back}, ${size}, 4, ${back};`);
  text.add(`sub.u32 ${back}, ${back}, ${step};`, `rem.u32 ${back}, ${back}, ${size};`);
  const at = text.temporary(64);
  text.add(`sub.s64 ${at}, ${mine}, ${base};`, `add.s64 ${at}, ${at}, ${inBlock(text, base, back)};`);
  text.add(`ld.shared::cluster.b64 ${text.register(64)}, [${at}];`);
  meetCluster(text);
  invalidate(text, mbarriers);
}

/** One block copies from global memory into several, each of which waits for its own copy. */
export function clusterMulticast(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const { base } = slots(scope);
  const mbarriers = declareMbarriers(module, 1);
  const { name } = mbarriers;
  const bytes = 16 * random.between(1, module.threads / 2);
  initializeAll(text, mbarriers, 1);
  byFirstThread(text, () => {
    const [mask, half, p, end] = [text.temporary(32), text.temporary(16), text.temporary(1), text.label()];
    const rank = neighbour(text, 0);
    text.add(`mbarrier.arrive.expect_tx.shared::cta.b64 _, [${name}], ${bytes};`);
    text.add(`setp.ne.u32 ${p}, ${rank}, ${random.below(2)};`, `@${p} bra ${end};`);
    text.add(`mov.u32 ${mask}, %cluster_nctarank;`, `shl.b32 ${mask}, 1, ${mask};`, `sub.u32 ${mask}, ${mask}, 1;`);
    text.add(`cvt.u16.u32 ${half}, ${mask};`);
    const copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster";
    text.add(`${copy} [${base}], [%input+${16 * random.below(32)}], ${bytes}, [${name}], ${half};`);
    text.place(end);
  });
  const parity = text.temporary(32);
  text.add(`mov.b32 ${parity}, 0;`);
  awaitPhase(text, name, parity);
  text.add(`and.b32 ${parity}, %lt, ${bytes / 16 - 1};`, `min.u32 ${parity}, ${parity}, ${bytes / 8 - 1};`);
  const at = text.temporary(64);
  text.add(`mad.wide.u32 ${at}, ${parity}, 8, ${base};`, `ld.shared.b64 ${text.register(64)}, [${at}];`);
  meetCluster(text);
  invalidate(text, mbarriers);
}
