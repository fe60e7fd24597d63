import type { RegisterClass } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { Unsupported } from "../../abi/refusal.ts";
import { specialsOf } from "../analysis/values/special-registers.ts";
import { Routine } from "../calls/routine.ts";
import { Chunk } from "../emit/chunk.ts";
import { hostStackSize } from "../emit/host-stack-size.ts";
import { SpecialRegisters } from "../emit/special-registers.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { fitted } from "../lanes/register-class.ts";
import { type Value, vectorOf } from "../lanes/value.ts";
import { ExpectedObjects } from "../memory/expected-objects.ts";
import { Frame } from "../memory/frame.ts";
import type { FunctionContext } from "../module/function-context.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import {
  contextParam,
  entryParam,
  functionName,
  maskParam,
  slotValue,
  tyOf,
  typesOfSlot,
  wasmSignature,
} from "../plan/calling-convention.ts";
import type { FunctionPlan } from "../plan/function-plans.ts";
import { Suspension } from "../sync/suspension.ts";
import { Body } from "./body.ts";
import { ResumableFunction } from "./resumable-function.ts";

/** Writes a function that the kernel calls: for the lanes of a mask, of which at least one is set. */
export function writeFunction(unit: ModuleUnit, { callable, code, analysis, convention, pauses }: FunctionPlan): void {
  const { module, layout, quads, shape } = unit;
  const { params, results } = wasmSignature(convention, quads);
  const w = module.function(functionName(callable), params, results);
  const specials = new SpecialRegisters(w, layout, contextParam, shape, specialsOf(code.instructions));
  const frame = new Frame(unit, w, callable, entryParam);
  const chunk = new Chunk(
    w,
    analysis,
    quads,
    (leaf) => specials.value(leaf),
    (leaf) => frame.address(leaf),
  );
  const routine = callable.part === null ? null : new Routine(chunk, callable);
  const reaches = new ExpectedObjects(unit, w, analysis, contextParam, frame);
  const siteOf = (instruction: number, record: number | null, element = 0): number =>
    unit.sites.push({ function: callable.number, instruction: code.origins[instruction]!, record, element }) - 1;
  const ended = convention.losesLanes ? chunk.active.map(() => w.local("v128")) : null;
  const memory: FunctionContext = {
    context: contextParam,
    entry: entryParam,
    hasStacks: unit.stacks.isUsed,
    isShared: unit.shape.shared,
    layout,
    unit,
    siteOf,
  };
  const suspension = unit.paused.has(callable)
    ? new Suspension(chunk, pauses, new Set(), { isFunction: true, isLockstep: routine !== null })
    : null;
  const calls = { unit, callable, frame, ended, isFunction: true };
  const body = new Body({
    chunk,
    context: memory,
    objects: reaches,
    points: pauses,
    suspension,
    invariants: null,
    calls,
  });

  specials.enter();
  reaches.begin();
  const called = chunk.active.map((_, q) => wasm.local("v128", maskParam + q));
  w.assign(chunk.active.map((local, q) => ({ local, value: called[q]! })));
  if (routine !== null) routine.enter(frame, unit);
  else if (unit.stacks.isChecked) frame.enter(entryParam, contextParam, hostStackSize(chunk), laneBits(called));
  if (callable.allocates) frame.open(memory);
  if (unit.stacks.variablesOf(callable).size > 0) {
    w.get(contextParam);
    w.memory("i32.load", 4, layout.words.stacks);
    frame.place();
  }

  const word = (at: number): Wasm => {
    const local = w.local("i32");
    w.get(entryParam);
    w.memory("i32.load", 4, at);
    w.set(local);
    return wasm.local("i32", local);
  };
  /** Registers whose values lie at a byte of the stacks, eight bytes apart. */
  const inMemory = (registers: readonly number[], at: Wasm) =>
    registers.map((register, j) => {
      const { class: c } = callable.ir.registers[register]!;
      if (c === "pred") throw new Unsupported("a predicate in memory");
      return { register, class: c, at: wasm.op("i32.add", at, wasm.i32(8 * j)) };
    });

  const begin = (): void => {
    routine?.begin();
    // Others may wait in activations that lie at the same place of their stacks.
    if (unit.stacks.variablesOf(callable).size > 0) frame.clear(unit.paused.isUsed ? laneBits(called) : null);
    let next = maskParam + quads;
    const values: { register: number; value: Value }[] = [];
    convention.params.forEach((slots, i) => {
      const { storage, type } = callable.ir.params[i]!;
      slots.forEach((slot, j) => {
        if (slot.kind === "register") {
          const parts = typesOfSlot(slot, quads).map(() => next++);
          if (storage.kind !== "register") throw new Error("a scalar is passed in a register");
          values.push({ register: storage.registers[j]!, value: slotValue(slot, parts) });
          return;
        }
        const from = word(layout.callParams + 4 * i);
        if (storage.kind === "frame") {
          const bytes = type.unsized ? frame.unsizedBytes : wasm.i32(type.size);
          frame.copy(from, frame.offsetOf(storage.variable), bytes, laneBits(called));
        } else if (storage.kind === "register") {
          for (const { register, class: c, at } of inMemory(storage.registers, from)) {
            const all = slotValue({ kind: "register", class: c, isUniform: false }, frame.load(at, c, quads));
            values.push({ register, value: all });
          }
        }
      });
    });
    chunk.fill(values);
    body.begin();
  };
  const pausing = suspension === null ? null : new ResumableFunction(unit, memory, chunk, callable, body, suspension);
  if (pausing === null) begin();
  else pausing.enter(begin);
  body.flow.write();
  const waiting = pausing?.pauseOrEnd(called) ?? null;
  const away = [waiting, ended].filter((mask) => mask !== null);

  chunk.begin();
  routine?.leave(called);
  const back = called.map((lanes, q) =>
    away.reduce((rest, mask) => wasm.op("v128.andnot", rest, wasm.local("v128", mask[q]!)), lanes),
  );
  const registerParts = (register: number, c: RegisterClass): readonly Wasm[] => {
    const ty = tyOf(callable.ir.registers[register]!.class);
    return vectorOf(fitted(chunk.vector({ kind: "reg", ty, reg: register }), c, quads), quads).quads.flat();
  };
  convention.returns.forEach((slots, i) => {
    const { storage, type } = callable.ir.returns[i]!;
    if (slots[0]?.kind !== "memory") return;
    const to = word(layout.callResults + 4 * i);
    w.value(wasm.op("i32.ge_s", to, wasm.i32(0)));
    w.if(() => {
      if (storage.kind === "frame") {
        frame.copy(frame.offsetOf(storage.variable), to, wasm.i32(type.size), laneBits(back));
      } else if (storage.kind === "register") {
        for (const { register, class: c, at } of inMemory(storage.registers, to)) {
          frame.store(at, registerParts(register, c), c, back);
        }
      }
    });
  });
  if (ended !== null) w.values(back);
  convention.returns.forEach((slots, i) => {
    const { storage } = callable.ir.returns[i]!;
    slots.forEach((slot, j) => {
      if (slot.kind === "register" && storage.kind === "register") {
        w.values(registerParts(storage.registers[j]!, slot.class));
      }
    });
  });
}
