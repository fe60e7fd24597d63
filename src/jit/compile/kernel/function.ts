import type { RegisterClass } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { Unsupported } from "../../abi/refusal.ts";
import { hostStackSize } from "../emit/host-stack-size.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { fitted } from "../lanes/register-class.ts";
import { type Value, vectorOf } from "../lanes/value.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import {
  contextParam,
  type Convention,
  entryParam,
  functionName,
  maskParam,
  slotValue,
  tyOf,
  typesOfSlot,
  wasmSignature,
} from "../plan/calling-convention.ts";
import type { FunctionPlan } from "../plan/function-plans.ts";
import { type FunctionScope, openFunction } from "./function-scope.ts";
import { ResumableFunction } from "./resumable-function.ts";

/** Writes a function that the kernel calls: for the lanes of a mask, of which at least one is set. */
export function writeFunction(unit: ModuleUnit, plan: FunctionPlan): void {
  const { compiled, analysis, convention, points } = plan;
  const { params, results } = wasmSignature(convention, unit.quads);
  const scope = openFunction(unit, unit.module.function(functionName(compiled), params, results), {
    compiled,
    analysis,
    points,
    canSuspend: unit.suspendedFrames.has(compiled),
    context: contextParam,
    entry: entryParam,
    exitsLanes: convention.mayExit,
    kernel: null,
  });
  new CalledFunction(scope, convention).write();
}

/** A register whose value lies in the lanes' stacks. */
interface InMemory {
  readonly register: number;
  readonly class: "b32" | "b64";
  readonly at: Wasm;
}

/** A function while it is written: how it takes its parameters, and what it returns. */
class CalledFunction {
  readonly #scope: FunctionScope;
  readonly #convention: Convention;
  /** The lanes for which the function is called. */
  readonly #called: readonly Wasm[];

  constructor(scope: FunctionScope, convention: Convention) {
    this.#scope = scope;
    this.#convention = convention;
    this.#called = scope.chunk.active.map((_, q) => wasm.local("v128", maskParam + q));
  }

