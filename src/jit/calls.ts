import type { Argument, Instruction, Result } from "../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import type { CallOp } from "./call-graph.ts";
import type { Callable } from "./callables.ts";
import { allLanes, type Chunk, type Mask } from "./chunk.ts";
import { callBytes, callEntry } from "./context-layout.ts";
import { anyOf, type ControlFlow } from "./control-flow.ts";
import { type Convention, type Slot, slotValue, typesOfSlot } from "./convention.ts";
import { fitted } from "./fit.ts";
import type { Frame } from "./frame.ts";
import { valuesOf } from "./plan.ts";
import type { Unit } from "./unit.ts";
import { Unsupported } from "./unsupported.ts";
import { type Value, vectorOf } from "./value.ts";

/** What calls need to know of the function in which they stand. */
export interface CallContext {
  readonly unit: Unit;
  readonly callable: Callable;
  readonly frame: Frame;
  /** Locals: the beginning of the context, the entry of this activation in the shadow stack. */
  readonly context: number;
  readonly entry: number;
  /** Of a function: the lanes that have ended in it. */
  readonly ended: readonly number[] | null;
  /** The number under which the launcher knows an instruction. */
  readonly siteOf: (instruction: number) => number;
}

/** The name of a function of the program in the module. */
export const functionName = ({ number }: Callable): string => `function:${number}`;

/** Locals in which results are that have come back, and, where lanes may end, the lanes that have. */
interface Returned {
  readonly lanes: readonly number[] | null;
  /** By result and register. */
  readonly results: readonly (readonly (readonly number[])[])[];
}

/** Calls of functions of the program: what is passed, where lanes go, what comes back. */
export class Calls {
  readonly #chunk: Chunk;
  readonly #flow: ControlFlow;
  readonly #at: CallContext;
  readonly #writer: FunctionWriter;

  constructor(chunk: Chunk, flow: ControlFlow, at: CallContext) {
    this.#chunk = chunk;
    this.#flow = flow;
    this.#at = at;
    this.#writer = chunk.writer;
  }

  /** Calls in the active lanes in which the guard holds, if there are any. */
  call(block: number, index: number, instruction: Instruction, op: CallOp): void {
    const chunk = this.#chunk;
    const guard = instruction.guard === null ? null : chunk.guardMask(instruction.guard);
    const mask = chunk.maskOf(block, guard);
    const lanes = mask ?? allLanes(chunk);
    const write = (): void => {
      const { convention, returned } = op.target.kind === "direct" ? this.#direct(index, op, lanes) : this.#indirect();
      this.#writeResults(block, convention, op.results, returned, guard);
      if (returned.lanes !== null) this.#lose(block, lanes, returned.lanes);
      for (const local of allOf(returned)) this.#writer.release(local);
    };
    if (guard === null) write();
    else {
      this.#writer.value(anyOf(mask!));
      this.#writer.if(write);
    }
  }

