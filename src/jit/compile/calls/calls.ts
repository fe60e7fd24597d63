import type { CallOp } from "../../../ir/calls.ts";
import type { Instruction } from "../../../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm, type WasmTy } from "../../../wasm/index.ts";
import { callEntry } from "../../abi/context-layout.ts";
import { Unsupported } from "../../abi/refusal.ts";
import type { WarpInstruction } from "../analysis/flow/warp-wait-blocks.ts";
import type { Chunk } from "../emit/chunk.ts";
import { anyOf, laneBits } from "../lanes/mask-bits.ts";
import { bothMasks, fullMask, type Mask } from "../lanes/mask.ts";
import { type Convention, conventionOf, functionName, maskParam, wasmSignature } from "../plan/calling-convention.ts";
import { loadLive, performNamed, storeLive } from "../sync/named-lanes.ts";
import type { CallSite } from "./call-site.ts";
import { allOf, CallValues, type Returned } from "./call-values.ts";
import type { Caller } from "./caller.ts";
import { ExternalCalls } from "./external-calls.ts";
import { IndirectTargets } from "./indirect-targets.ts";
import { ResumableCalls } from "./resumable-calls.ts";

/** Receives one call's results, the lanes that made it, and whether those are all lanes at the call site. */
type Collect = (returned: Returned, lanes: readonly Wasm[], isOnly: boolean) => void;

/** Calls of functions of the program: passes arguments, enters callees, merges results. */
export class Calls {
  readonly #caller: Caller;
  readonly #externals: ExternalCalls;
  readonly #values: CallValues;
  /** Null where lanes never suspend. */
  readonly #resumable: ResumableCalls | null;
  readonly #chunk: Chunk;
  readonly #writer: FunctionWriter;

  constructor(caller: Caller) {
    const { chunk, flow, memory, suspension, frame } = caller;
    this.#caller = caller;
    this.#chunk = chunk;
    this.#writer = chunk.writer;
    this.#values = new CallValues(chunk, frame);
    this.#resumable = suspension === null ? null : new ResumableCalls(chunk, flow, memory, suspension);
    this.#externals = new ExternalCalls(caller);
  }

  /** Writes a call for the active lanes in which the guard holds, if there are any. */
  call(block: number, index: number, instruction: Instruction, op: CallOp): void {
    const chunk = this.#chunk;
    const guard = instruction.guard === null ? null : chunk.guardMask(instruction.guard);
    const mask = chunk.maskOf(block, guard);
    const lanes = mask ?? fullMask(chunk.quads);
    const write = (): void => {
      if (this.#isExternal(op)) {
        this.#externals.call(block, index, op, lanes, guard);
        return;
      }
      this.#storeLive(op);
      const site = this.#siteOf(index, op);
      if (this.#resumable !== null && this.#caller.unit.graph.maySuspend(instruction)) {
        this.#callResumable(this.#resumable, block, site, lanes);
      } else this.#callToEnd(block, site, lanes, guard);
    };
    if (guard === null) write();
    else {
      this.#writer.value(anyOf(mask!));
      this.#writer.if(write);
    }
  }

  #siteOf(index: number, op: CallOp): CallSite {
    const convention = this.#conventionOf(op);
    const targets = this.#caller.unit.graph.targetsOf(op);
    return { index, op, convention, targets, memory: this.#values.slotsOf(convention, op) };
  }

