import type { CallOp } from "../../../ir/calls.ts";
import type { Instruction } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm, type WasmTy } from "../../../wasm/index.ts";
import { callEntry } from "../../abi/context-layout.ts";
import { Unsupported } from "../../abi/refusal.ts";
import { allLanes, type Chunk } from "../emit/chunk.ts";
import { anyOf, laneBits } from "../lanes/mask-bits.ts";
import { bothMasks, type Mask } from "../lanes/mask.ts";
import type { CompiledFunction } from "../plan/callables.ts";
import { type Convention, conventionOf, functionName, maskParam, wasmSignature } from "../plan/calling-convention.ts";
import { loadLive, requireNamed, tellLive } from "../sync/named-lanes.ts";
import { allOf, CallValues, type InMemory, type Returned } from "./call-values.ts";
import type { Caller } from "./caller.ts";
import { ExternalCalls } from "./external-calls.ts";
import { IndirectTargets } from "./indirect-targets.ts";
import { ResumableCalls } from "./resumable-calls.ts";

/** Is given what has come back from one call, the lanes that have made it, and whether these are all that call. */
type Collect = (returned: Returned, lanes: readonly Wasm[], isOnly: boolean) => void;

/** Calls of functions of the program: what is passed, where lanes go, what comes back. */
export class Calls {
  readonly #caller: Caller;
  readonly #externals: ExternalCalls;
  readonly #values: CallValues;
  readonly #pausing: ResumableCalls | null;
  readonly #chunk: Chunk;
  readonly #writer: FunctionWriter;

  constructor(caller: Caller) {
    const { chunk, flow, memory, suspension, unit, frame } = caller;
    this.#caller = caller;
    this.#chunk = chunk;
    this.#writer = chunk.writer;
    this.#values = new CallValues(chunk, frame);
    this.#pausing = suspension === null ? null : new ResumableCalls(chunk, flow, memory, suspension);
    this.#externals = new ExternalCalls(chunk, unit, memory, frame);
  }

  /** Calls in the active lanes in which the guard holds, if there are any. */
  call(block: number, index: number, instruction: Instruction, op: CallOp): void {
    const chunk = this.#chunk;
    const guard = instruction.guard === null ? null : chunk.guardMask(instruction.guard);
    const mask = chunk.maskOf(block, guard);
    const lanes = mask ?? allLanes(chunk);
    const write = (): void => {
      if (this.#isExternal(op)) {
        this.#externals.call(block, index, op, lanes, guard);
        return;
      }
      this.#tellLive(op);
      const convention = this.#conventionOf(op);
      if (this.#pausing !== null && this.#caller.unit.graph.maySuspend(instruction)) {
        this.#callPausing(this.#pausing, block, index, op, lanes);
        return;
      }
      const returned = this.#all(index, op, convention, lanes);
      this.#values.write(block, convention, op.results, returned, guard);
      if (returned.lanes !== null) this.#lose(block, lanes, returned.lanes);
      for (const local of allOf(returned)) this.#writer.release(local);
    };
    if (guard === null) write();
    else {
      this.#writer.value(anyOf(mask!));
      this.#writer.if(write);
    }
  }

