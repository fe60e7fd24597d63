import type { FunctionText } from "./function-text.ts";
import { arrive, awaitPhase, declareMbarriers, initialize, invalidate } from "./mbarriers.ts";
import type { Scope } from "./scope.ts";

/** How a stage is filled. */
type Method = "bulk" | "bulkOfCluster" | "copies" | "stores";

/** A ring of stages in shared memory, each with an mbarrier that says that it is full, and one that it is empty. */
interface Ring {
  readonly method: Method;
  readonly stages: number;
  readonly rounds: number;
  /** Of a stage. */
  readonly bytes: number;
  readonly buffer: string;
  /** `full`, then `empty`, by stage. */
  readonly mbarriers: string;
  /** One thread fills, and the others of its warp wait at the end. */
  readonly single: boolean;
}

/** Registers of one side: where it is in the ring. */
interface Cursor {
  readonly round: string;
  readonly stage: string;
  readonly parity: string;
  /** Addresses of the stage and of its mbarriers. */
  readonly data: string;
  readonly full: string;
  readonly empty: string;
}

const lanes = 32;

/** A loop over the rounds, which calls `body` with where it is. */
function rounds(text: FunctionText, ring: Ring, body: (at: Cursor) => void): void {
  const { stages, bytes, buffer, mbarriers } = ring;
  const word = (): string => text.temporary(32);
  const [round, stage, parity, data, full, empty] = [word(), word(), word(), word(), word(), word()];
  const [p, top] = [text.temporary(1), text.label()];
  const base = word();
  text.add(`mov.b32 ${round}, 0;`, `mov.b32 ${stage}, 0;`, `mov.b32 ${parity}, 0;`);
  text.place(top);
  text.add(`mov.u32 ${base}, ${mbarriers};`, `mad.lo.u32 ${full}, ${stage}, 8, ${base};`);
  text.add(`add.u32 ${empty}, ${full}, ${8 * stages};`, `mov.u32 ${base}, ${buffer};`);
  text.add(`mad.lo.u32 ${data}, ${stage}, ${bytes}, ${base};`);
  body({ round, stage, parity, data, full, empty });
  text.add(`add.u32 ${stage}, ${stage}, 1;`, `setp.eq.u32 ${p}, ${stage}, ${stages};`);
  text.add(`@${p} xor.b32 ${parity}, ${parity}, 1;`, `@${p} mov.b32 ${stage}, 0;`);
  text.add(`add.u32 ${round}, ${round}, 1;`, `setp.lt.u32 ${p}, ${round}, ${ring.rounds};`, `@${p} bra ${top};`);
}

/** An address of shared memory as a register of 32 bits has it, for an operand that wants one of 64. */
function wide(text: FunctionText, address: string): string {
  const to = text.temporary(64);
  text.add(`cvt.u64.u32 ${to}, ${address};`);
  return to;
}

/** Fills a stage from the input: some place that depends on the round, so that stages differ. */
function fill(text: FunctionText, ring: Ring, at: Cursor, step: number): void {
  const { method, bytes } = ring;
  const { random } = text;
  const source = text.temporary(64);
  const [data, full] = [wide(text, at.data), wide(text, at.full)];
  text.add(`mad.wide.u32 ${source}, ${at.round}, ${16 * step}, %input;`);
  switch (method) {
    case "bulk":
    case "bulkOfCluster": {
      const first = 16 * random.between(1, bytes / 16);
      const to = method === "bulk" ? "shared::cta" : "shared::cluster";
      const copy = (offset: number, size: number): string =>
        `cp.async.bulk.${to}.global.mbarrier::complete_tx::bytes [${data}+${offset}], [${source}+${offset}], ${size}, [${full}];`;
      if (random.chance(0.3)) {
        text.add(`mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [${full}], ${bytes};`);
        arrive(text, full);
      } else text.add(`mbarrier.arrive.expect_tx.shared::cta.b64 _, [${full}], ${bytes};`);
      text.add(copy(0, first));
      if (first < bytes) text.add(copy(first, bytes - first));
      break;
    }
    case "copies": {
      const size = random.pick([4, 8, 16] as const);
      const [from, to] = [text.temporary(64), text.temporary(64)];
      text.add(`mad.wide.u32 ${from}, %lane, ${size}, ${source};`, `mad.wide.u32 ${to}, %lane, ${size}, ${data};`);
      for (let offset = 0; offset < bytes; offset += lanes * size) {
        const cache = size === 16 && random.chance(0.5) ? "cg" : "ca";
        text.add(`cp.async.${cache}.shared.global [${to}+${offset}], [${from}+${offset}], ${size};`);
      }
      if (random.chance(0.6)) text.add(`cp.async.mbarrier.arrive.noinc.shared::cta.b64 [${full}];`);
      else {
        text.add(`cp.async.mbarrier.arrive.shared.b64 [${full}];`);
        arrive(text, full);
      }
      break;
    }
    case "stores": {
      const [from, to, value] = [text.temporary(64), text.temporary(64), text.temporary(32)];
      text.add(`mad.wide.u32 ${from}, %lane, 4, ${source};`, `mad.wide.u32 ${to}, %lane, 4, ${data};`);
      for (let offset = 0; offset < bytes; offset += 4 * lanes) {
        text.add(`ld.global.b32 ${value}, [${from}+${offset}];`, `st.shared.b32 [${to}+${offset}], ${value};`);
      }
      arrive(text, full);
    }
  }
}