  /** Calls functions that never suspend. */
  #callToEnd(block: number, site: CallSite, lanes: readonly Wasm[], guard: Mask): void {
    let all: Returned | null = site.op.target.kind === "direct" ? null : this.#values.accumulators(site);
    this.#begin(site, lanes, (returned, here, isOnly) => {
      if (all === null) all = returned;
      else this.#merge(all, returned, isOnly ? null : here);
    });
    const returned = all!;
    this.#values.write(block, site, returned, guard);
    if (returned.lanes !== null) this.#exitInCallee(block, lanes, returned.lanes);
    for (const local of allOf(returned)) this.#writer.release(local);
  }

  /**
   * Begins or resumes functions that may suspend. Of the lanes at the call, those continue after it that have returned.
   */
  #callResumable(resumable: ResumableCalls, block: number, site: CallSite, lanes: readonly Wasm[]): void {
    const w = this.#writer;
    const all = this.#values.accumulators(site);
    const collect: Collect = (returned, here) => this.#merge(all, returned, here);
    const suspended = resumable.write(block, lanes, {
      resume: (callee, here) => this.#resume(site, callee, here, collect),
      begin: (here, note) => {
        const collectAndNote: Collect = (returned, called) => {
          collect(returned, called, false);
          note();
        };
        this.#begin(site, here, collectAndNote, () => resumable.noteBegin());
      },
    });
    const back = lanes.map((mask, q) => ({
      local: w.local("v128"),
      value: wasm.op("v128.andnot", mask, wasm.local("v128", suspended[q]!)),
    }));
    w.assign(back);
    const returned = back.map(({ local }) => wasm.local("v128", local));
    const written =
      all.lanes === null
        ? returned
        : bothMasks(
            returned,
            all.lanes.map((l) => wasm.local("v128", l)),
          );
    this.#values.write(block, site, all, written);
    if (all.lanes !== null) this.#exitInCallee(block, returned, all.lanes);
    this.#caller.flow.switchIfNoneActive(block);
    for (const local of [...allOf(all), ...suspended, ...back.map((b) => b.local)]) w.release(local);
  }

  /** Merges the results of some lanes (null: of all) into those of others. */
  #merge(all: Returned, some: Returned, lanes: readonly Wasm[] | null): void {
    this.#values.merge(all, some, lanes);
    for (const local of allOf(some)) this.#writer.release(local);
  }

  /** Notes for the caller of a function that lanes have exited in it. */
  noteExits(lanes: readonly Wasm[]): void {
    const { ended } = this.#caller;
    if (ended === null) return;
    this.#writer.assign(
      ended.map((local, q) => ({ local, value: wasm.op("v128.or", wasm.local("v128", local), lanes[q]!) })),
    );
  }

  #isExternal(op: CallOp): boolean {
    const targets = this.#caller.unit.graph.targetsOf(op);
    if (!targets.some((f) => f.ir.external)) return false;
    if (op.target.kind === "indirect") throw new Unsupported("functions without a body that are called by address");
    return true;
  }

  /** Stores which lanes have not exited, if a callee has to know. */
  #storeLive(op: CallOp): void {
    const { unit, ended, isFunction } = this.#caller;
    if (!unit.graph.targetsOf(op).some((f) => unit.graph.waitsForLanes(f))) return;
    const w = this.#writer;
    if (!isFunction) storeLive(w, this.#caller.memory, laneBits(this.#caller.flow.live()));
    else if (ended !== null) {
      const live = w.local("i32");
      loadLive(w, this.#caller.memory, live);
      const exited = laneBits(ended.map((local) => wasm.local("v128", local)));
      const left = wasm.op("i32.and", wasm.local("i32", live), wasm.op("i32.xor", exited, wasm.i32(-1)));
      storeLive(w, this.#caller.memory, left);
      w.release(live);
    }
  }

  /**
   * Performs a warp-wide operation, of the lanes in which a guard holds. In a function, lanes may name different ones,
   * and the launch is given up if they name any that are not in it.
   */
  performNamed(block: number, { warp, mask }: WarpInstruction, guard: Mask, perform: (lanes: Mask) => void): void {
    const { unit, isFunction, ended, memory } = this.#caller;
    const chunk = this.#chunk;
    if (mask === null || !isFunction || !chunk.analysis.isWarpWait(block)) {
      perform(guard);
      return;
    }
    const active = chunk.maskOf(block, guard) ?? fullMask(chunk.quads);
    const exited = (ended ?? []).map((local) => wasm.local("v128", local));
    const arrivals = { active, ended: exited };
    performNamed(chunk, unit, memory, { warp, mask }, arrivals, (group) => perform(group ?? guard));
  }

  #conventionOf(op: CallOp): Convention {
    const { unit } = this.#caller;
    const { target } = op;
    if (target.kind === "indirect") return conventionOf(target.signature, unit.graph.mayExitByAddress);
    const [callee] = unit.graph.targetsOf(op);
    return unit.functionPlans.get(callee!)!.convention;
  }

  /** Lanes enter functions at their beginning. `before`: is written before each call. */
  #begin(site: CallSite, lanes: readonly Wasm[], collect: Collect, before: () => void = () => {}): void {
    const w = this.#writer;
    const passed = this.#values.inRegisters(site);
    const enter = (callee: Wasm, here: readonly Wasm[], isOnly: boolean, args: readonly Wasm[]): void => {
      this.#values.stage(site);
      this.#fillEntry(site, callee);
      before();
      collect(this.#enter(site, callee, here, args), here, isOnly);
    };
    if (site.op.target.kind === "direct") {
      enter(wasm.i32(site.targets[0]!.number), lanes, true, passed);
      return;
    }
    const args = passed.map((value) => ({ local: w.local(value.ty), value }));
    w.assign(args);
    const locals = args.map(({ local, value }) => wasm.local(value.ty, local));
    const indirect = new IndirectTargets(this.#caller);
    indirect.each(site, lanes, (callee, here, isOnly) => enter(callee, here, isOnly, locals));
    for (const { local } of args) w.release(local);
  }

  /** Lanes resume in a function that has suspended, which no longer reads its arguments: any will do. */
  #resume(site: CallSite, callee: Wasm, lanes: readonly Wasm[], collect: Collect): void {
    const { quads } = this.#chunk;
    this.#fillEntry(site, callee);
    const args = wasmSignature(site.convention, quads)
      .params.slice(maskParam + quads)
      .map(zeroOf);
    collect(this.#enter(site, callee, lanes, args), lanes, false);
  }

  /** Calls the function with a number, and takes what it returns. */
  #enter(site: CallSite, callee: Wasm, lanes: readonly Wasm[], args: readonly Wasm[]): Returned {
    const w = this.#writer;
    const { convention, targets } = site;
    w.values([...this.#start(), ...lanes, ...args]);
    if (site.op.target.kind === "direct") w.call(functionName(targets[0]!));
    else {
      w.value(callee);
      const { params, results } = wasmSignature(convention, this.#chunk.quads);
      w.callIndirect(this.#caller.unit.module.type(params, results));
    }
    const returned = this.#values.locals(convention);
    this.#values.pop(returned);
    return this.#values.fetch(returned, site);
  }

  /** The first arguments of every function of the module. */
  #start(): readonly Wasm[] {
    const { context, entry, layout } = this.#caller.memory;
    return [wasm.local("i32", context), wasm.op("i32.add", wasm.local("i32", entry), wasm.i32(layout.callBytes))];
  }

  /** Fills the callee's entry in the shadow stack. `callee`: its number. */
  #fillEntry({ index, op, targets, memory }: CallSite, callee: Wasm): void {
    const { unit, frame } = this.#caller;
    const { entry, layout, siteOf } = this.#caller.memory;
    const { stacks } = unit;
    if (!targets.some((f) => stacks.isTracked(f))) return;
    const w = this.#writer;
    const set = (offset: number, value: Wasm): void => {
      w.get(entry);
      w.value(value);
      w.memory("i32.store", 4, layout.callBytes + offset);
    };
    set(callEntry.site, wasm.i32(siteOf(index, null)));
    set(callEntry.callee, callee);
    if (stacks.isChecked) {
      set(callEntry.cost, frame.cost);
      set(callEntry.room, frame.room);
    }
    if (!targets.some((f) => stacks.isFramed(f))) return;
    set(callEntry.top, frame.top);
    for (const [i, slot] of memory.params) set(layout.callParams + 4 * i, slot);
    for (const [i, slot] of memory.results) set(layout.callResults + 4 * i, slot);
    const unsized = targets.find((f) => f.ir.params.at(-1)?.type.unsized);
    if (unsized === undefined) return;
    const arg = op.args[unsized.ir.params.length - 1];
    set(callEntry.unsized, wasm.i32(arg?.kind === "frame" ? arg.size : 0));
  }

  /** Lanes that have called but not returned have exited in the callee: they leave this function, too. */
  #exitInCallee(block: number, called: readonly Wasm[], returned: readonly number[]): void {
    const w = this.#writer;
    const missing = returned.map((mask, q) => ({
      local: w.local("v128"),
      value: wasm.op("v128.andnot", called[q]!, wasm.local("v128", mask)),
    }));
    w.assign(missing);
    const exited = missing.map(({ local }) => wasm.local("v128", local));
    this.noteExits(exited);
    this.#caller.flow.leave(block, exited);
    for (const { local } of missing) w.release(local);
  }
}

/** An argument that is never read. */
function zeroOf(ty: WasmTy): Wasm {
  switch (ty) {
    case "i32":
      return wasm.i32(0);
    case "i64":
      return wasm.i64(0n);
    case "f32":
      return wasm.f32(0);
    case "f64":
      return wasm.f64(0);
    case "v128":
      return wasm.i32x4(0);
  }
}
