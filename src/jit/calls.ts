import { valuesOf } from "../ir/flow/accesses.ts";
import type { CallTarget, Instruction, Result } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import type { CallOp } from "./call-graph.ts";
import { CallTargets } from "./call-targets.ts";
import type { Callable } from "./callables.ts";
import { allLanes, type Chunk, type Mask } from "./chunk.ts";
import { callEntry } from "./context-layout.ts";
import type { ControlFlow } from "./control-flow.ts";
import {
  type Convention,
  conventionOf,
  functionName,
  type Slot,
  slotValue,
  typesOfSlot,
  wasmSignature,
} from "./convention.ts";
import { ExternalCalls } from "./external-calls.ts";
import { fitted } from "./fit.ts";
import type { Faults } from "./faults.ts";
import type { Frame } from "./frame.ts";
import { pausedWord } from "./pausing-function.ts";
import { anyOf, laneBits } from "./lane-bits.ts";
import { loadLive, requireNamed, tellLive } from "./meeting.ts";
import type { MemoryContext } from "./locator.ts";
import type { Unit } from "./unit.ts";
import { Unsupported } from "./unsupported.ts";
import { type Value, vectorOf, widenMask } from "./value.ts";

type IndirectTarget = Extract<CallTarget, { kind: "indirect" }>;

/** What calls need to know of the function in which they stand. */
export interface CallContext {
  readonly unit: Unit;
  readonly callable: Callable;
  readonly frame: Frame;
  /** Of a function, where lanes may end in it: locals with those that have. */
  readonly ended: readonly number[] | null;
  readonly isFunction: boolean;
}

/** Locals in which results are that have come back, and, where lanes may end, the lanes that have. */
interface Returned {
  readonly lanes: readonly number[] | null;
  /** By result and register. */
  readonly results: readonly (readonly (readonly number[])[])[];
}

interface Called {
  readonly convention: Convention;
  readonly returned: Returned;
}

/** The bytes of the stacks where arguments and results lie, by their numbers; -1 for a result that nobody wants. */
interface InMemory {
  readonly params: readonly (readonly [number, Wasm])[];
  readonly results: readonly (readonly [number, Wasm])[];
}

/** Calls of functions of the program: what is passed, where lanes go, what comes back. */
export class Calls {
  readonly #chunk: Chunk;
  readonly #flow: ControlFlow;
  readonly #at: CallContext;
  readonly #memory: MemoryContext;
  readonly #faults: Faults;
  readonly #externals: ExternalCalls;
  readonly #writer: FunctionWriter;

  constructor(chunk: Chunk, flow: ControlFlow, memory: MemoryContext, faults: Faults, at: CallContext) {
    this.#chunk = chunk;
    this.#flow = flow;
    this.#memory = memory;
    this.#faults = faults;
    this.#at = at;
    this.#externals = new ExternalCalls(chunk, at.unit, memory, at.frame);
    this.#writer = chunk.writer;
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
      const { convention, returned } =
        op.target.kind === "direct" ? this.#direct(index, op, lanes) : this.#indirect(index, op, op.target, lanes);
      const finish = (): void => {
        this.#writeResults(block, convention, op.results, returned, guard);
        if (returned.lanes !== null) this.#lose(block, lanes, returned.lanes);
      };
      if (this.#at.unit.graph.mayPause(instruction)) this.#pauseOr(block, guard, finish);
      else finish();
      for (const local of allOf(returned)) this.#writer.release(local);
    };
    if (guard === null) write();
    else {
      this.#writer.value(anyOf(mask!));
      this.#writer.if(write);
    }
  }

