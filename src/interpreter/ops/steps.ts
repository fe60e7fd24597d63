import type { Op, OpOf, StayingOp } from "../../ir/index.ts";
import { fillLanes, lanesIn } from "../../ir/lane-mask.ts";
import { Fault } from "../../machine/faults/fault.ts";
import type { ChannelRule, Site } from "../../machine/state/code.ts";
import type { Step, UndefinedCheck } from "../../machine/state/launch-state.ts";
import { PendingEffects } from "../../machine/state/pending-effects.ts";
import { trapFault } from "../../program/instruction-faults.ts";
import { registerUsesOf } from "../../ir/flow/warpgroup-registers.ts";
import type { Decoding } from "../compile/decoding.ts";
import type { Run } from "../compile/expr-compiler.ts";
import { makeAtomic } from "./atomic.ts";
import { makeClusterArrive } from "./cluster-barrier.ts";
import { makeCopy } from "./copy.ts";
import { addressWriter, makeLoad, makeStore, type MemoryInstruction } from "./memory-access.ts";
import { makeAlloca, makeStackRestore, makeStackSave } from "./stack.ts";
import { makeSurfaceStep } from "./surface.ts";
import { makeUnit } from "./unit.ts";
import { makeWarpStep } from "./warp-ops.ts";

const noAccesses: Step["accesses"] = [];

/** A class, so that all steps have one hidden class and the loop over them reads their fields directly. */
class InstructionStep implements Step {
  readonly guard: number;
  readonly flip: 0 | -1;
  readonly rule: ChannelRule | null;
  readonly site: Site;
  run: Run;
  readonly accesses: Step["accesses"];
  readonly undefinedCases: readonly UndefinedCheck[];

  constructor(d: Decoding, run: Run, accesses: Step["accesses"] = noAccesses) {
    ({ guard: this.guard, flip: this.flip, rule: this.rule } = d.guard);
    this.site = d.site;
    this.run = run;
    this.accesses = accesses;
    this.undefinedCases = undefinedChecks(d);
  }
}

type Memory = Extract<Op, { kind: "load" | "store" | "atomic" }>;

/** Makes the code of an instruction that does not move its group. */
export function makeStep(d: Decoding, op: StayingOp): Step {
  if (op.kind === "pure") return makePureStep(d, op);
  if (op.kind === "load" || op.kind === "store" || op.kind === "atomic") return makeMemoryStep(d, op);
  if (op.kind === "copy") {
    const { run, accesses } = makeCopy(d, op);
    return new InstructionStep(d, run, accesses);
  }
  return new InstructionStep(d, finished(d, makeRun(d, op)));
}

/** Copies the results to the byte file after `run`. */
function finished({ finish }: Decoding, run: Run): Run {
  if (finish === null) return run;
  return (x, mask) => {
    run(x, mask);
    finish(x, mask);
  };
}

function undefinedChecks({ site, code, operands }: Decoding): UndefinedCheck[] {
  return site.instruction.undefinedCases.map(({ code: name, when }) => {
    const to = code.file.temporary("pred");
    const run = operands.assign([{ value: operands.bind(when), to }]);
    return {
      code: name,
      lanes: (x, mask) => {
        run(x, mask);
        return x.i32[to.base]! & mask;
      },
    };
  });
}

/** Compiles when the step first runs: much of a large kernel never does. */
function makePureStep(d: Decoding, { values }: Extract<Op, { kind: "pure" }>): Step {
  const compile = d.operands.pure(values, d.site.instruction.dst);
  const step = new InstructionStep(d, (x, mask) => {
    step.run = afterProducts(d, compile());
    step.run(x, mask);
  });
  return step;
}

/**
 * Compilers write copies of accumulators in flight, where these are others in the next round of a loop. On a GPU they
 * are the same registers then; here such a copy waits for the products.
 */
function afterProducts({ site }: Decoding, run: Run): Run {
  const uses = registerUsesOf(site.code.ir);
  if (!uses.any || uses.touched(site.index).copies.size === 0) return run;
  return (x, mask) => {
    x.warp.cta.units.existing(PendingEffects)?.completeOf("products", x.warp);
    run(x, mask);
  };
}

function makeMemoryStep(d: Decoding, op: Memory): Step {
  const { operands, site, program } = d;
  if (op.place.kind === "surface") {
    const { run, addresses } = makeSurfaceStep(d, op, op.place);
    return new InstructionStep(d, finished(d, run), [{ ordinal: 0, effect: op.kind, access: op.access, addresses }]);
  }
  const address = operands.address(op.place.address);
  const sources = op.kind === "store" ? op.values.map((v) => v && operands.slot(v)) : [];
  const { lanes, prepare } = operands;
  const memory: MemoryInstruction = { site, access: op.access, address, prepare, lanes };
  const run =
    op.kind === "load"
      ? makeLoad(memory, d.results, program.generate)
      : op.kind === "store"
        ? makeStore(memory, sources, program.generate)
        : makeAtomic(d, memory, op, d.results);
  const accesses = [{ ordinal: 0, effect: op.kind, access: op.access, addresses: addressWriter(memory) }];
  return new InstructionStep(d, finished(d, run), accesses);
}

/** Groups of asynchronous copies, where these take effect late. */
function groupStep(op: OpOf<"commit-copies" | "await-copies">): Run {
  const completion = op.bulk ? "bulk" : "copies";
  return ({ warp }, mask) => {
    const pending = warp.cta.units.existing(PendingEffects);
    if (pending === null) return;
    for (const lane of lanesIn(mask)) {
      if (op.kind === "commit-copies" || op.all) pending.commit(completion, warp, lane);
      if (op.kind === "commit-copies") continue;
      if (op.read) pending.awaitReads(warp, lane, op.pending);
      else pending.await(completion, warp, lane, op.pending);
    }
  };
}

/** Groups of a warp's products, where these take effect late. */
function productStep({ step, ...op }: OpOf<"order-products">): Run {
  if (step === "fence") return nothing;
  return ({ warp }) => {
    const pending = warp.cta.units.existing(PendingEffects);
    if (pending === null) return;
    if (step === "commit") pending.commit("products", warp, 0);
    else pending.await("products", warp, 0, "pending" in op ? op.pending : 0);
  };
}

function makeRun(d: Decoding, op: Exclude<StayingOp, Memory | { kind: "pure" | "copy" }>): Run {
  const { site } = d;
  switch (op.kind) {
    case "warp":
      return makeWarpStep(d, op);
    case "activemask": {
      const [to] = d.results;
      return to ? (x, mask) => fillLanes(x.i32, to.base, mask, mask) : nothing;
    }
    case "unit":
      return makeUnit(d, op);
    case "alloca":
      return makeAlloca(d, op);
    case "stack-save":
      return makeStackSave(d);
    case "stack-restore":
      return makeStackRestore(d, op);
    case "trap":
      return (activation, lanes) => {
        throw trapFault(op, { site, activation, lanes });
      };
    case "unsupported":
      return (activation, lanes) => {
        const message = `${op.what} is not executable yet: ${op.reason}`;
        throw new Fault("not-executable", message, { site, activation, lanes });
      };
    case "cluster-barrier":
      return makeClusterArrive(d, op);
    case "cluster-poll":
      throw new Error("only compiled code polls");
    case "commit-copies":
    case "await-copies":
      return groupStep(op);
    case "order-products":
      return productStep(op);
    case "fence":
    case "nothing":
    // A debugger sees the instruction like any other; without one there is nothing to stop for.
    case "breakpoint":
      return nothing;
  }
}

const nothing: Run = () => {};