  /** Lanes end: in a function, those who called it are to know. */
  end(lanes: readonly Wasm[]): void {
    const { ended } = this.#at;
    if (ended === null) return;
    this.#writer.assign(
      ended.map((local, q) => ({ local, value: wasm.op("v128.or", wasm.local("v128", local), lanes[q]!) })),
    );
  }

  #direct(index: number, op: CallOp, lanes: readonly Wasm[]) {
    const { unit } = this.#at;
    const [callee] = unit.graph.targetsOf(op);
    if (callee!.ir.external) throw new Unsupported(callee!.ir.name);
    const { convention } = unit.plans.get(callee!)!;
    this.#enter(index, callee!, op);
    this.#writer.values(this.#passed(convention, op, lanes));
    this.#writer.call(functionName(callee!));
    const returned = this.#takeResults(convention);
    return { convention, returned };
  }

  #indirect(): { convention: Convention; returned: Returned } {
    throw new Unsupported("calls by address");
  }

  /** Fills the entry of the shadow stack that the callee gets. */
  #enter(index: number, callee: Callable, op: CallOp): void {
    const { unit, entry, frame } = this.#at;
    if (!unit.stacks.isTracked(callee)) return;
    const w = this.#writer;
    const set = (offset: number, value: Wasm): void => {
      w.get(entry);
      w.value(value);
      w.memory("i32.store", 4, callBytes + offset);
    };
    set(callEntry.site, wasm.i32(this.#at.siteOf(index)));
    set(callEntry.callee, wasm.i32(callee.number));
    if (!unit.stacks.isFramed(callee)) return;
    set(callEntry.top, frame.top);
    const unsized = callee.ir.params.findIndex((p) => p.type.unsized);
    if (unsized < 0) return;
    const arg = op.args[unsized];
    set(callEntry.unsized, wasm.i32(arg?.kind === "frame" ? arg.size : 0));
  }

  /** All that a function of the module takes. */
  #passed({ params, returns }: Convention, op: CallOp, lanes: readonly Wasm[]): readonly Wasm[] {
    const { context, entry } = this.#at;
    return [
      wasm.local("i32", context),
      wasm.op("i32.add", wasm.local("i32", entry), wasm.i32(callBytes)),
      ...lanes,
      ...params.flatMap((slots, i) => this.#argument(op.args[i], slots)),
      ...returns.flatMap((slots, i) =>
        slots.flatMap((slot) => (slot.kind === "memory" ? [this.#resultPlace(op.results[i])] : [])),
      ),
    ];
  }

  /** What becomes of an argument: values, or the place of a variable. An unsized parameter may be left out. */
  #argument(arg: Argument | undefined, slots: readonly Slot[]): readonly Wasm[] {
    if (arg === undefined) return slots.map(() => wasm.i32(0));
    const { quads } = this.#chunk;
    const values = valuesOf(arg);
    return slots.flatMap((slot, i): readonly Wasm[] => {
      if (slot.kind === "memory") {
        if (arg.kind !== "frame") throw new Unsupported("registers that are passed in memory");
        return [this.#at.frame.offsetOf(arg.variable)];
      }
      if (values[i] === undefined) throw new Unsupported("memory that is passed in registers");
      const value = fitted(this.#chunk.value(values[i]), slot.class, quads);
      if (!slot.isUniform) return vectorOf(value, quads).quads.flat();
      if (value.kind !== "uniform") throw new Error("an argument varies that is passed as one number");
      return [value.scalar];
    });
  }

  /** The byte of the stacks to which a result goes; -1 where nobody wants it. */
  #resultPlace(result: Result | undefined): Wasm {
    if (result === undefined || result.kind === "discard") return wasm.i32(-1);
    if (result.kind !== "frame") throw new Unsupported("results in memory that go to registers");
    return this.#at.frame.offsetOf(result.variable);
  }

  /** Pops what comes back. */
  #takeResults({ returns, losesLanes }: Convention): Returned {
    const w = this.#writer;
    const { quads, active } = this.#chunk;
    const returned = {
      lanes: losesLanes ? active.map(() => w.local("v128")) : null,
      results: returns.map((slots) =>
        slots.map((slot) => (slot.kind === "memory" ? [] : typesOfSlot(slot, quads).map((ty) => w.local(ty)))),
      ),
    };
    for (const local of allOf(returned).reverse()) w.set(local);
    return returned;
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
      slots.forEach((slot, j) => {
        if (slot.kind === "memory" || result === undefined || result.kind === "discard") return;
        if (result.kind === "frame") throw new Unsupported("results in registers that go to memory");
        const register = result.registers[j];
        if (register === undefined) return;
        dst.push(register);
        values.push(fitted(slotValue(slot, results[i]![j]!), registers[register]!.class, this.#chunk.quads));
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

const allOf = ({ lanes, results }: Returned): number[] => [...(lanes ?? []), ...results.flat(2)];
