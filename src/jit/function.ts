import { wasm } from "../wasm/index.ts";
import { Body } from "./body.ts";
import { functionName } from "./calls.ts";
import { Chunk } from "./chunk.ts";
import { contextParam, entryParam, maskParam, slotValue, tyOf, typesOfSlot, wasmSignature } from "./convention.ts";
import { Frame } from "./frame.ts";
import { fitted } from "./fit.ts";
import { laneBits } from "./lane-bits.ts";
import type { FunctionPlan } from "./plan.ts";
import { Reaches } from "./reaches.ts";
import { Specials, specialsOf } from "./specials.ts";
import { pausesOf } from "./suspension.ts";
import type { Unit } from "./unit.ts";
import { Unsupported } from "./unsupported.ts";
import { type Value, vectorOf } from "./value.ts";

/** Writes a function that the kernel calls: for the lanes of a mask, of which at least one is set. */
export function writeFunction(unit: Unit, { callable, code, analysis, convention }: FunctionPlan): void {
  const { module, layout, quads, shape, graph } = unit;
  const { params, results } = wasmSignature(convention, quads);
  const pauses = pausesOf(code.graph, code.instructions, graph.seesOthers);
  if (pauses.barriers.size + pauses.spins.size > 0) throw new Unsupported("pauses in functions");
  const w = module.function(functionName(callable), params, results);
  const specials = new Specials(w, layout, contextParam, shape, specialsOf(code.instructions));
  const frame = new Frame(unit, w, callable, entryParam);
  const chunk = new Chunk(
    w,
    analysis,
    quads,
    (leaf) => specials.value(leaf),
    (leaf) => frame.address(leaf),
  );
  const reaches = new Reaches(unit, w, code, contextParam, frame);
  const siteOf = (instruction: number, record: number | null): number =>
    unit.sites.push({ function: callable.number, instruction: code.origins[instruction]!, record }) - 1;
  const ended = convention.losesLanes ? chunk.active.map(() => w.local("v128")) : null;
  const body = new Body(
    chunk,
    {
      context: contextParam,
      entry: entryParam,
      hasStacks: unit.stacks.stride > 0,
      isShared: unit.shape.shared,
      layout,
      reachOf: (access, address) => reaches.of(access, address),
      siteOf,
    },
    pauses,
    null,
    null,
    {
      unit,
      callable,
      frame,
      context: contextParam,
      entry: entryParam,
      ended,
      siteOf: (instruction) => siteOf(instruction, null),
    },
  );

  specials.enter();
  const called = chunk.active.map((_, q) => wasm.local("v128", maskParam + q));
  w.assign(chunk.active.map((local, q) => ({ local, value: called[q]! })));
  if (unit.stacks.variablesOf(callable).size > 0) {
    w.get(contextParam);
    w.memory("i32.load", 4, layout.words.stacks);
    frame.place();
    frame.clear();
  }

  let next = maskParam + quads;
  const locals = (count: number): number[] => Array.from({ length: count }, () => next++);
  const values: { register: number; value: Value }[] = [];
  convention.params.forEach((slots, i) => {
    const { storage, type } = callable.ir.params[i]!;
    slots.forEach((slot, j) => {
      const parts = locals(typesOfSlot(slot, quads).length);
      if (slot.kind === "register" && storage.kind === "register") {
        values.push({ register: storage.registers[j]!, value: slotValue(slot, parts) });
      } else if (slot.kind === "memory" && storage.kind === "frame") {
        const bytes = type.unsized ? frame.unsizedBytes : wasm.i32(type.size);
        frame.copy(wasm.local("i32", parts[0]!), frame.offsetOf(storage.variable), bytes, laneBits(called));
      } else throw new Unsupported(`the way in which ${callable.ir.name} takes its parameters`);
    });
  });
  chunk.fill(values);
  body.begin();
  body.flow.write();

  chunk.begin();
  const back =
    ended === null ? called : called.map((lane, q) => wasm.op("v128.andnot", lane, wasm.local("v128", ended[q]!)));
  if (ended !== null) w.values(back);
  convention.returns.forEach((slots, i) => {
    const { storage, type } = callable.ir.returns[i]!;
    slots.forEach((slot, j) => {
      if (slot.kind === "register" && storage.kind === "register") {
        const register = storage.registers[j]!;
        const all = chunk.vector({ kind: "reg", ty: tyOf(callable.ir.registers[register]!.class), reg: register });
        w.values(vectorOf(fitted(all, slot.class, quads), quads).quads.flat());
      } else if (slot.kind === "memory" && storage.kind === "frame") {
        const [to] = locals(1);
        w.value(wasm.op("i32.ge_s", wasm.local("i32", to!), wasm.i32(0)));
        w.if(() =>
          frame.copy(frame.offsetOf(storage.variable), wasm.local("i32", to!), wasm.i32(type.size), laneBits(back)),
        );
      } else throw new Unsupported(`the way in which ${callable.ir.name} gives its results`);
    });
  });
}
