import { type CallOp, wordBytesOf } from "../../../ir/calls.ts";
import { valuesOf } from "../../../ir/flow/accesses.ts";
import type { Argument } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { Unsupported } from "../../abi/refusal.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import type { Mask } from "../lanes/mask.ts";
import { fitted } from "../lanes/register-class.ts";
import { type Quad, type Value, vectorOf } from "../lanes/value.ts";
import { storeEntry } from "../module/function-context.ts";
import { callHost, importHost } from "../module/host-calls.ts";
import type { Caller } from "./caller.ts";

/**
 * Calls of functions that the launcher provides. Their arguments are stored in the context, eight bytes for each lane.
 */
export class ExternalCalls {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  call(block: number, index: number, op: CallOp, lanes: readonly Wasm[], guard: Mask): void {
    const { writer: w, quads } = this.#caller.chunk;
    const { context, layout, siteOf, unit } = this.#caller.memory;
    importHost(unit.module, "external");
    const words = op.args.flatMap((arg) => wordBytesOf(arg).map((bytes, k) => this.#word(arg, bytes, bytes * k)));
    words.forEach((word, i) => {
      vectorOf(word, quads)
        .quads.flat()
        .forEach((part, p) => {
          w.get(context);
          w.value(part);
          w.memory("v128.store", 16, layout.args + i * quads * 32 + 16 * p);
        });
    });
    storeEntry(w, this.#caller.memory);
    w.get(context);
    w.i32(siteOf(index, null));
    w.value(laneBits(lanes));
    callHost(w, "external");
    this.#writeResult(block, op, lanes, guard);
  }

  /** A word of an argument, as a 64-bit value. */
  #word(arg: Argument, bytes: number, at: number): Value {
    const { quads } = this.#caller.chunk;
    if (arg.kind !== "frame") return fitted(this.#caller.chunk.value(valuesOf(arg)[0]!), "b64", quads);
    if (bytes !== 4 && bytes !== 8) throw new Unsupported("small structures that are passed to the launcher");
    const c = bytes === 8 ? "b64" : "b32";
    const parts = this.#caller.frame
      .load(this.#caller.frame.offsetOf(arg.variable, at), c, quads)
      .map((l) => wasm.local("v128", l));
    const value: Value = {
      kind: "vector",
      ty: c === "b64" ? "i64" : "i32",
      quads: grouped(parts, parts.length / quads),
    };
    return fitted(value, "b64", quads);
  }

  #writeResult(block: number, { results: [to] }: CallOp, lanes: readonly Wasm[], guard: Mask): void {
    const { writer: w, quads, function: f } = this.#caller.chunk;
    if (to === undefined || to.kind === "discard") return;
    const locals = Array.from({ length: 2 * quads }, () => w.local("v128"));
    locals.forEach((local, p) => {
      w.get(this.#caller.memory.context);
      w.memory("v128.load", 16, this.#caller.memory.layout.values + 16 * p);
      w.set(local);
    });
    const parts = locals.map((l) => wasm.local("v128", l));
    const value: Value = { kind: "vector", ty: "i64", quads: grouped(parts, 2) };
    if (to.kind === "register") {
      const register = to.registers[0]!;
      const { class: c } = f.registers[register]!;
      if (c !== "pred") this.#caller.chunk.write(block, [register], [fitted(value, c, quads)], guard);
    } else {
      if (to.size !== 4 && to.size !== 8) throw new Unsupported("structures that the launcher returns");
      const c = to.size === 8 ? "b64" : "b32";
      this.#caller.frame.store(
        this.#caller.frame.offsetOf(to.variable),
        vectorOf(fitted(value, c, quads), quads).quads.flat(),
        c,
        lanes,
      );
    }
    for (const local of locals) w.release(local);
  }
}

const grouped = (parts: readonly Wasm[], size: number): Quad[] =>
  Array.from({ length: parts.length / size }, (_, q) => parts.slice(q * size, (q + 1) * size));