  write(): void {
    const { compiled, context, chunk, body, routine, suspension, ended } = this.#scope;
    this.#enter();
    const begin = (): void => this.#begin();
    const resumable = suspension === null ? null : new ResumableFunction(context, chunk, compiled, body, suspension);
    if (resumable === null) begin();
    else resumable.enter(begin);
    body.write();
    const suspended = resumable?.suspendOrEnd(this.#called) ?? null;
    const away = [suspended, ended].filter((mask) => mask !== null);
    chunk.begin();
    routine?.leave(this.#called);
    const returned = this.#called.map((lanes, q) =>
      away.reduce((rest, mask) => wasm.op("v128.andnot", rest, wasm.local("v128", mask[q]!)), lanes),
    );
    this.#returnInMemory(returned);
    this.#returnInRegisters(returned);
  }

  /** Whenever the function is called, be it to begin or to resume. */
  #enter(): void {
    const { unit, compiled, writer: w, specials, objects, chunk, routine, frame, context } = this.#scope;
    specials.enter();
    objects.begin();
    w.assign(chunk.active.map((local, q) => ({ local, value: this.#called[q]! })));
    if (routine !== null) routine.enter(frame, unit);
    else if (unit.stacks.isChecked) {
      frame.enter(entryParam, contextParam, hostStackSize(chunk), laneBits(this.#called));
    }
    if (compiled.allocates) frame.open(context);
    if (unit.stacks.variablesOf(compiled).size > 0) {
      w.get(contextParam);
      w.memory("i32.load", 4, unit.layout.words.stacks);
      frame.place();
    }
  }

  /** The activation begins. */
  #begin(): void {
    const { unit, compiled, frame, routine, chunk, body } = this.#scope;
    routine?.begin();
    // Other lanes may be suspended in activations whose frames lie at the same bytes of their stacks.
    if (unit.stacks.variablesOf(compiled).size > 0)
      frame.clear(unit.suspendedFrames.isUsed ? laneBits(this.#called) : null);
    chunk.fill(this.#takeParams());
    body.begin();
  }

  /** The values of parameters that are in registers; copies those that are in memory to their variables. */
  #takeParams(): readonly { readonly register: number; readonly value: Value }[] {
    const { unit, compiled, frame } = this.#scope;
    const { layout, quads } = unit;
    let next = maskParam + quads;
    const values: { register: number; value: Value }[] = [];
    for (const [i, slots] of this.#convention.params.entries()) {
      const { storage, type } = compiled.ir.params[i]!;
      for (const [j, slot] of slots.entries()) {
        if (slot.kind === "register") {
          const parts = typesOfSlot(slot, quads).map(() => next++);
          if (storage.kind !== "register") throw new Error("a scalar is passed in a register");
          values.push({ register: storage.registers[j]!, value: slotValue(slot, parts) });
          continue;
        }
        const from = this.#entryWord(layout.callParams + 4 * i);
        if (storage.kind === "frame") {
          const bytes = type.unsized ? frame.unsizedBytes : wasm.i32(type.size);
          frame.copy(from, frame.offsetOf(storage.variable), bytes, laneBits(this.#called));
        } else if (storage.kind === "register") {
          for (const { register, class: c, at } of this.#inMemory(storage.registers, from)) {
            const all = slotValue({ kind: "register", class: c, isUniform: false }, frame.load(at, c, quads));
            values.push({ register, value: all });
          }
        }
      }
    }
    return values;
  }

  /** Copies results to the caller's variables, in the lanes that return. */
  #returnInMemory(returned: readonly Wasm[]): void {
    const { unit, compiled, writer: w, frame } = this.#scope;
    for (const [i, slots] of this.#convention.returns.entries()) {
      const { storage, type } = compiled.ir.returns[i]!;
      if (slots[0]?.kind !== "memory") continue;
      const to = this.#entryWord(unit.layout.callResults + 4 * i);
      w.value(wasm.op("i32.ge_s", to, wasm.i32(0)));
      w.if(() => {
        if (storage.kind === "frame") {
          frame.copy(frame.offsetOf(storage.variable), to, wasm.i32(type.size), laneBits(returned));
        } else if (storage.kind === "register") {
          for (const { register, class: c, at } of this.#inMemory(storage.registers, to)) {
            frame.store(at, this.#partsOf(register, c), c, returned);
          }
        }
      });
    }
  }

  /** Leaves on the stack the lanes that return, where some may not, and results that are in registers. */
  #returnInRegisters(returned: readonly Wasm[]): void {
    const { compiled, writer: w, ended } = this.#scope;
    if (ended !== null) w.values(returned);
    for (const [i, slots] of this.#convention.returns.entries()) {
      const { storage } = compiled.ir.returns[i]!;
      for (const [j, slot] of slots.entries()) {
        if (slot.kind === "register" && storage.kind === "register") {
          w.values(this.#partsOf(storage.registers[j]!, slot.class));
        }
      }
    }
  }

  /** A word of the call's entry in the shadow stack. */
  #entryWord(at: number): Wasm {
    const { writer: w } = this.#scope;
    const local = w.local("i32");
    w.get(entryParam);
    w.memory("i32.load", 4, at);
    w.set(local);
    return wasm.local("i32", local);
  }

  /** Registers whose values lie at a byte of the stacks, eight bytes apart. */
  #inMemory(registers: readonly number[], at: Wasm): readonly InMemory[] {
    return registers.map((register, j) => {
      const { class: c } = this.#scope.compiled.ir.registers[register]!;
      if (c === "pred") throw new Unsupported("a predicate in memory");
      return { register, class: c, at: wasm.op("i32.add", at, wasm.i32(8 * j)) };
    });
  }

  /** The vectors of a register, as one of a class. */
  #partsOf(register: number, c: RegisterClass): readonly Wasm[] {
    const { unit, compiled, chunk } = this.#scope;
    const ty = tyOf(compiled.ir.registers[register]!.class);
    return vectorOf(fitted(chunk.vector({ kind: "reg", ty, reg: register }), c, unit.quads), unit.quads).quads.flat();
  }
}