/** A warp that fills stages of a ring while the others use them. */
export function pipeline(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const method = random.pick(["bulk", "bulkOfCluster", "copies", "stores"] as const);
  const isBulk = method === "bulk" || method === "bulkOfCluster";
  const stages = random.between(1, 4);
  const bytes = isBulk ? 16 * random.between(1, 32) : 512;
  const buffer = module.fresh("ring");
  module.variable(buffer, () => `.shared .align 128 .b8 ${buffer}[${stages * bytes}];`);
  const mbarriers = declareMbarriers(module, 2 * stages);
  const ring: Ring = {
    ...{ method, stages, bytes, buffer, mbarriers: mbarriers.name },
    rounds: random.between(1, 7),
    single: isBulk && random.chance(0.5),
  };
  const consumers = module.threads - lanes;
  const byWarp = random.chance(0.4);
  const arrivals = (count: number): number[] => Array.from({ length: stages }, () => count);
  initialize(text, mbarriers, [...arrivals(isBulk ? 1 : lanes), ...arrivals(byWarp ? consumers / lanes : consumers)]);
  const [p, consume, end] = [text.temporary(1), text.label(), text.label()];
  const isFirst = random.chance(0.5);
  const producer = isFirst ? `setp.ge.u32 ${p}, %lt, ${lanes};` : `setp.lt.u32 ${p}, %lt, ${consumers};`;
  text.add(producer, `@${p} bra ${consume};`);
  produce(scope, ring, end);
  text.add(`bra ${end};`);
  text.place(consume);
  use(scope, ring, byWarp);
  text.place(end);
  invalidate(text, mbarriers);
}

function produce({ text }: Scope, ring: Ring, end: string): void {
  const { random } = text;
  const isBulk = ring.method === "bulk" || ring.method === "bulkOfCluster";
  const [p, step] = [text.temporary(1), random.below(4)];
  if (ring.single) text.add(`setp.ne.u32 ${p}, %lane, 0;`, `@${p} bra ${end};`);
  rounds(text, ring, (at) => {
    // The first round finds every stage empty: the phase before the first counts as complete.
    const parity = text.temporary(32);
    text.add(`xor.b32 ${parity}, ${at.parity}, 1;`);
    awaitPhase(text, at.empty, parity);
    if (!isBulk || ring.single) {
      fill(text, ring, at, step);
      return;
    }
    const after = text.label();
    const chosen = text.temporary(1);
    text.add("bar.warp.sync -1;");
    if (random.chance(0.5)) text.add(`elect.sync _|${chosen}, -1;`, `@!${chosen} bra ${after};`);
    else text.add(`setp.ne.u32 ${chosen}, %lane, 0;`, `@${chosen} bra ${after};`);
    fill(text, ring, at, step);
    text.place(after);
    text.add("bar.warp.sync -1;");
  });
}

function use({ text }: Scope, ring: Ring, byWarp: boolean): void {
  const { random } = text;
  const sum = text.register(32);
  rounds(text, ring, (at) => {
    awaitPhase(text, at.full, at.parity);
    const [place, value] = [text.temporary(32), text.temporary(32)];
    for (let i = random.between(1, 3); i > 0; i--) {
      text.add(`mad.lo.u32 ${place}, %lt, ${random.pick([1, 1, 3, 5])}, ${random.below(64)};`);
      text.add(`rem.u32 ${place}, ${place}, ${ring.bytes / 4};`, `mad.lo.u32 ${place}, ${place}, 4, ${at.data};`);
      text.add(`ld.shared.b32 ${value}, [${place}];`, `mad.lo.u32 ${sum}, ${sum}, 3, ${value};`);
    }
    if (!byWarp) {
      arrive(text, at.empty);
      return;
    }
    const [p, after] = [text.temporary(1), text.label()];
    text.add("bar.warp.sync -1;", `setp.ne.u32 ${p}, %lane, 0;`, `@${p} bra ${after};`);
    arrive(text, at.empty);
    text.place(after);
  });
}