  /** What comes back from what lanes call. */
  #all(index: number, op: CallOp, convention: Convention, lanes: readonly Wasm[]): Returned {
    let all: Returned | null = op.target.kind === "direct" ? null : this.#values.accumulators(convention, op);
    this.#begin(index, op, convention, lanes, (returned, here, isOnly) => {
      if (all === null) all = returned;
      else this.#collect(all, returned, isOnly ? null : here);
    });
    return all!;
  }

  /** Of the lanes at a call, those go on behind it that have returned. */
  #callPausing(pausing: ResumableCalls, block: number, index: number, op: CallOp, lanes: readonly Wasm[]): void {
    const w = this.#writer;
    const convention = this.#conventionOf(op);
    const all = this.#values.accumulators(convention, op);
    const collect: Collect = (returned, here) => this.#collect(all, returned, here);
    const waits = pausing.write(block, lanes, {
      goOn: (callee, here) => this.#goOn(index, op, convention, callee, here, collect),
      begin: (here, note) => {
        const collectAndNote: Collect = (returned, called) => {
          collect(returned, called, false);
          note();
        };
        this.#begin(index, op, convention, here, collectAndNote, () => pausing.tellBegin());
      },
    });
    const back = lanes.map((mask, q) => ({
      local: w.local("v128"),
      value: wasm.op("v128.andnot", mask, wasm.local("v128", waits[q]!)),
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
    this.#values.write(block, convention, op.results, all, written);
    if (all.lanes !== null) this.#lose(block, returned, all.lanes);
    this.#caller.flow.goOnIfNobody(block);
    for (const local of [...allOf(all), ...waits, ...back.map((b) => b.local)]) w.release(local);
  }

  #collect(all: Returned, some: Returned, lanes: readonly Wasm[] | null): void {
    this.#values.collect(all, some, lanes);
    for (const local of allOf(some)) this.#writer.release(local);
  }

  /** Lanes end: in a function, those who called it are to know. */
  end(lanes: readonly Wasm[]): void {
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

  /** The lanes that have not ended, for functions that have to know. */
  #tellLive(op: CallOp): void {
    const { unit, ended, isFunction } = this.#caller;
    if (!unit.graph.targetsOf(op).some((f) => unit.graph.waitsForLanes(f))) return;
    const w = this.#writer;
    if (!isFunction) tellLive(w, this.#caller.memory, laneBits(this.#caller.flow.everybody()));
    else if (ended !== null) {
      const live = w.local("i32");
      loadLive(w, this.#caller.memory, live);
      const gone = laneBits(ended.map((local) => wasm.local("v128", local)));
      const left = wasm.op("i32.and", wasm.local("i32", live), wasm.op("i32.xor", gone, wasm.i32(-1)));
      tellLive(w, this.#caller.memory, left);
      w.release(live);
    }
  }

  /** Lanes that a warp-wide operation names may not be in this function. */
  meet(block: number, named: Expr, guard: Mask): void {
    const { unit, isFunction, ended } = this.#caller;
    const chunk = this.#chunk;
    if (!isFunction || !chunk.analysis.isWarpWait(block)) return;
    const active = chunk.maskOf(block, guard) ?? allLanes(chunk);
    const gone = (ended ?? []).map((local) => wasm.local("v128", local));
    requireNamed(chunk, unit, this.#caller.memory, named, { active, ended: gone });
  }

  #conventionOf(op: CallOp): Convention {
    const { unit } = this.#caller;
    const { target } = op;
    if (target.kind === "indirect") return conventionOf(target.signature, unit.graph.mayExitByAddress);
    const [callee] = unit.graph.targetsOf(op);
    return unit.functionPlans.get(callee!)!.convention;
  }

  /** Lanes enter functions. `before`: is written before each call. */
  #begin(
    index: number,
    op: CallOp,
    convention: Convention,
    lanes: readonly Wasm[],
    collect: Collect,
    before: () => void = () => {},
  ): void {
    const w = this.#writer;
    const { unit } = this.#caller;
    const targets = unit.graph.targetsOf(op);
    const passed = this.#values.passed(convention, op);
    const enter = (callee: Wasm, here: readonly Wasm[], isOnly: boolean, args: readonly Wasm[]): void => {
      const memory = this.#values.memoryOf(convention, op, true);
      this.#enter(index, callee, targets, op, memory);
      before();
      this.#call(op, convention, memory, callee, here, args, (returned) => collect(returned, here, isOnly));
    };
    if (op.target.kind === "direct") {
      enter(wasm.i32(targets[0]!.number), lanes, true, passed);
      return;
    }
    const args = passed.map((value) => ({ local: w.local(value.ty), value }));
    w.assign(args);
    const locals = args.map(({ local, value }) => wasm.local(value.ty, local));
    const each = new IndirectTargets(this.#chunk, unit, this.#caller.memory, this.#caller.faults);
    each.each(index, op, lanes, (callee, here, isOnly) => enter(callee, here, isOnly, locals));
    for (const { local } of args) w.release(local);
  }

  /** Lanes go on in a function that has paused: what it has been given once it does not look at again. */
  #goOn(
    index: number,
    op: CallOp,
    convention: Convention,
    callee: Wasm,
    lanes: readonly Wasm[],
    collect: Collect,
  ): void {
    const { unit } = this.#caller;
    const { quads } = this.#chunk;
    const memory = this.#values.memoryOf(convention, op, false);
    this.#enter(index, callee, unit.graph.targetsOf(op), op, memory);
    const args = wasmSignature(convention, quads)
      .params.slice(maskParam + quads)
      .map(zeroOf);
    this.#call(op, convention, memory, callee, lanes, args, (returned) => collect(returned, lanes, false));
  }

  #call(
    op: CallOp,
    convention: Convention,
    memory: InMemory,
    callee: Wasm,
    lanes: readonly Wasm[],
    args: readonly Wasm[],
    then: (returned: Returned) => void,
  ): void {
    const w = this.#writer;
    const { unit } = this.#caller;
    w.values([...this.#start(), ...lanes, ...args]);
    if (op.target.kind === "direct") w.call(functionName(unit.graph.targetsOf(op)[0]!));
    else {
      w.value(callee);
      const { params, results } = wasmSignature(convention, this.#chunk.quads);
      w.callIndirect(unit.module.type(params, results));
    }
    const returned = this.#values.locals(convention);
    this.#values.pop(returned);
    then(this.#values.fetch(returned, convention, op, memory));
  }

  /** What every function of the module is given first. */
  #start(): readonly Wasm[] {
    const { context, entry, layout } = this.#caller.memory;
    return [wasm.local("i32", context), wasm.op("i32.add", wasm.local("i32", entry), wasm.i32(layout.callBytes))];
  }

  /** Fills the entry of the shadow stack that the callee gets. `callees`: all that it may be. */
  #enter(index: number, number: Wasm, callees: readonly CompiledFunction[], op: CallOp, memory: InMemory): void {
    const { unit, frame } = this.#caller;
    const { entry, layout, siteOf } = this.#caller.memory;
    const { stacks } = unit;
    if (!callees.some((f) => stacks.isTracked(f))) return;
    const w = this.#writer;
    const set = (offset: number, value: Wasm): void => {
      w.get(entry);
      w.value(value);
      w.memory("i32.store", 4, layout.callBytes + offset);
    };
    set(callEntry.site, wasm.i32(siteOf(index, null)));
    set(callEntry.callee, number);
    if (stacks.isChecked) {
      set(callEntry.cost, frame.cost);
      set(callEntry.room, frame.room);
    }
    if (!callees.some((f) => stacks.isFramed(f))) return;
    set(callEntry.top, frame.top);
    for (const [i, place] of memory.params) set(layout.callParams + 4 * i, place);
    for (const [i, place] of memory.results) set(layout.callResults + 4 * i, place);
    const unsized = callees.find((f) => f.ir.params.at(-1)?.type.unsized);
    if (unsized === undefined) return;
    const arg = op.args[unsized.ir.params.length - 1];
    set(callEntry.unsized, wasm.i32(arg?.kind === "frame" ? arg.size : 0));
  }

  /** Of the lanes that have called, some have not come back. */
  #lose(block: number, called: readonly Wasm[], returned: readonly number[]): void {
    const w = this.#writer;
    const lost = returned.map((local) => {
      const lanes = w.local("v128");
      return {
        local: lanes,
        value: wasm.op("v128.andnot", called[returned.indexOf(local)]!, wasm.local("v128", local)),
      };
    });
    w.assign(lost);
    const gone = lost.map(({ local }) => wasm.local("v128", local));
    this.end(gone);
    this.#caller.flow.leave(block, gone);
    for (const { local } of lost) w.release(local);
  }
}

/** What is passed where nobody looks. */
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