  /** Where the callee waits for other threads, so do the lanes that have called it: they will call it again. */
  #pauseOr(block: number, guard: Mask, finish: () => void): void {
    const w = this.#writer;
    const { context, layout } = this.#memory;
    const paused = w.local("i32");
    w.get(context);
    w.memory("i32.load", 4, layout.words.paused);
    w.tee(paused);
    w.if(() => {
      w.value(wasm.op("i32.eq", wasm.local("i32", paused), wasm.i32(pausedWord.yield)));
      w.if(
        () => this.#flow.pause("call in a loop", block, block, guard),
        () => this.#flow.pause("call at a barrier", block, block, guard),
      );
    }, finish);
    w.release(paused);
  }

  /** Lanes end: in a function, those who called it are to know. */
  end(lanes: readonly Wasm[]): void {
    const { ended } = this.#at;
    if (ended === null) return;
    this.#writer.assign(
      ended.map((local, q) => ({ local, value: wasm.op("v128.or", wasm.local("v128", local), lanes[q]!) })),
    );
  }

  #isExternal(op: CallOp): boolean {
    const targets = this.#at.unit.graph.targetsOf(op);
    if (!targets.some((f) => f.ir.external)) return false;
    if (op.target.kind === "indirect") throw new Unsupported("functions without a body that are called by address");
    return true;
  }

  /** The lanes that have not ended, for functions that have to know. */
  #tellLive(op: CallOp): void {
    const { unit, ended, isFunction } = this.#at;
    if (!unit.graph.targetsOf(op).some((f) => unit.graph.meetsLanes(f))) return;
    const w = this.#writer;
    if (!isFunction) tellLive(w, this.#memory, laneBits(this.#flow.everybody()));
    else if (ended !== null) {
      const live = w.local("i32");
      loadLive(w, this.#memory, live);
      const gone = laneBits(ended.map((local) => wasm.local("v128", local)));
      const left = wasm.op("i32.and", wasm.local("i32", live), wasm.op("i32.xor", gone, wasm.i32(-1)));
      tellLive(w, this.#memory, left);
      w.release(live);
    }
  }

  /** Lanes that a warp-wide operation names may not be in this function. */
  meet(block: number, named: Expr, guard: Mask): void {
    const { unit, isFunction, ended } = this.#at;
    const chunk = this.#chunk;
    if (!isFunction || !chunk.analysis.gathers(block)) return;
    const active = chunk.maskOf(block, guard) ?? allLanes(chunk);
    const gone = (ended ?? []).map((local) => wasm.local("v128", local));
    requireNamed(chunk, unit, this.#memory, named, { active, ended: gone });
  }

  #direct(index: number, op: CallOp, lanes: readonly Wasm[]): Called {
    const { unit } = this.#at;
    const [callee] = unit.graph.targetsOf(op);
    const { convention } = unit.plans.get(callee!)!;
    const memory = this.#memoryOf(convention, op);
    this.#enter(index, wasm.i32(callee!.number), [callee!], op, memory);
    this.#writer.values([...this.#start(), ...lanes, ...this.#passed(convention, op)]);
    this.#writer.call(functionName(callee!));
    const returned = this.#locals(convention);
    this.#pop(returned);
    return { convention, returned: this.#fetch(returned, convention, op, memory) };
  }

  #indirect(index: number, op: CallOp, { signature }: IndirectTarget, lanes: readonly Wasm[]): Called {
    const w = this.#writer;
    const { unit } = this.#at;
    if (unit.graph.targetsOf(op).some((f) => unit.graph.pauses(f)))
      throw new Unsupported("pauses in functions that are called by address");
    const { quads } = this.#chunk;
    const convention = conventionOf(signature, unit.graph.losesByAddress);
    const memory = this.#memoryOf(convention, op);
    const args = this.#passed(convention, op).map((value) => ({ local: w.local(value.ty), value }));
    w.assign(args);
    const all = this.#locals(convention);
    const { params, results } = wasmSignature(convention, quads);
    const type = unit.module.type(params, results);
    if (all.lanes !== null) w.assign(all.lanes.map((local) => ({ local, value: wasm.i32x4(0) })));
    new CallTargets(this.#chunk, unit, this.#memory, this.#faults).each(index, op, lanes, (number, here, isOnly) => {
      this.#enter(index, number, unit.graph.targetsOf(op), op, memory);
      w.values([...this.#start(), ...here, ...args.map(({ local, value }) => wasm.local(value.ty, local)), number]);
      w.callIndirect(type);
      if (isOnly) {
        this.#pop(all);
        return;
      }
      const returned = this.#locals(convention);
      this.#pop(returned);
      this.#collect(all, returned, here);
      for (const local of allOf(returned)) w.release(local);
    });
    for (const { local } of args) w.release(local);
    return { convention, returned: this.#fetch(all, convention, op, memory) };
  }

  /** The results of some lanes join those of others. */
  #collect(all: Returned, some: Returned, lanes: readonly Wasm[]): void {
    const vector = (local: number): Wasm => wasm.local("v128", local);
    const masks = some.lanes?.map((local, q) => ({
      local: all.lanes![q]!,
      value: wasm.op("v128.or", vector(all.lanes![q]!), vector(local)),
    }));
    const results = some.results.flatMap((registers, i) =>
      registers.flatMap((parts, j) =>
        parts.map((local, p) => {
          const wide = parts.length > lanes.length;
          const mask = wide ? widenMask(lanes[p >> 1]!)[p & 1]! : lanes[p]!;
          const to = all.results[i]![j]![p]!;
          return { local: to, value: wasm.blend(mask, vector(local), vector(to)) };
        }),
      ),
    );
    this.#writer.assign([...(masks ?? []), ...results]);
  }

  /** What every function of the module is given first. */
  #start(): readonly Wasm[] {
    const { context, entry, layout } = this.#memory;
    return [wasm.local("i32", context), wasm.op("i32.add", wasm.local("i32", entry), wasm.i32(layout.callBytes))];
  }

  /** Fills the entry of the shadow stack that the callee gets. `callees`: all that it may be. */
  #enter(index: number, number: Wasm, callees: readonly Callable[], op: CallOp, memory: InMemory): void {
    const { unit, frame } = this.#at;
    const { entry, layout, siteOf } = this.#memory;
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

  /** The arguments that are passed in registers. */
  #passed({ params }: Convention, op: CallOp): readonly Wasm[] {
    const { quads } = this.#chunk;
    return params.flatMap((slots, i) => {
      const arg = op.args[i];
      const values = arg === undefined ? [] : valuesOf(arg);
      return slots.flatMap((slot, j): readonly Wasm[] => {
        if (slot.kind === "memory") return [];
        if (values[j] === undefined) throw new Unsupported("memory that is passed in registers");
        const value = fitted(this.#chunk.value(values[j]), slot.class, quads);
        if (!slot.isUniform) return vectorOf(value, quads).quads.flat();
        if (value.kind !== "uniform") throw new Error("an argument varies that is passed as one number");
        return [value.scalar];
      });
    });
  }

  /** The places of arguments and results that the callee finds in the stacks. Values are put there first. */
  #memoryOf({ params, returns }: Convention, op: CallOp): InMemory {
    const { frame } = this.#at;
    let staged = 0;
    const room = (count: number): Wasm => {
      const place = frame.staging(staged);
      staged += 8 * count;
      return place;
    };
    const isMemory = (slots: readonly Slot[]): boolean => slots.some((slot) => slot.kind === "memory");
    const args = params.flatMap((slots, i): [number, Wasm][] => {
      const arg = op.args[i];
      if (!isMemory(slots) || arg === undefined) return [];
      if (arg.kind === "frame") return [[i, frame.offsetOf(arg.variable)]];
      return [[i, this.#stage(valuesOf(arg), room)]];
    });
    const results = returns.flatMap((slots, i): [number, Wasm][] => {
      const result = op.results[i];
      if (!isMemory(slots)) return [];
      if (result === undefined || result.kind === "discard") return [[i, wasm.i32(-1)]];
      return [[i, result.kind === "frame" ? frame.offsetOf(result.variable) : room(result.registers.length)]];
    });
    return { params: args, results };
  }

  /** Puts values where the callee finds them, eight bytes apart. */
  #stage(exprs: readonly Expr[], room: (count: number) => Wasm): Wasm {
    const { quads } = this.#chunk;
    const place = room(exprs.length);
    exprs.forEach((expr, j) => {
      const value = fitted(this.#chunk.value(expr), "b64", quads);
      this.#at.frame.store(offset(place, 8 * j), vectorOf(value, quads).quads.flat(), "b64", null);
    });
    return place;
  }

  /** Locals for all that comes back in registers. */
  #locals({ returns, losesLanes }: Convention): Returned {
    const w = this.#writer;
    const { quads, active } = this.#chunk;
    return {
      lanes: losesLanes ? active.map(() => w.local("v128")) : null,
      results: returns.map((slots) => slots.map((slot) => typesOfSlot(slot, quads).map((ty) => w.local(ty)))),
    };
  }

  #pop(returned: Returned): void {
    for (const local of allOf(returned).reverse()) this.#writer.set(local);
  }

  /** Results that have come in memory and go to registers. */
  #fetch(returned: Returned, { returns }: Convention, { results }: CallOp, memory: InMemory): Returned {
    const { registers } = this.#chunk.function;
    const fetched = returns.map((slots, i) => {
      const result = results[i];
      const place = memory.results.find(([to]) => to === i);
      if (slots[0]?.kind !== "memory" || place === undefined || result?.kind !== "register")
        return returned.results[i]!;
      return result.registers.map((r, j) => {
        const c = registers[r]!.class;
        if (c === "pred") throw new Unsupported("a predicate in memory");
        return this.#at.frame.load(offset(place[1], 8 * j), c, this.#chunk.quads);
      });
    });
    return { ...returned, results: fetched };
  }

  #writeResults(
    block: number,
    { returns }: Convention,
    to: readonly Result[],
    { results }: Returned,
    guard: Mask,
  ): void {
    const { registers } = this.#chunk.function;
    const dst: number[] = [];
    const values: Value[] = [];
    returns.forEach((slots, i) => {
      const result = to[i];
      if (result === undefined || result.kind === "discard") return;
      if (result.kind === "frame") {
        if (slots.some((slot) => slot.kind !== "memory")) throw new Unsupported("registers that return to memory");
        return;
      }
      result.registers.forEach((register, j) => {
        const { class: c } = registers[register]!;
        const slot = slots[j];
        const from: Slot = slot?.kind === "register" ? slot : { kind: "register", class: c, isUniform: false };
        const locals = results[i]![j];
        if (locals === undefined) return;
        dst.push(register);
        values.push(fitted(slotValue(from, locals), c, this.#chunk.quads));
      });
    });
    this.#chunk.write(block, dst, values, guard);
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
    this.#flow.leave(block, gone);
    for (const { local } of lost) w.release(local);
  }
}

const offset = (place: Wasm, bytes: number): Wasm => (bytes === 0 ? place : wasm.op("i32.add", place, wasm.i32(bytes)));

const allOf = ({ lanes, results }: Returned): number[] => [...(lanes ?? []), ...results.flat(2)];
